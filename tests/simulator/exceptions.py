"""The GPU tests that do not run on the simulator, each with its reason."""

from __future__ import annotations

import pytest

FILES = {
    "test_driver_green.py": "it has no green contexts",
}
"""File name to why."""

TESTS = {
    "test_what_a_device_is": "the test asks for the name of an NVIDIA device",
    "test_ipc_events_are_described": "it has no events for other processes",
    "test_core_dump_settings": "it has no core dumps",
    "test_texture_references_remember_their_settings": "it has texture objects, no references",
    "TestNames::test_sentences": "it has sentences of its own for each status",
    "TestOtherProcesses::test_memory": "it has no handles of memory for other processes",
}
"""Name of a test, with its class where it is in one, to why."""


def not_on_the_simulator(item: pytest.Item) -> str:
    """Why a GPU test does not run there; "" if it does."""
    name = item.nodeid.partition("::")[2].partition("[")[0]
    return FILES.get(item.path.name) or TESTS.get(name, "")
