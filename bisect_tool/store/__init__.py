"""What is known: the results database."""
