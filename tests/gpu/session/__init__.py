"""What `tests/gpu/run` runs: independent parts with a time limit each, whose results stay between calls."""
