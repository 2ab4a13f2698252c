"""Small kernels, each with a mistake or its correct twin, and what finds the mistakes."""
