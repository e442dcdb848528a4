"""The spec: its types, reading it, and its mistakes."""
