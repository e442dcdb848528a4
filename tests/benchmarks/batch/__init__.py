"""What many specs at once cost."""
