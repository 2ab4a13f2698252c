"""Contexts, and what is current in a thread."""
