"""Tests that spoil a process for others: tests/test_alone.py gives each file one of its own."""
