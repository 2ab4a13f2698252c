"""The GPU tests that do not run on the simulator, each with its reason."""

from __future__ import annotations

import pytest

TESTS = {
    "test_what_a_device_is": "the test asks for the name of an NVIDIA device",
    "test_events_time_work": "the times are those of a busy host",
    "test_time_of_events_that_are_recorded_again": "the times are those of a busy host",
    "test_complete_options": "kernels cannot launch graphs there",
    "test_our_sentences_are_not_the_drivers": "its sentences are the same as those of the library",
    "test_arrays_that_are_left_at_exit": "the test needs CuPy, which needs a GPU",
    "test_core_dump_settings": "it has no core dumps",
    "test_an_event_of_an_execution_context": "it has no execution contexts",
    "test_a_part_of_the_device": "it has no execution contexts",
    "TestNames::test_sentences": "its sentences are the same as those of the library",
}
"""Name of a test, with its class where it is in one, and its parameters where it is not all of it, to why."""


def not_on_the_simulator(item: pytest.Item) -> str:
    """Why a GPU test does not run there; "" if it does."""
    name = item.nodeid.partition("::")[2]
    return TESTS.get(name) or TESTS.get(name.partition("[")[0], "")
