"""Many specs in one run: finding them, sharing them out, keeping their results in a folder."""
