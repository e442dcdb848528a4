"""What many specs, many hosts and clusters cost."""
