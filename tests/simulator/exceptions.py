"""The GPU tests that do not run on the simulator, each with its reason."""

from __future__ import annotations

import pytest

REASONS = {
    "test_core_basics.py::test_what_a_device_is": "asks for the name of an NVIDIA device",
    "test_core_basics.py::test_ipc_events_are_described": "there are no events for other processes",
    "test_driver_error.py::test_core_dump_settings": "there are no core dumps",
    "test_driver_green.py": "there are no green contexts",
    "test_runtime_error.py::TestNames::test_sentences": "the sentences are cudapy's own",
    "test_runtime_event.py::TestOtherProcesses::test_memory": "there are no handles of memory",
    "test_driver_texture.py::test_texture_references_remember_their_settings": "there are no references",
}
"""The beginning of a test's name, as "test_driver_green.py" or "test_driver_log.py::test_a_file", to why."""


def not_on_the_simulator(item: pytest.Item) -> str:
    """Why a GPU test does not run there; "" if it does."""
    name = item.nodeid.rpartition("gpu/")[2]
    for prefix, reason in REASONS.items():
        if name == prefix or name.startswith((prefix + "::", prefix + "[")):
            return reason
    return ""
