"""Arrays in the layout of textures, and the objects through which kernels sample and write them."""
