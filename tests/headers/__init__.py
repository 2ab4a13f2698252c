"""CUDA's C headers as data: `reader` reads them, `wheels` fetches them."""
