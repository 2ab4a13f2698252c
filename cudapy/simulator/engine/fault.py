"""Why a kernel was stopped."""

from __future__ import annotations


class Fault(Exception):
    """A kernel did what it must not. The report says what, where, which thread and which address."""

    def __init__(self, status: int, report: str) -> None:
        super().__init__(report)
        self.status = status
        """The CUresult that a program sees."""
        self.report = report


ILLEGAL_ADDRESS = 700
LAUNCH_OUT_OF_RESOURCES = 701
ASSERT = 710
HARDWARE_STACK_ERROR = 714
ILLEGAL_INSTRUCTION = 715
MISALIGNED_ADDRESS = 716
INVALID_ADDRESS_SPACE = 717
INVALID_PC = 718
LAUNCH_FAILED = 719
COOPERATIVE_LAUNCH_TOO_LARGE = 720
LAUNCH_TIMEOUT = 702
