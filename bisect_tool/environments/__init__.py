"""The isolated environment of one build: making it, proving it, making room."""
