"""What `cudapy.core` is made of, by subject; docs/design.md says which package imports which."""
