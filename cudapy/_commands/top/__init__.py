"""`python -m cudapy top`: the devices of the machine and the processes on them, again and again."""
