"""State of the process: what a fork or a reset of the devices changes, and what its threads wait for."""
