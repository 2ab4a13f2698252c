"""The simulator's options: from arguments, from the environment, and into that of child processes."""

from __future__ import annotations

import re
from dataclasses import fields
from inspect import signature
from typing import Any

import pytest

from cudapy import simulator
from cudapy.simulator.options import Options, variable

ALL = Options(
    devices=3,
    compute_capability=(8, 0),
    driver_version=(12, 4),
    seed=7,
    check_races=True,
    check_uninitialized=False,
    coverage=True,
    reports=False,
    timeout=0.5,
    workers=2,
    findings="record",
    classes=("equal", "-warp"),
    schedule="random:3",
)


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*Options.__annotations__, "check"):
        monkeypatch.delenv(variable(name), raising=False)


@pytest.mark.parametrize("function", [simulator.enable, simulator.install])
@pytest.mark.parametrize(("name", "meant"), [("races", "check_races"), ("sed", "seed")])
def test_a_name_that_is_no_option(function: Any, name: str, meant: str) -> None:
    text = f"{function.__name__} has no option '{name}'. Did you mean '{meant}'?"
    with pytest.raises(TypeError, match=re.escape(text)):
        function(**{name: True})


def test_enable_takes_each_option() -> None:
    assert {*signature(simulator.enable).parameters} == {field.name for field in fields(Options)}


def test_children_have_the_same_options(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {*ALL.given()} == {field.name for field in fields(Options)}  # each one is tried
    for name, text in ALL.as_environment().items():
        monkeypatch.setenv(name, text)
    assert Options.from_environment(Options()) == ALL


def test_nothing_is_said_of_what_is_not_given() -> None:
    assert Options().as_environment() == Options().given() == {}
    assert Options.from_environment(Options()) == Options()


def test_arguments_go_first_then_variables_then_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDAPY_SIMULATOR_CHECK", "all")
    monkeypatch.setenv("CUDAPY_SIMULATOR_CHECK_RACES", "0")
    options = Options.from_environment(Options())
    assert (options.check_races, options.check_uninitialized) == (False, True)
    assert Options.from_environment(Options(check_races=True)).check_races
    assert Options.from_environment(Options(check_uninitialized=False)).check_uninitialized is False


def test_what_is_given_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDAPY_SIMULATOR_SEED", "none")
    assert Options.from_environment(Options(seed=1)).seed == 1


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("devices", "two", "CUDAPY_SIMULATOR_DEVICES is 'two', which is not a whole number"),
        ("compute_capability", "9.x", "CUDAPY_SIMULATOR_COMPUTE_CAPABILITY is '9.x', which is not a version"),
        ("driver_version", "new", "CUDAPY_SIMULATOR_DRIVER_VERSION is 'new', which is not a version"),
        ("devices", "17", "1 .. 16 devices, not 17"),
        ("compute_capability", "3.5", "no compute capability"),
        ("driver_version", "11.8", "the simulator is a driver of CUDA 12.0 .. "),
        ("workers", "0", "kernels take 1 worker or more, not 0"),
        ("check_races", "maybe", "CUDAPY_SIMULATOR_CHECK_RACES is 'maybe', which is not 0 or 1"),
        ("chek", "all", "CUDAPY_SIMULATOR_CHEK is not a setting. Did you mean CUDAPY_SIMULATOR_CHECK?"),
        (
            "check_race",
            "1",
            "CUDAPY_SIMULATOR_CHECK_RACE is not a setting. Did you mean CUDAPY_SIMULATOR_CHECK_RACES?",
        ),
        ("check", "memory", "CUDAPY_SIMULATOR_CHECK cannot be 'memory'"),
    ],
)
def test_what_makes_no_sense(monkeypatch: pytest.MonkeyPatch, name: str, text: str, message: str) -> None:
    monkeypatch.setenv(variable(name), text)
    with pytest.raises(ValueError, match=message):
        Options.from_environment(Options()).validate()


def test_a_switch_is_true_or_false() -> None:
    """A text such as "no" would switch it on."""
    with pytest.raises(ValueError, match="check_races is True or False, not 'no'"):
        Options(check_races="no").validate()
