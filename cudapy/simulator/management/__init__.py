"""The small NVML of the simulator: what its devices are, and what they have in use."""
