"""What `cuda.bindings` offers: names, parameters and numbers of results, recorded as data."""
