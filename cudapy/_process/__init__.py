"""The process: its environment, what a fork, a reset or Ctrl-C does to it, what its threads wait for."""
