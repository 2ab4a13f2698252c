"""What nobody would write, by the hundred thousand: every one ends in an answer, soon.

    python -m tests.fuzz ptx --count 100000     # PTX, damaged and random: loaded, and its kernels are run
    python -m tests.fuzz calls --count 200000   # functions of the driver and the runtime, odd arguments
    python -m tests.fuzz machine --count 10000  # programs, as machine code and on NumPy: equal results
    python -m tests.fuzz programs --count 1000  # programs in C++, on the simulator and by g++: equal results
    python -m tests.fuzz warps --count 1000     # threads that work together: the same, no finding
    python -m tests.fuzz lifetimes --count 2000 # streams, faults, resets, pools, threads: what a model says

Each item has a number, which makes it again: `--first NUMBER --count 1`. Items run in processes of their
own, so that a signal or a hang is the end of one alone, and is reported with its number. On the simulator,
whatever the machine has; on Linux.
"""
