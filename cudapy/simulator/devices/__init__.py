"""Devices and what runs on them: contexts, their settings, peers, occupancy, the names of errors."""
