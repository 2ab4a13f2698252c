"""Buffers, and where they come from: one kind of memory for each file."""
