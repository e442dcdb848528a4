"""What the executor `ray` is made of: what travels, what is done on a node, and what the driver knows of the nodes."""
