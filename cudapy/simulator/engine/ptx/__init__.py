"""PTX as text becomes PTX as objects."""
