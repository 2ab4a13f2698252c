"""What headers declare besides functions: a module or a folder for each header."""
