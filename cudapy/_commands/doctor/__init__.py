"""What `python -m cudapy` reports: the facts of a machine, and what is wrong with them."""
