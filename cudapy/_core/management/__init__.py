"""What NVML knows of the machine and its devices; `cudapy.core.system` loads it on demand."""
