"""What the hardware computes, bit for bit, on NumPy arrays and scalars.

Functions take and give NumPy arrays of one dimension, or NumPy scalars where all threads agree.
"""
