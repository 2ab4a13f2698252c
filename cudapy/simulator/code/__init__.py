"""From PTX to kernels that can be launched: modules, libraries, linkers, fat binaries."""
