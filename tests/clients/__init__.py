"""Programs for NVIDIA's packages, over cudapy: `nox -s clients`."""
