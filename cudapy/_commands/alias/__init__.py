"""The import hook that `cudapy.alias` installs, and the command that runs a program under it."""
