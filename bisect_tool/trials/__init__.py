"""One run of one case in one environment: the process, what it left, and what that means."""
