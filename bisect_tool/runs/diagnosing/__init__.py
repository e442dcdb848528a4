"""Which part of the compiler makes a failure: the ladder of backends, PyTorch's own bisector, the code that it generates."""
