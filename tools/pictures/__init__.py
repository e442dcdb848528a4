"""Pictures for `docs/`: a recording of a terminal, and screenshots of pages."""
