"""One build looked at by itself: its cases side by side, a shell in it, and which configuration shows a failure."""
