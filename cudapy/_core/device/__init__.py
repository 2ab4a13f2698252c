"""Devices: where everything starts, so the topmost of these packages."""
