"""Machine code for parts of functions, on x86-64 with AVX2 and FMA, and on AArch64.

back_end.py   machine code as a back end        function.py   that of a function, made once it is warm
supported.py  which instructions have some
region.py     which blocks, and their code      run.py        a region, run for lanes of a batch
lanes.py      registers within straight code    vectors.py    the values of lanes in the processor's registers
lowering.py   rules' expressions, over terms    terms.py      Python's operators on registers
              and functions:  integers.py  floats.py  halves.py  conversions.py
data.py       moves and parameters
accesses.py   loads, stores, their checks       atomics.py    the arithmetic of atomics
streams.py    those of whole vectors            strides.py    which these probably are
warp_operations.py  shuffles and votes
races.py      the check for races               race_tables.py  what it is told
phases.py     where shared memory is only read
library.py    routines that all code shares     layout.py     where threads' registers lie
processor.py  what this machine can do, and memory for code
"""
