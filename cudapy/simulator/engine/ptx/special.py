"""The special registers, and their types.

Source: PTX ISA, "Special Registers".
"""

_AXES = "xyz"
SPECIALS = frozenset(
    [
        f"%{base}.{axis}"
        for base in (
            "tid",
            "ntid",
            "ctaid",
            "nctaid",
            "clusterid",
            "nclusterid",
            "cluster_ctaid",
            "cluster_nctaid",
        )
        for axis in _AXES
    ]
    + [f"%lanemask_{relation}" for relation in ("eq", "lt", "le", "gt", "ge")]
    + [
        "%laneid",
        "%warpid",
        "%nwarpid",
        "%smid",
        "%nsmid",
        "%gridid",
        "%clock",
        "%clock_hi",
        "%clock64",
        "%globaltimer",
        "%globaltimer_lo",
        "%globaltimer_hi",
        "%dynamic_smem_size",
        "%total_smem_size",
        "%aggr_smem_size",
        "%envreg1",
        "%envreg2",
        "%cluster_ctarank",
        "%cluster_nctarank",
        "%is_explicit_cluster",
        "%current_graph_exec",
        "%reserved_smem_offset_begin",
        "%reserved_smem_offset_end",
        "%reserved_smem_offset_cap",
        "%reserved_smem_offset_0",
        "%reserved_smem_offset_1",
    ]
)
"""The special registers that there are."""
_WIDE = ("%gridid", "%current_graph_exec")


def special_code(name: str) -> str:
    """The NumPy type of a special register."""
    if name == "%is_explicit_cluster":
        return "?"
    return "u8" if name.endswith(("64", "globaltimer")) or name in _WIDE else "u4"
