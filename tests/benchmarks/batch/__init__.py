"""What a batch costs: slots, the store, scale."""
