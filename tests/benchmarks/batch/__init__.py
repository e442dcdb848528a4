"""Many specs at once, and what many hosts share."""
