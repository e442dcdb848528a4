"""Long trials of endurance, which CI does not run."""
