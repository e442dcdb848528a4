"""Numbers as states: is a build's number far enough from that of the reference build? Pure."""
