"""What `cudapy.core` is made of: one noun for each file."""
