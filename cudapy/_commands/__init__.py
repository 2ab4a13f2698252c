"""What `python -m cudapy`, `cudapy.alias` and `cudapy.simulator` run. No program needs it."""
