"""The tests, and what each needs of the machine."""

from __future__ import annotations

from dataclasses import dataclass

TORTURES = 6  # processes that the seeds of the torture are shared by


@dataclass(frozen=True)
class Task:
    """One process.

    function: "module:function". limit: seconds after which it hangs. cores: how many it keeps busy.
    alone: whether nothing may run beside it, as it measures or fills the memory of the device.
    share: which part of how many it does.
    """

    name: str
    function: str
    limit: float
    cores: int = 1
    alone: bool = False
    share: tuple[int, int] = (0, 1)


PLAN = (
    Task("sanitizer", f"{__package__}.sanitizer:no_errors", 150, cores=2),
    Task("sharing", f"{__package__}.sharing:kill_9_on_either_side", 200, cores=6),
    Task("exit", f"{__package__}.exits:with_live_objects", 150, cores=4),
    *(
        Task(f"torture-{i}", f"{__package__}.torture:seeds", 180, share=(i, TORTURES))
        for i in range(TORTURES)
    ),
    Task("compilers", f"{__package__}.cycles:of_compilers", 150),
    Task("captures", f"{__package__}.captures:collections", 90),
    Task("capture-rules", f"{__package__}.capture_rules:as_the_driver_has_them", 60),
    Task("sources", f"{__package__}.sources:dropped_at_once", 60),
    Task("faults", f"{__package__}.faults:the_same_code_again", 90),
    Task("peers", f"{__package__}.peers:ordered_pairs", 60),
    Task("nccl", f"{__package__}.nccl:in_one_process", 300, cores=2),
    Task("nccl-processes", f"{__package__}.nccl:in_processes", 300, cores=4),
    Task("cufile", f"{__package__}.cufile:round_trip", 120),
    Task("threads", f"{__package__}.threads:exact_launches", 90, cores=16, alone=True),
    Task("interrupt", f"{__package__}.interrupts:during_a_long_kernel", 90, alone=True),
    Task("cycles", f"{__package__}.cycles:of_core", 200, alone=True),
    Task("cycles-below", f"{__package__}.cycles:of_driver_and_runtime", 90, alone=True),
    Task("shortage", f"{__package__}.shortage:of_memory", 60, alone=True),
)
"""The ones that take longest first; what is alone at the end."""


def chosen(names: list[str]) -> list[Task]:
    """The tests with these names, or with names that begin with one of them and "-"; all without names.

    Raises KeyError for a name that no test has.
    """
    found = []
    for name in names:
        these = [test for test in PLAN if test.name == name or test.name.startswith(f"{name}-")]
        if not these:
            raise KeyError(name)
        found += these
    return [test for test in PLAN if test in found] if names else list(PLAN)
