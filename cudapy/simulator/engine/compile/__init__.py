"""PTX as objects becomes Python functions, one for each basic block."""
