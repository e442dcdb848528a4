"""How fast a run is, and what bounds it."""
