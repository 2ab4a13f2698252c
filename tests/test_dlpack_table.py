"""The table of C functions of DLPack that StridedMemoryView has, called as C calls it. No GPU is needed."""

from __future__ import annotations

import ctypes
import gc
import sys
import weakref
from typing import Any

import numpy as np
import pytest
from cudapy.core.utils import StridedMemoryView

from cudapy._ffi import dlpack
from cudapy._ffi.dlpack_table import Table

from .stub import python

ADDRESS = ctypes.c_void_p
HAS_VERSIONS = tuple(map(int, np.__version__.split(".")[:2])) >= (2, 1)
needs_versions = pytest.mark.skipif(not HAS_VERSIONS, reason="NumPy before 2.1 makes no versioned tensors")


def called(name: str, *types: Any) -> Any:
    """A function of the table; what is set when it returns is raised, as C would see it."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ADDRESS, [ctypes.py_object, ctypes.c_char_p]
    table = Table.from_address(pointer(StridedMemoryView.__dlpack_c_exchange_api__, b"dlpack_exchange_api"))
    assert (table.major, table.minor, table.previous) == (1, 3, None)
    return ctypes.PYFUNCTYPE(ctypes.c_int, *types)(getattr(table, name))


def borrowed(view: Any) -> dlpack.Tensor:
    tensor = dlpack.Tensor()
    function = called("dltensor_from_py_object_no_sync", ctypes.py_object, ADDRESS)
    assert function(view, ctypes.addressof(tensor)) == 0
    return tensor


def exported(view: Any) -> int:
    out = ADDRESS()
    function = called("managed_tensor_from_py_object_no_sync", ctypes.py_object, ADDRESS)
    assert function(view, ctypes.addressof(out)) == 0 and out.value
    return out.value


def imported(tensor: int) -> Any:
    """The object, whose reference is the caller's."""
    out = ADDRESS()
    function = called("managed_tensor_to_py_object_no_sync", ADDRESS, ADDRESS)
    assert function(tensor, ctypes.addressof(out)) == 0
    made = ctypes.cast(out, ctypes.py_object).value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(made))
    return made


def delete(tensor: int) -> None:
    deleter = dlpack.ManagedVersioned.from_address(tensor).deleter
    ctypes.PYFUNCTYPE(None, ADDRESS)(deleter)(tensor)


def view_of(array: Any) -> Any:
    return StridedMemoryView.from_dlpack(array, -1)


