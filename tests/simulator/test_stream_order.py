"""The order of what streams do, as `streams/order.py` has it: turns, graphs, and what is known by all."""

from __future__ import annotations

import pytest

from cudapy.simulator.engine import LIFETIME, STREAM, settings
from cudapy.simulator.engine.classes import RACE
from cudapy.simulator.streams import order
from cudapy.simulator.streams.order import Line, Turn, step_of


@pytest.fixture(autouse=True)
def _a_new_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """With checks; nothing else runs in it."""
    monkeypatch.setattr(order, "_program", order._Program())
    monkeypatch.setattr(settings, "current", settings.Settings(check_races=True))


def run(line: Line, *after: Turn) -> Turn:
    """The next work of a stream, which is done at once."""
    turn = line.next(after)
    turn.begin()
    turn.end()
    return turn


def test_work_knows_its_stream_and_what_it_waits_for() -> None:
    one, other = Line("one"), Line("other")
    first, second = run(one), run(one)
    waits = run(other, first)
    later = run(other)
    assert second.knows(first) and waits.knows(first) and later.knows(first) and later.knows(waits)
    assert not (first.knows(second) or waits.knows(second) or later.knows(second) or second.knows(waits))


def test_what_the_program_waited_for_comes_before_what_it_queues() -> None:
    one, other = Line("one"), Line("other")
    first = run(one)
    with order.unseen():
        first.tell_program()
    assert not run(other).knows(first)
    first.tell_program()
    assert run(other).knows(first)
    second = run(one)
    order.program_waited_for_all()
    assert run(other).knows(second)


def test_what_is_settled_is_known_by_all_that_is_queued() -> None:
    one, other = Line("one"), Line("other")
    queued = other.next([])
    for _ in range(2):
        run(one).tell_program()
    assert order.settled() == {one.number: 0}
    queued.begin()
    queued.end()
    assert order.settled() == {one.number: 2}


@pytest.mark.parametrize(
    ("classes", "compares"), [({STREAM}, True), ({LIFETIME}, True), ({RACE}, False), (set(), False)]
)
def test_what_streams_do_is_compared_if_that_is_asked_for(
    classes: set[str], compares: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "current", settings.Settings(check_races=True, classes=frozenset(classes)))
    assert order.is_on() is compares and not order.may_race()
    order.stream_exists()
    assert order.may_race() is compares


def test_nodes_of_a_graph_come_after_those_that_they_follow() -> None:
    """Two branches, each of two nodes, of one root; the second of the left one is a graph of two nodes."""
    turn, steps = run(Line("one")), {}
    graph = order.nodes_of(
        {"root": [], "left": ["root"], "right": ["root"], "left 2": ["left"], "right 2": ["right"]}
    )
    inside = order.nodes_of({"a": [], "b": []})
    for node in ("root", "left", "right", "left 2", "right 2"):
        with graph(node):
            steps[node] = step_of(turn)
            for child in ("a", "b") if node == "left 2" else ():
                with inside(child):
                    steps[child] = step_of(turn)
    again = order.nodes_of({"root": []})
    with again("root"):
        steps["again"] = step_of(turn)
    names = [*steps]
    before = {
        name: {one for one in names[:at] if steps[one].comes_before(steps[name])}
        for at, name in enumerate(names)
    }
    assert before == {
        "root": set(),
        "left": {"root"},
        "right": {"root"},
        "left 2": {"root", "left"},
        "a": {"root", "left", "left 2"},
        "b": {"root", "left", "left 2"},
        "right 2": {"root", "right"},
        "again": {*names[:-1]},
    }
