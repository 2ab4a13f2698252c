"""ObjectCode without a device: where it comes from, that it can be pickled, and that it is loaded once."""

from __future__ import annotations

import pickle
import threading
import time
from pathlib import Path

import pytest

from cudapy._core.context import current
from cudapy._core.kernels import object_code as module
from cudapy.core import ObjectCode

KINDS = ("cubin", "ptx", "ltoir", "fatbin", "object", "library")


@pytest.mark.parametrize("kind", KINDS)
def test_code_from_bytes_and_files(kind, tmp_path) -> None:
    path = tmp_path / f"code.{kind}"
    path.write_bytes(b"the code")
    make = getattr(ObjectCode, f"from_{kind}")
    for source in (b"the code", bytearray(b"the code"), str(path), path):
        made = make(source, name="mine", symbol_mapping={"a": "_Z1av"})
        assert (made.code, made.code_type, made.name) == (b"the code", kind, "mine")
        assert made.symbol_mapping == {"a": "_Z1av"}
        same = pickle.loads(pickle.dumps(made))
        assert (same.code, same.code_type, same.name) == (b"the code", kind, "mine")
        assert same.symbol_mapping == made.symbol_mapping
    with pytest.raises(FileNotFoundError):
        make(Path(tmp_path) / "other")


def test_ptx_may_be_its_text() -> None:
    assert ObjectCode.from_ptx(".version 8.0\n.target sm_80\n").code == b".version 8.0\n.target sm_80\n"


def test_an_object_code_is_not_made_by_hand() -> None:
    with pytest.raises(TypeError, match="from_cubin"):
        ObjectCode()


@pytest.mark.parametrize("kind", ["ltoir", "object", "library"])
def test_code_that_has_to_be_linked_is_not_loaded(kind) -> None:
    with pytest.raises(RuntimeError, match="link it"):
        _ = getattr(ObjectCode, f"from_{kind}")(b"code").handle


def test_threads_load_it_once(monkeypatch) -> None:
    loads, unloads = [], []

    def load(cell, *args):
        loads.append(args[0])
        time.sleep(0.05)
        cell.value = len(loads)

    monkeypatch.setattr(module, "initialise", lambda: None)
    monkeypatch.setattr(module, "_unload", lambda library, log: unloads.append(int(library)))
    monkeypatch.setitem(vars(current.owning), "cuLibraryLoadData", load)
    codes, handles = [ObjectCode.from_cubin(b"code")], []
    threads = [threading.Thread(target=lambda: handles.append(int(codes[0]._loaded()))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (loads, handles, unloads) == ([b"code"], [1] * 4, [])
    codes.clear()
    assert unloads == [1]
