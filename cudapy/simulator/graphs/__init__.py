"""Graphs, their nodes and their instances."""
