"""What the service says on GitHub, and what it is asked there. `docs/github.md` explains it to whoever sets it up."""