ARRAYS = [
    np.arange(24, dtype="f4").reshape(2, 3, 4),
    np.arange(24, dtype="i8").reshape(4, 6)[::2, ::-1].T,
    np.array(5, "u2"),
    np.ones((1, 1), "c16"),
    np.ones((3, 0), "?"),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{array.shape}")
def test_a_tensor_that_is_lent(array: np.ndarray) -> None:
    view = view_of(array)
    for _ in range(2):
        tensor = borrowed(view)
        assert (tensor.device_type, tensor.device_id, tensor.ndim) == (dlpack.CPU, 0, array.ndim)
        assert tensor.data == (array.ctypes.data if array.size else 0) and tensor.byte_offset == 0
        assert tensor.bits == 8 * array.itemsize and tensor.lanes == 1
        assert tuple(tensor.shape[i] for i in range(array.ndim)) == array.shape
        if array.size:
            steps = tuple(tensor.strides[i] * array.itemsize for i in range(array.ndim))
            assert steps == array.strides
        assert bool(tensor.strides) is bool(tensor.shape) is bool(array.ndim)


def test_another_layout_of_the_same_memory_is_lent_as_it_is() -> None:
    view = view_of(np.arange(6, dtype="f4").reshape(2, 3))
    assert borrowed(view).shape[:2] == [2, 3]
    other = view.view(view.layout.permuted((1, 0)))
    tensor = borrowed(other)
    assert (tensor.shape[:2], tensor.strides[:2]) == ([3, 2], [1, 3])
    assert borrowed(view).strides[:2] == [3, 1]


@needs_versions
@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{array.shape}")
def test_a_tensor_that_is_given_away_and_taken(array: np.ndarray) -> None:
    tensor = exported(view_of(array))
    managed = dlpack.ManagedVersioned.from_address(tensor)
    assert managed.major == 1 and managed.flags == 0 and managed.deleter
    assert bool(managed.tensor.strides) is bool(array.ndim), "DLPack 1.2 wants them"
    view = imported(tensor)
    assert type(view) is StridedMemoryView and (view.shape, view.dtype) == (array.shape, array.dtype)
    assert view.device_id == -1 and not view.readonly and view.__dlpack_device__() == (dlpack.CPU, 0)
    assert np.array_equal(np.from_dlpack(view), array)
    if array.size:
        assert view.ptr == array.ctypes.data


@needs_versions
def test_read_only_memory_stays_so() -> None:
    tensor = exported(view_of(np.frombuffer(b"abcd", "u1")))
    assert dlpack.ManagedVersioned.from_address(tensor).flags == dlpack.READ_ONLY
    assert imported(tensor).readonly


@needs_versions
def test_who_keeps_the_memory() -> None:
    """The tensor does, until its deleter is called: by whoever took it, or by the view that it became."""

    class Owner(np.ndarray):
        pass

    array = np.arange(4.0).view(Owner)
    reference = weakref.ref(array)
    tensors = [exported(view_of(array)) for _ in range(2)]
    del array
    gc.collect()
    assert reference() is not None
    delete(tensors[0])
    view = imported(tensors[1])
    again = np.from_dlpack(view)
    del view
    gc.collect()
    assert reference() is not None and again.tolist() == [0, 1, 2, 3]
    del again
    gc.collect()
    assert reference() is None


@needs_versions
def test_references_are_counted_right() -> None:
    view = view_of(np.arange(4.0))
    before = sys.getrefcount(view)
    for _ in range(100):
        borrowed(view)
        delete(exported(view))
        assert sys.getrefcount(imported(exported(view))) == 1 + (sys.version_info < (3, 14))
    gc.collect()
    assert sys.getrefcount(view) == before


def test_the_current_stream_is_the_default_one() -> None:
    function = called("current_work_stream", ctypes.c_int, ctypes.c_int32, ADDRESS)
    for kind in (dlpack.CPU, dlpack.CUDA):
        out = ADDRESS(5)
        assert function(kind, 0, ctypes.addressof(out)) == 0 and out.value is None


def test_nothing_is_allocated() -> None:
    said = []
    set_error = ctypes.CFUNCTYPE(None, ADDRESS, ctypes.c_char_p, ctypes.c_char_p)(
        lambda *what: said.append(what)
    )
    function = called("managed_tensor_allocator", ADDRESS, ADDRESS, ADDRESS, ADDRESS)
    out, tensor = ADDRESS(), dlpack.Tensor()
    where = ctypes.addressof(tensor), ctypes.addressof(out)
    assert function(*where, 77, ctypes.cast(set_error, ADDRESS)) == -1 and out.value is None
    text = b"StridedMemoryView is a view of memory, and allocates none"
    assert said == [(77, b"NotImplementedError", text)]
    with pytest.raises(SystemError, match="NotImplementedError: StridedMemoryView is a view"):
        function(*where, 77, None)


@pytest.mark.parametrize("kind", ["managed_tensor", "dltensor"])
@pytest.mark.parametrize(
    ("given", "words"),
    [
        (5, "must be a StridedMemoryView, not int"),
        (np.ones(2), "must be a StridedMemoryView, not ndarray"),
        (StridedMemoryView(), "BufferError: an array without a dtype"),
        (view_of(np.ones(2)).view(dtype="V8"), "BufferError: an array without a dtype"),
    ],
    ids=["a number", "an array", "no dtype", "raw bytes"],
)
def test_what_cannot_be_is_an_exception_for_c(kind: str, given: Any, words: str, capfd: Any) -> None:
    """Set, and not printed."""
    out, function = (ctypes.c_char * 64)(), f"{kind}_from_py_object_no_sync"
    for _ in range(100):  # whoever said it has gone
        with pytest.raises(SystemError, match=words):
            called(function, ctypes.py_object, ADDRESS)(given, ctypes.addressof(out))
    assert bytes(out) == bytes(64) and capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("function", "types", "given", "words"),
    [
        ("dltensor_from_py_object_no_sync", (ADDRESS, ADDRESS), (None, None), "out is a null pointer"),
        ("managed_tensor_from_py_object_no_sync", (ADDRESS, ADDRESS), (None, None), "out is a null pointer"),
        ("managed_tensor_to_py_object_no_sync", (ADDRESS, ADDRESS), (None, None), "out_py_object is a null"),
        ("current_work_stream", (ctypes.c_int, ctypes.c_int32, ADDRESS), (2, 0, None), "is a null pointer"),
    ],
)
def test_null_pointers(function: str, types: Any, given: Any, words: str) -> None:
    with pytest.raises(SystemError, match=words):
        called(function, *types)(*given)
    out = ADDRESS()
    with pytest.raises(SystemError, match="tensor is a null pointer"):
        called("managed_tensor_to_py_object_no_sync", ADDRESS, ADDRESS)(None, ctypes.addressof(out))
    with pytest.raises(SystemError, match="not NoneType"):
        called("dltensor_from_py_object_no_sync", ADDRESS, ADDRESS)(None, ctypes.addressof(out))


