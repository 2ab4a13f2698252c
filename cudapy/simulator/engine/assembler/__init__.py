"""Machine code as bytes, without a compiler: `x86_64` and `aarch64`, on the labels and routines of `code`."""
