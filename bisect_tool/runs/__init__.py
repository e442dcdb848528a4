"""The loop that ties the rooms together."""
