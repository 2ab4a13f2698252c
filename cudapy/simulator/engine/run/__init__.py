"""Runs compiled functions: threads, warps, blocks, and the memory that they see."""
