"""Object code, the kernels in it, and their launches."""
