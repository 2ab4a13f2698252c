"""Where NVIDIA's libraries and headers are on a machine; `cudapy.pathfinder` is the face of it."""
