"""Memory of every kind, the pools that give it out, and the copies between them."""
