"""`pytest --cuda-simulator`: tests of CUDA programs without a GPU. pytest finds this where cudapy is
installed.

It comes before any conftest.py, and in the processes of pytest-xdist, too.
"""

import os
from collections.abc import Iterator
from typing import Any

import pytest


class _State:
    is_installed = False
    checks = False


def pytest_addoption(parser: Any) -> None:
    """Add --cuda-simulator, --cuda-check and --cuda-devices."""
    group = parser.getgroup("cudapy", "CUDA without a GPU")
    group.addoption(
        "--cuda-simulator",
        action="store_true",
        help="run CUDA on cudapy's simulator: `cudapy.simulator.install()`",
    )
    group.addoption(
        "--cuda-check",
        metavar="CHECK[,CHECK]",
        help="races, uninitialized, or all: a test fails if this is found in its kernels, which go on",
    )
    group.addoption("--cuda-devices", type=int, metavar="N", help="how many simulated devices there are (1)")


def pytest_load_initial_conftests(early_config: Any) -> None:
    """Install the simulator, if it is asked for, before anything of the tests is imported."""
    options = early_config.known_args_namespace
    if options.cuda_simulator:
        from . import install

        settings: dict[str, Any] = {}
        if options.cuda_devices is not None:
            settings["devices"] = options.cuda_devices
        if options.cuda_check is not None:
            settings |= _checks(options.cuda_check)
            _State.checks = True
        try:
            install(**settings)
        except (ValueError, RuntimeError, MemoryError, OSError) as error:
            reason = str(error) or "there is not enough memory"
            raise pytest.UsageError(f"--cuda-simulator: {reason}") from None
        _State.is_installed = True


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Let a test fail in whose kernels something was found; or in which a library found out that it does not
    run on the simulator, or before which: it may have gone on without a device.
    """
    yield
    reasons = [*_refusals(), *_found()]
    if reasons:
        pytest.fail("\n".join(reasons), pytrace=False)


def pytest_sessionfinish(session: Any) -> None:
    """Fail for what was refused after the last test."""
    if _refusals() and not session.exitstatus:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _checks(text: str) -> dict[str, Any]:
    """The options that --cuda-check stands for. Raises UsageError."""
    from .options import CHECKS, RECORD, names

    asked = CHECKS if text == "all" else names(text)
    if unknown := {*asked} - {*CHECKS}:
        raise pytest.UsageError(f"--cuda-check: there is all, {', '.join(CHECKS)}, not {unknown.pop()!r}")
    return {"findings": RECORD, **{CHECKS[name]: True for name in asked}}


def _found() -> list[str]:
    """The reports of what was found since the last call, where the program goes on."""
    from . import findings, is_enabled

    if not (_State.checks and is_enabled()):
        return []
    return [str(one) for one in findings(forget=True) if one.kind != "fault"]


def _refusals() -> list[str]:
    """What was refused since the last call."""
    from . import record

    reasons = [*record.refusals] if _State.is_installed else []
    del record.refusals[: len(reasons)]
    return reasons


def pytest_runtest_logfinish() -> None:
    """After a test that leaves a fault: fresh devices for the next one."""
    from . import is_enabled, reset
    from .device_reset import has_fault

    if _State.is_installed and is_enabled() and has_fault():
        reset()


def pytest_report_header(config: Any) -> str | None:
    """Say that there is no GPU, and how many devices are simulated."""
    if not config.getoption("cuda_simulator"):
        return None
    return f"CUDA: cudapy simulator, devices: {os.environ.get('CUDAPY_SIMULATOR_DEVICES', '1')}"
