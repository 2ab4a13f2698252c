"""Races, and barriers that go wrong: each kernel is a mistake, or with `right` its correct twin."""

from __future__ import annotations

from pathlib import Path

HELPERS, _, KERNELS = Path(__file__).with_name("races.cu").read_text().partition("\n\n")

PAIRS = {
    "shift": (1, 64, "__global__ memory (write after read)", "no barrier lies between them"),
    "blocks": (2, 64, "__global__ memory (write by several", "threads of two blocks"),
    "bytes": (1, 64, "__global__ memory (write by several", "the other is block (0,0,0) thread (0,0,0)"),
    "counter": (2, 32, "__global__ memory", "an atomic operation, such as atomicAdd"),
    "atomic_and_plain": (1, 64, "__global__ memory", "no barrier"),
    "atomic_scope": (2, 32, "__global__ memory (atomic by several", "the scope of one of the accesses"),
    "equal_values": (1, 32, "__global__ memory (write by several", "the other is"),
    "parity": (1, 64, "__shared__ memory (read after write)", "no barrier lies between them"),
    "half_warp": (1, 32, "__shared__ memory (read after write)", "no barrier"),
    "named": (1, 128, "__shared__ memory (read after write)", "no barrier"),
    "passed_on": (1, 96, "__shared__ memory (read after write)", "no barrier"),
    "published": (2, 64, "__global__ memory (read after write)", "no barrier"),
    "unsynchronised_before_release": (2, 64, "__global__ memory (read after write)", "no release that"),
    "acquired": (2, 32, "__global__ memory (read after write)", "made no fence (acquire) for both threads"),
    "release_fence": (2, 32, "__global__ memory (read after write)", "no release that"),
    "acquire_fence": (
        2,
        32,
        "__global__ memory (read after write)",
        "made no fence (acquire) for both threads",
    ),
    "fence_scope": (2, 32, "__global__ memory (read after write)", "no release that"),
    "acquire_fence_scope": (2, 32, "__global__ memory (read after write)", "no fence (acquire) for both"),
    "fences_within_a_block": (1, 64, "__global__ memory (read after write)", "no release that"),
    "cumulative": (3, 32, "__global__ memory (read after write)", "no release that"),
    "chain_of_atomics": (3, 32, "__global__ memory (read after write)", "no barrier"),
    "lock": (4, 32, "__global__ memory", "no release that"),
    "grid_barrier": (2, 64, "__global__ memory (read after write)", "no release that"),
    "volatile_flag": (2, 32, "__global__ memory (read after write)", "no release that"),
    "volatile_data": (2, 32, "__global__ memory (write by several", "threads of two blocks"),
    "volatile_in_a_warp": (1, 32, "__shared__ memory (read after write)", "__syncwarp() would order them"),
    "vectors": (1, 32, "__global__ memory", "no barrier"),
    "left_behind": (1, 64, "", "was at an earlier barrier, and has exited since"),
    "arrives": (1, 64, "__shared__ memory (read after write)", "no barrier"),
    "within_a_warp": (1, 32, "__shared__ memory (read after write)", "no barrier"),
    "shuffle_is_no_barrier": (1, 32, "__shared__ memory (read after write)", "no barrier"),
    "vote_is_no_barrier": (1, 64, "__shared__ memory (read after write)", "no barrier"),
    "warp_synchronous": (1, 32, "__shared__ memory", ""),
    "once_around": (1, 64, "__shared__ memory", "no barrier"),
    "bins": (1, 64, "__shared__ memory", "an atomic operation, such as atomicAdd"),
    "bins_of_a_warp": (1, 32, "__global__ memory", "an atomic operation, such as atomicAdd"),
    "sum_without_barriers": (1, 64, "__shared__ memory", "no barrier"),
    "flag_within_a_block": (1, 64, "__shared__ memory (read after write)", ""),
    "acquire_scope": (2, 32, "__global__ memory (read after write)", ""),
    "system_scope": (2, 32, "__global__ memory", "the scope of one of the accesses"),
    "one_writes": (1, 64, "__global__ memory (write after read)", "no barrier"),
    "part_of_a_word": (1, 64, "__global__ memory", "no barrier"),
    "in_one_instruction": (1, 64, "__global__ memory (write by several", "the other is"),
    "equal_in_one_instruction": (1, 32, "__global__ memory (write by several", "the other is"),
    "neighbours_in_a_warp": (1, 32, "__global__ memory (read after write)", "no barrier"),
    "writer_outside_of_the_mask": (1, 32, "__shared__ memory (read after write)", "no barrier"),
    "asynchronous_copy": (1, 64, "__shared__ memory (with cp.async)", "has not waited"),
    "asynchronous_copy_of_others": (1, 64, "__shared__ memory", ""),
    "last_block": (4, 32, "__global__ memory (read after write)", ""),
    "lock_by_orders": (4, 32, "__global__ memory", ""),
    "beside_the_lock": (4, 32, "__global__ memory", ""),
    "two_buffers": (1, 64, "__shared__ memory", ""),
    "relaxed_and_plain": (2, 32, "__global__ memory", ""),
    "mbarrier": (1, 64, "__shared__ memory (read after write)", ""),
    "bulk_copy_in": (1, 64, "__shared__ memory (with an asynchronous copy)", ""),
    "bulk_copy_out": (1, 64, "__shared__ memory (with an asynchronous copy)", ""),
    "neighbour_in_a_cluster": (2, 32, "__shared__ memory", ""),
    "divided": (1, 64, "", "A barrier (0) in divergent code"),
    "not_in_the_mask": (1, 32, "", "A warp operation by a thread outside of its mask"),
    "read_before_shuffle": (1, 32, "__global__ memory (read after write)", "no barrier"),
    "exits_while_it_is_read": (2, 32, "", "nothing orders it before block (0,0,0) exits"),
    "exits_near_an_arrival": (2, 32, "", "exited"),
    "store_to_a_constant": (1, 32, "", "Write to __constant__ memory"),
    "store_to_a_parameter": (1, 32, "", "Write to the parameters of a kernel"),
    "read_only_while_written": (1, 64, "", "Read of what the kernel has written, as read-only"),
    "read_only_one_for_all": (1, 64, "", "write in read_only_one_for_all"),
    "restricted": (1, 64, "", "no thread writes it while the kernel runs"),
    "written_without_a_proxy_fence": (
        1,
        64,
        "__shared__ memory (asynchronous read after write)",
        "fence.proxy",
    ),
    "proxy_fence_before_the_write": (
        1,
        64,
        "__shared__ memory (asynchronous read after write)",
        "fence.proxy",
    ),
    "proxy_fence_of_one": (1, 64, "__shared__ memory (asynchronous read after write)", "fence.proxy"),
    "global_memory_by_a_copy": (1, 64, "__global__ memory (asynchronous read after write)", "fence.proxy"),
    "matrix_of_threads": (1, 128, "__shared__ memory (asynchronous read after write)", "and wgmma read"),
    "other_counts": (1, 96, "", "these wait for 96 threads, others at the same barrier for 64"),
    "more_than_the_count": (1, 96, "", "it is for 64 threads, and 96 have come"),
    "arrives_with_another_count": (1, 64, "", "these wait for 32 threads, others at the same barrier for 64"),
    "copied_over_while_it_is_read": (1, 64, "__shared__ memory (write after read)", "no barrier"),
    "a_stage_is_not_given_back": (1, 64, "__shared__ memory (write after read)", ""),
    "copied_while_it_is_written": (2, 64, "__global__ memory", ""),
    "written_after_the_copy": (1, 64, "__global__ memory", ""),
    "only_its_reads_have_ended": (1, 64, "__global__ memory (read after write)", ".read is not enough"),
    "copies_to_one_place": (2, 64, "__global__ memory (write after write)", "waited for all of the"),
    "factor_is_overwritten": (1, 128, "__shared__ memory (with wgmma)", "wgmma.wait_group"),
    "factor_is_given_back": (1, 256, "__shared__ memory", ""),
    "turns": (4, 32, "__global__ memory", ""),
}
CLUSTERS = dict.fromkeys(("neighbour_in_a_cluster", "exits_while_it_is_read", "exits_near_an_arrival"), 2)
"""Blocks of a cluster, of kernels that have some."""
ARCH = "90a"
"""What all are compiled for: wgmma needs the "a"."""


def source(name: str) -> str:
    """The program with one of the kernels."""
    (kernel,) = (text for text in KERNELS.split("KERNEL") if text.startswith(f"({name})"))
    return f"{HELPERS}\nKERNEL{kernel}"
