"""Machine code for parts of functions, on processors with AVX2 and FMA.

assembler.py  instructions as bytes          vectors.py   values in registers, for straight-line code
semantics.py  what PTX instructions do       memory.py    loads and stores
library.py    routines that all code shares  layout.py    where threads' registers lie
region.py     which blocks, and their code   run.py       a region, run for lanes of a batch
processor.py  what this machine can do
"""
