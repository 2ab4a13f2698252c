"""NCCL's two faces, beyond the echo: the headers of all releases, structs, statuses."""

from __future__ import annotations

import ctypes
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cudapy import nccl, pathfinder
from cudapy._bindings.errors import CUDAError
from cudapy._types.meanings import NCCLRESULT
from cudapy.pathfinder import Host

from .headers.nccl_releases import recorded
from .loader import forget_libraries
from .stub import source
from .stub.build import declared
from .stub.record import Stub

RELEASES = recorded()
NEWEST = list(RELEASES)[-1]
IN_PROGRESS = 7
MOVING = re.compile("ncclNum(Results|Types)$|NCCL_(MINOR|PATCH|VERSION_CODE)$")
"""What has another value in each release; ours is that of the newest."""
stubbed = source("nccl")


def number(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


# -- the headers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", RELEASES)
def test_functions_are_those_of_the_header(release: str) -> None:
    """Every function of the release is declared, letter for letter, and `since` says which are newer."""
    ours = {
        symbol: function.__declaration__
        for symbol, function in declared(nccl).items()
        if function.__declaration__.since is None or number(function.__declaration__.since) <= number(release)
    }
    real = RELEASES[release]["functions"]
    if release == "2.30.4":  # where the type of a parameter's handle was a struct
        real = {
            symbol: text.replace("ncclParamHandle_t *", "ncclParamHandle_t ") for symbol, text in real.items()
        }
    assert {symbol: declaration.prototype for symbol, declaration in ours.items()} == real


@pytest.mark.parametrize("release", RELEASES)
def test_enums_and_constants_are_those_of_the_header(release: str) -> None:
    for name, members in RELEASES[release]["enums"].items():
        ours = getattr(nccl, name).__members__
        wrong = {m: v for m, v in members.items() if not MOVING.search(m) and int(ours[m]) != v}
        assert wrong == {}, name
    constants = RELEASES[release]["constants"]
    assert {k: getattr(nccl, k) for k in constants if not MOVING.search(k)} == {
        k: v for k, v in constants.items() if not MOVING.search(k)
    }
    assert len(constants) > 5 and len(RELEASES[release]["enums"]) >= 4


def test_what_moves_is_that_of_the_newest() -> None:
    newest = RELEASES[NEWEST]
    assert newest["constants"]["NCCL_VERSION_CODE"] == nccl.NCCL_VERSION_CODE
    assert newest["enums"]["ncclDataType_t"]["ncclNumTypes"] == nccl.ncclDataType_t.ncclNumTypes
    assert len(newest["functions"]) == len(declared(nccl))


@pytest.mark.parametrize("release", RELEASES)
def test_layouts_are_those_of_the_header(release: str) -> None:
    """Fields are where the release has them; newer ones lie behind, and the newest has ours exactly."""
    for name, struct in RELEASES[release]["structs"].items():
        cls = getattr(nccl, name)
        for field, (offset, size) in struct["fields"].items():
            raw = getattr(cls, field).raw
            assert (raw.offset, raw.size) == (offset, size), f"{name}.{field}"
        assert ctypes.sizeof(cls) >= struct["size"]
        if release == NEWEST:
            assert ctypes.sizeof(cls) == struct["size"]
            assert list(struct["fields"]) == list(cls._makers_)
    assert len(RELEASES[release]["structs"]) >= 2


# -- structs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ncclConfig_t", "ncclCollConfig_t", "ncclEncryptionConfig_t"])
def test_a_struct_says_what_it_is(name: str) -> None:
    """As NCCL's initializers do: its size, the magic number, the version, and nothing set."""
    struct = getattr(nccl, name)()
    assert (struct.size, struct.magic, struct.version) == (ctypes.sizeof(struct), 0xCAFEBEEF, 23203)
    rest = {field: getattr(struct, field) for field in list(struct._makers_)[3:]}
    zero = {"mode": 0, "forceAlgSelection": 1, "userProfilerTag": 0, "ext": []}
    for field, value in rest.items():
        if field == "launchCompletionEvent":
            assert not int(value)
        elif type(value) is int:
            assert value == zero.get(field, -(2**31)), field
        else:
            assert value == zero.get(field), field
    assert len(rest) >= 2


def test_a_simulation_has_a_magic_number_of_its_own() -> None:
    info = nccl.ncclSimInfo_t()
    assert (info.size, info.magic, info.estimatedTime) == (24, 0x74685283, -1.0)


def test_what_is_given_goes_before_what_is_filled_in() -> None:
    config = nccl.ncclConfig_t(blocking=0, commName=b"mine", magic=7)
    assert (config.blocking, config.commName, config.magic, config.maxCTAs) == (0, b"mine", 7, -(2**31))
    assert nccl.ncclConfig_t(_ptr=config.getPtr()).magic == 7
    with pytest.raises(TypeError, match="no field 'blockng'"):
        nccl.ncclConfig_t(blockng=0)


def test_an_id_is_128_bytes() -> None:
    made = nccl.ncclUniqueId(internal=bytes(range(128)))
    assert bytes(made) == made.internal == bytes(range(128))


# -- statuses ---------------------------------------------------------------------------------------------


def test_work_in_progress_is_no_failure(stub_of: Callable[[str], Stub]) -> None:
    """A communicator that is not blocking answers ncclInProgress, and the communicator is there."""
    stub = stub_of("nccl")
    stub.status = IN_PROGRESS
    config = stubbed.ncclConfig_t(blocking=0)
    status, comm = stubbed.ncclCommInitRankConfig(2, stubbed.ncclUniqueId(), 0, config)
    assert status is stubbed.ncclResult_t.ncclInProgress and int(comm)
    assert int(stubbed.checked.ncclCommInitRankConfig(2, stubbed.ncclUniqueId(), 0, config)) == int(comm)
    assert stubbed.comm_init_rank_config(2, stubbed.ncclUniqueId(), 0, config) == int(comm)
    assert stubbed.ncclGroupEnd() == (stubbed.ncclResult_t.ncclInProgress,)
    assert stubbed.group_end() is None
    stub.status = 0
    assert stubbed.ncclGroupEnd() == (stubbed.ncclResult_t.ncclSuccess,)


def test_failures_are_told_in_words(stub_of: Callable[[str], Stub]) -> None:
    stub = stub_of("nccl")
    stub.status = 5
    with pytest.raises(stubbed.NCCLError) as caught:
        stubbed.all_reduce(0, 0, 4, 7, 0, 5, 0)
    error = caught.value
    assert (str(error), error.status) == ("ncclInvalidUsage (5)", stubbed.ncclResult_t.ncclInvalidUsage)
    assert "ncclAllReduce: ncclInvalidUsage (5): The calls do not go together" in str(error.__cause__)
    assert "NCCL says: returned as text." in str(error.__cause__)
    again = pickle.loads(pickle.dumps(nccl.NCCLError(4)))
    assert type(again) is nccl.NCCLError and again.status == nccl.ncclResult_t.ncclInvalidArgument


def test_every_status_has_words() -> None:
    assert set(NCCLRESULT) == set(nccl.ncclResult_t.__members__)


def test_an_older_library_lacks_functions_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    class Old:
        def __getitem__(self, symbol: str) -> Any:
            raise AttributeError(symbol)

    monkeypatch.setattr(nccl.libnccl, "load", Old)
    monkeypatch.setattr(nccl.libnccl, "describe", lambda: "libnccl.so.2, which is NCCL 2.18.3")
    with pytest.raises(
        RuntimeError, match=r'"ncclCommGrow" not found in .* NCCL 2.18.3: it needs NCCL 2.29.2 or newer'
    ):
        nccl.libnccl.symbol("ncclCommGrow", "2.29.2")


# -- where it is ------------------------------------------------------------------------------------------


def test_it_is_found_in_wheels_of_either_major(tmp_path: Path) -> None:
    """NVIDIA's wheels for CUDA 12 and 13 have one folder; some builds of PyTorch have it beside their own."""
    site = tmp_path.resolve()
    files = [site / "nvidia/nccl/lib/libnccl.so.2", site / "torch/lib/libnccl.so.2"]
    for file in files:
        file.parent.mkdir(parents=True)
        file.touch()
    host = Host((str(site),), {}, "linux", "x86_64", str(site / "root"))
    for major in (None, 12, 13):
        monkeypatch = pytest.MonkeyPatch()
        with monkeypatch.context() as patch:
            patch.setattr(pathfinder, "this_host", lambda: host)
            found = [c for c in pathfinder.find("nccl", major) if c.found_by == "pip" and not c.refused]
        assert [(c.path, c.major) for c in found] == [(str(file), None) for file in files]


def test_what_is_missing_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host((str(tmp_path),), {"LD_LIBRARY_PATH": ""}, "linux", "x86_64", str(tmp_path))
    monkeypatch.setattr(pathfinder, "this_host", lambda: host)
    forget_libraries(monkeypatch)
    monkeypatch.setattr(pathfinder, "open_candidate", lambda *arguments: _refuse())
    with pytest.raises(pathfinder.LibraryNotFound, match="pip install nvidia-nccl-cu13 for CUDA 13"):
        pathfinder.load("nccl")


def _refuse() -> Any:
    raise OSError("no such file")


@pytest.fixture
def real() -> str:
    """The path of the real library, which needs no GPU for what the tests below ask. Another test of this
    process may have opened the simulator's, which is in no folder.
    """
    found = [one.path for one in pathfinder.find("nccl", None) if not one.refused and Path(one.path).exists()]
    if not found:
        pytest.skip("no libnccl is installed: pip install nvidia-nccl-cu13")
    return found[0]


def test_the_real_library_has_every_function_of_its_release(real: str) -> None:
    library = ctypes.CDLL(real)
    code = ctypes.c_int()
    assert library.ncclGetVersion(ctypes.byref(code)) == 0
    version = code.value // 10000, code.value // 100 % 100, code.value % 100
    release = max((r for r in RELEASES if number(r) <= version), key=number)
    assert [f for f in RELEASES[release]["functions"] if not hasattr(library, f)] == []


def test_a_call_that_fails_raises_what_nccl_noted(real: str, monkeypatch: pytest.MonkeyPatch) -> None:
    library = ctypes.CDLL(real)
    monkeypatch.setattr(stubbed.libnccl, "load", lambda: library)
    stubbed.libnccl.rebind()
    with pytest.raises(stubbed.NCCLError) as caught:
        stubbed.comm_count(0)
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert "argument is NULL" in str(caught.value.__cause__)
    assert type(caught.value.__cause__).__name__ == CUDAError.__name__
