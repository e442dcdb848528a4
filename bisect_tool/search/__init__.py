"""The search: what is known, and what to run next. Pure: no clock, no files, no environment."""
