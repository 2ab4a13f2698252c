"""Arrays, textures and surfaces, and the tensors of bulk copies."""
