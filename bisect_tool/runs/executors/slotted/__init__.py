"""What executors are made of that do each slot's jobs in a thread of its own."""
