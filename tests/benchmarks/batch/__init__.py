"""What many specs, a store for many hosts, and a cluster cost."""
