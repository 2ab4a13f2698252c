"""Arrays of any library: where their elements are, and copies between them."""
