"""The process: its environment, what a fork or a reset of the devices changes, what its threads wait for."""
