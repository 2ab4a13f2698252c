"""Runs other people's programs: as the python command line does, and the Python processes that they start."""
