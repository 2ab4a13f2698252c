"""`python -m cudapy.simulator`: run a program without a GPU."""

import sys

from .command import main

if __name__ == "__main__":
    main(sys.argv[1:])
