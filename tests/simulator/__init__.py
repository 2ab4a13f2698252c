"""Tests of the simulator; `exceptions` says which GPU tests make no sense on it."""
