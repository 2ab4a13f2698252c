"""Streams and events: queues of work, and points in them."""