def test_the_type_has_it_by_both_names() -> None:
    """Consumers ask the type, or look into its dict."""
    found = vars(StridedMemoryView)
    assert found["__dlpack_c_exchange_api__"] is found["__c_dlpack_exchange_api__"]
    assert view_of(np.ones(1)).__dlpack_c_exchange_api__ is found["__dlpack_c_exchange_api__"]
    assert type(found["__dlpack_c_exchange_api__"]).__name__ == "PyCapsule"


def test_the_functions_outlive_all_that_python_knows_of_them() -> None:
    """Others keep their addresses, and may call them while the interpreter goes: they do nothing then."""
    source = """
import ctypes, gc, sys
import numpy
from cudapy.core.utils import StridedMemoryView
get = ctypes.pythonapi.PyCapsule_GetPointer
get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
table = get(StridedMemoryView.__dlpack_c_exchange_api__, b"dlpack_exchange_api")
at = ctypes.c_void_p.from_address(table + 48).value
call = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.c_void_p)(at)
for name in ("cudapy._ffi.dlpack_table", "cudapy._ffi.dlpack", "cudapy._core.arrays.strided"):
    vars(sys.modules[name]).clear()
    del sys.modules[name]
del StridedMemoryView
gc.collect()
out = ctypes.c_void_p(5)
print(call(2, 0, ctypes.addressof(out)), out.value)
"""
    found = python(source)
    assert (found.stdout.strip(), found.stderr) == ("-1 5", "")


@needs_versions
def test_a_library_that_uses_it() -> None:
    """tvm-ffi takes views by the table, and makes them of what it returns."""
    tvm_ffi = pytest.importorskip("tvm_ffi", reason="apache-tvm-ffi is not installed")
    array = np.arange(6, dtype="f4").reshape(2, 3)
    seen = []
    function = tvm_ffi.convert(lambda tensor: seen.append(np.from_dlpack(tensor).tolist()))
    function(view_of(array))
    assert seen == [array.tolist()]
    back = tvm_ffi.get_global_func("testing.echo")(view_of(array))
    assert type(back) is StridedMemoryView and back.ptr == array.ctypes.data
    with pytest.raises(SystemError, match="an array without a dtype"):
        function(StridedMemoryView())
