"""NCCL of the simulated devices: collectives among ranks of one process and of processes of one machine."""
