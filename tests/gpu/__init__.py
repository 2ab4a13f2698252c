"""Tests that need a GPU: `kernels` has what they share."""
