"""Graphs without a GPU: what C is called with, what is kept alive and let go, what is refused and why."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import pickle
import sys
import threading
import types
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from .stub import module
from .stub.record import Stub
from .test_versions import older as older


class Thing:
    """Something that can be watched."""

    def __call__(self) -> None:
        pass


def watched() -> tuple[Thing, weakref.ref[Thing]]:
    thing = Thing()
    return thing, weakref.ref(thing)


def symbols(stub: Stub) -> list[str]:
    return [call.symbol for call in stub.calls()]


def graphs(name: str) -> Any:
    module("core")  # with all kinds of nodes
    return module(f"_core.graph.{name}")


@pytest.fixture(autouse=True)
def only_garbage_of_its_own(stub: Stub) -> Iterator[None]:
    """What earlier tests left does not come up in the record of this one."""
    gc.collect()
    stub.calls()
    gc.disable()
    yield
    gc.enable()


def as_new(tree: Any, node: Any) -> Any:
    """Tree.added where all nodes have one address, which no driver gives them: the others stay."""
    tree.records.pop(node.value, None)
    return tree.record(node)


@pytest.fixture(autouse=True)
def nodes_of_one_address(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs("hierarchy").GraphHierarchy, "added", as_new)


@pytest.fixture
def definition(stub: Stub) -> Any:
    graphs("nodes")  # which has the classes of nodes, as core.graph has
    made = graphs("definition").GraphDefinition()
    stub.calls()
    return made


# -- what the driver holds --------------------------------------------------------------------------------


def dropped_by_driver(stub: Stub, call: Any) -> None:
    """Do what the driver does with a user object whose last reference is gone, in another thread."""
    address = int.from_bytes(call.arguments["ptr"].raw, "little")
    destroy = int.from_bytes(call.arguments["destroy"].raw, "little")
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(destroy)
    thread = threading.Thread(target=function, args=(address,))
    thread.start()
    thread.join()


@pytest.fixture
def no_sweeper(stub: Stub, monkeypatch: Any) -> None:
    """No thread sweeps: the tests that ask for this call `sweep`, and drop one of two user objects."""
    held = module("_core.ownership.user_objects")
    signal = types.SimpleNamespace(argument=1, address=module("_core.ownership.user_objects").Post().address)
    idle = types.SimpleNamespace(
        signal=signal, expected=0, dropped=0, process=module("_core.ownership.owned").process
    )
    monkeypatch.setattr(held, "_sweeper", idle)


def cells() -> Any:
    """Where user objects are made that nobody is to release."""
    return tuple(module("_core.ownership.user_objects").CUuserObject() for _ in range(2))


def pairs(stub: Stub) -> list[tuple[Any, Any]]:
    """The calls that made user objects: that which tells what is dropped, and that which wakes a thread."""
    calls = [call for call in stub.calls() if call.symbol == "cuUserObjectCreate"]
    return list(zip(calls[::2], calls[1::2], strict=True))


@pytest.mark.usefixtures("no_sweeper")
def test_what_is_held_goes_when_the_driver_says_so(stub: Stub) -> None:
    held = module("_core.ownership.user_objects")
    (one, first), (two, second) = watched(), watched()
    held.create_user_objects(cells(), one)
    held.create_user_objects(cells(), [two])
    del one, two
    calls = [told for told, _ in pairs(stub)]
    assert len({call.arguments["ptr"].raw for call in calls}) == 2
    assert int.from_bytes(calls[0].arguments["initialRefcount"].raw, "little") == 1
    held.sweep()
    assert first() is not None and second() is not None
    dropped_by_driver(stub, calls[1])
    assert second() is not None  # nothing of Python ran in the driver's thread
    held.sweep()
    assert first() is not None and second() is None
    dropped_by_driver(stub, calls[0])
    held.sweep()
    assert first() is None


@pytest.mark.usefixtures("no_sweeper")
def test_places_of_what_was_held_are_used_again(stub: Stub) -> None:
    held = module("_core.ownership.user_objects")
    before, things = len(held._blocks), len(held._objects)
    for _ in range(10):
        calls = []
        for _ in range(100):
            held.create_user_objects(cells(), Thing())
            calls += pairs(stub)
        for call, _ in calls:
            dropped_by_driver(stub, call)
        held.sweep()
    assert len(held._blocks) <= before + 2 and len(held._objects) == things


@pytest.mark.usefixtures("no_sweeper")
def test_waiting_drops_what_the_driver_let_go(stub: Stub) -> None:
    held, owned = module("_core.ownership.user_objects"), module("_core.ownership.owned")
    thing, reference = watched()
    held.create_user_objects(cells(), thing)
    del thing
    ((call, _),) = pairs(stub)
    dropped_by_driver(stub, call)
    owned.deferred.drain()
    assert reference() is None


@pytest.mark.parametrize("first", [0, 1])
def test_a_thread_drops_what_the_driver_let_go(stub: Stub, first: int) -> None:
    """Whichever of the two the driver calls first, and without any call of the program's."""
    held, captures = module("_core.ownership.user_objects"), module("_core.ownership.captures")
    gone, seen = threading.Event(), []

    class Last:
        def __del__(self) -> None:
            seen.append((threading.current_thread(), list(captures.captures.may_be_active)))
            gone.set()

    held.create_user_objects(cells(), Last())
    (calls,) = pairs(stub)
    dropped_by_driver(stub, calls[first])
    assert first or not seen
    dropped_by_driver(stub, calls[1 - first])
    assert gone.wait(60)
    ((thread, possible),) = seen
    assert thread is not threading.current_thread() and thread.daemon
    assert possible  # so that what is freed asks whether its stream is captured


def test_a_failure_holds_nothing(stub: Stub) -> None:
    held = module("_core.ownership.user_objects")
    thing, reference = watched()
    stub.status = 2
    with pytest.raises(MemoryError):
        held.create_user_objects(cells(), thing)
    del thing
    gc.collect()
    assert reference() is None


def refuse(*_: Any) -> int:
    """A C function that fails."""
    return 999


def interrupt(*_: Any) -> int:
    """A call of a C function that Ctrl-C comes before."""
    raise KeyboardInterrupt


@pytest.mark.parametrize(("retain", "error"), [(refuse, RuntimeError), (interrupt, KeyboardInterrupt)])
def test_what_no_graph_took_is_released(stub: Stub, monkeypatch: Any, retain: Any, error: Any) -> None:
    """And what one took is not: one more release would take it from under the graph."""
    kept = module("_core.ownership.graph_references")
    kept.retain_in_graph(kept.CUgraph(5), Thing())
    assert "cuUserObjectRelease" not in [call.symbol for call in stub.calls()]
    monkeypatch.setattr(kept, "c_function", lambda _: retain)
    with pytest.raises(error):
        kept.retain_in_graph(kept.CUgraph(5), Thing())
    assert "cuUserObjectRelease" in [call.symbol for call in stub.calls()]


@pytest.mark.usefixtures("no_sweeper")
def test_what_holds_something_may_be_dropped_in_turn(stub: Stub) -> None:
    """Dropping one thing may bring others along that come by the same way."""
    held = module("_core.ownership.user_objects")

    class Last:
        def __del__(self) -> None:
            held.sweep()
            held.create_user_objects(cells(), Thing())

    held.create_user_objects(cells(), Last())
    ((call, _),) = pairs(stub)
    dropped_by_driver(stub, call)
    held.sweep()
    assert "cuUserObjectCreate" in symbols(stub)


def test_copies_share_until_one_changes(stub: Stub) -> None:
    driver, kept = (
        module("driver"),
        module("_core.ownership.graph_references").GraphReferences(module("driver").CUgraph(5)),
    )
    kept.keep_alive(1, "plain", 5, None)
    assert symbols(stub) == []  # nothing worth keeping
    first, second = Thing(), Thing()
    kept.keep_alive(1, first)
    kept.keep_alive(2, second)
    once = ["cuUserObjectCreate"] * 2 + ["cuGraphRetainUserObject"] * 2
    assert symbols(stub) == once
    shared = kept.mark_shared()
    kept.keep_alive(1, second)
    assert symbols(stub) == once + ["cuGraphReleaseUserObject"] * 2
    assert shared == {1: (first,), 2: (second,)} and kept.mark_shared() == {1: (second,), 2: (second,)}
    kept.keep_alive(1)
    kept.keep_alive(3, first)
    assert symbols(stub).count("cuUserObjectCreate") == 2
    assert kept.mark_shared() == {2: (second,), 3: (first,)}
    for _ in range(3):
        kept.keep_alive_for_good([second, 5, first])
    assert len(kept.mark_shared()) == 4 and symbols(stub).count("cuUserObjectCreate") == 2
    kept.expose()
    for _ in range(3):
        kept.keep_alive(4, first)
        assert "cuUserObjectCreate" in symbols(stub)  # somebody may have made a copy since
    assert driver.CUuserObjectRetain_flags.CU_GRAPH_USER_OBJECT_MOVE == 1


# -- definitions ------------------------------------------------------------------------------------------


def test_a_definition_is_destroyed_once(stub: Stub) -> None:
    made = graphs("definition").GraphDefinition()
    node_graph = graphs("definition").GraphDefinition._of(made._hierarchy, made._graph)
    del made
    gc.collect()
    assert "cuGraphDestroy" not in symbols(stub)
    del node_graph
    gc.collect()
    assert symbols(stub).count("cuGraphDestroy") == 1


def test_memset_parameters() -> None:
    make = graphs("parameters").memset_parameters
    made = make(0x1000, b"\1\2", 3, 4, 8)
    found = (int(made.dst), made.value, made.elementSize, made.width, made.height, made.pitch)
    assert found == (0x1000, 0x0201, 2, 3, 4, 8)
    assert make(0x1000, 255, 1, 1, 0).elementSize == 1
    for wrong, error in (
        ((0x1000, -1, 1, 1, 0), OverflowError),
        ((0x1000, 1, 1, 2, 0), ValueError),
        ((0x1000, 1, 1, 0, 0), ValueError),
        ((0x1000, b"", 1, 1, 0), ValueError),
        ((0x1000, 1, 1.5, 1, 0), TypeError),
        ((None, 1, 1, 1, 0), TypeError),
    ):
        with pytest.raises(error):
            make(*wrong)


def test_owners_are_for_addresses() -> None:
    owned = graphs("parameters").owned
    owner = Thing()
    assert owned("dst", 5, owner) == (5, owner)
    assert owned("dst", owner, None) == (owner, None)
    with pytest.raises(ValueError, match="dst_owner"):
        owned("dst", bytearray(4), owner)


def test_host_functions() -> None:
    make = graphs("host_function").HostFunction
    seen: list[object] = []
    python = make(lambda: seen.append("called"))
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(int(python.parameters.fn))(None)
    data = bytearray(b"12345")
    c = make(ctypes.CFUNCTYPE(None, ctypes.c_void_p)(seen.append), data)
    data[:] = b"-----"
    address = int(c.parameters.userData)
    assert ctypes.string_at(address, 5) == b"12345"
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(int(c.parameters.fn))(address)
    assert seen == ["called", address] and c.callback is None and python.callback is not None
    assert make(ctypes.CFUNCTYPE(None, ctypes.c_void_p)(seen.append), 7).parameters.userData == 7
    wrong = ctypes.CFUNCTYPE(None, ctypes.c_int)(seen.append)
    for arguments, error in (((5,), TypeError), ((wrong,), TypeError), ((print, 1), ValueError)):
        with pytest.raises(error, match="callback:"):
            make(*arguments)


def test_nodes_go_to_the_place_they_belong(definition: Any, stub: Stub) -> None:
    node = definition.callback(Thing())
    call = next(call for call in stub.calls() if call.symbol == "cuGraphAddHostNode")
    assert int.from_bytes(call.arguments["hGraph"].raw, "little") == int(definition._graph)
    assert int.from_bytes(call.arguments["numDependencies"].raw, "little") == 0
    node.record(module("_core.streams.event").Event())
    call = next(call for call in stub.calls() if call.symbol == "cuGraphAddEventRecordNode")
    assert int.from_bytes(call.arguments["numDependencies"].raw, "little") == 1
    assert int.from_bytes(call.arguments["dependencies"].memory, "little") == int(node.handle)


def test_an_executable_is_destroyed_once(definition: Any, stub: Stub) -> None:
    graph = definition.instantiate()
    graph.close()
    graph.close()
    del graph
    gc.collect()
    assert symbols(stub).count("cuGraphExecDestroy") == 1
    stub.status = 1
    with pytest.raises(module("_bindings.errors").CUDAError):
        definition.instantiate()


def test_an_update_that_fails_says_why(definition: Any, stub: Stub, monkeypatch: Any) -> None:
    graph = definition.instantiate()
    info = module("driver").CUgraphExecUpdateResultInfo(result=2)
    error = graphs("executable")._not_updated(module("driver").CUresult(910), info)
    assert isinstance(error, graphs("executable").GraphUpdateError)
    assert "TOPOLOGY_CHANGED: its nodes or edges are not the same" in str(error)
    assert error.result == 2 and error.name == "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE"
    again = pickle.loads(pickle.dumps(error))
    assert (again.result, again.name, str(again)) == (error.result, error.name, str(error))
    info = module("driver").CUgraphExecUpdateResultInfo(result=99)
    assert "99" in str(graphs("executable")._not_updated(module("driver").CUresult(910), info))
    graph.update(definition)
    assert "cuGraphExecUpdate_v2" in symbols(stub)


def test_a_stream_of_another_context_is_named(definition: Any, stub: Stub) -> None:
    graph, stream = definition.instantiate(), module("_core.streams.stream").Stream.from_handle(0x5000)
    graph.launch(stream)
    assert "cuGraphLaunch" in symbols(stub)
    graph._launch = lambda *_: 1
    with pytest.raises(
        module("_bindings.errors").CUDAError, match="The stream belongs to <Context 0x"
    ) as caught:
        graph.launch(stream)
    assert caught.value.code == 1 and caught.value.function == "cuGraphLaunch"
    graph._context = int(stream.context.handle)
    with pytest.raises(module("_bindings.errors").CUDAError) as caught:
        graph.launch(stream)
    assert "belongs" not in str(caught.value)


# -- captures ---------------------------------------------------------------------------------------------


@pytest.fixture
def builder(stub: Stub) -> Any:
    made = module("_core.streams.stream").Stream.from_handle(0x5000).create_graph_builder()
    stub.calls()
    return made


def test_a_capture_ends_with_its_builder(builder: Any, stub: Stub, monkeypatch: Any) -> None:
    monkeypatch.setattr(module("_core.streams.stream").Stream, "priority", 0)
    builder.begin_building("thread_local")
    call = next(call for call in stub.calls() if call.symbol == "cuStreamBeginCapture_v2")
    assert int.from_bytes(call.arguments["mode"].raw, "little") == 1
    _, part = builder.split(2)
    stub.calls()
    builder.close()  # at once, although the other part refers to the capture
    names = symbols(stub)
    assert names.count("cuStreamEndCapture") == names.count("cuGraphDestroy") == 1
    with pytest.raises(RuntimeError, match="has ended the building"):
        part.split(2)
    other = module("_core.streams.stream").Stream.from_handle(0x5000).create_graph_builder().begin_building()
    stub.calls()
    del other
    gc.collect()
    assert symbols(stub).count("cuStreamEndCapture") == 1


@pytest.mark.parametrize(
    ("status", "words"),
    [(901, "waiting for the"), (904, "joined"), (905, "outside the capture"), (908, "another thread")],
)
def test_a_capture_that_fails_is_over(builder: Any, stub: Stub, status: int, words: str) -> None:
    builder.begin_building()
    stub.status = status
    with pytest.raises(module("_bindings.errors").CUDAError, match=words) as caught:
        builder.end_building()
    assert caught.value.code == status and not builder.is_building
    stub.status = 0
    stub.calls()
    builder.close()
    gc.collect()
    assert "cuStreamEndCapture" not in symbols(stub)


def test_a_failed_beginning(builder: Any, stub: Stub) -> None:
    stub.status = 1
    with pytest.raises(module("_bindings.errors").CUDAError):
        builder.begin_building()
    stub.status = 0
    assert not builder.is_building
    with pytest.raises(ValueError, match="is none of"):
        builder.begin_building("fast")
    assert builder.begin_building().is_building


# -- a call that fails ------------------------------------------------------------------------------------


class Failing:
    """The driver's raising face, of which call number `fails` fails; the names of those that did not."""

    def __init__(self, fails: int) -> None:
        self.fails, self.count, self.failed = fails, 0, ""
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return self.of(module("driver").checked, name)

    def of(self, face: Any, name: str) -> Any:
        function = getattr(face, name)

        def call(*args: Any) -> Any:
            self.count += 1
            if self.count == self.fails:
                self.failed = name
                raise module("_bindings.errors").CUDAError(
                    f"{name} fails", module("driver").CUresult(999), name
                )
            result = function(*args)
            self.calls.append(name)
            is_type = name == "cuGraphNodeGetType"  # of which the stub knows nothing
            return module("driver").CUgraphNodeType.CU_GRAPH_NODE_TYPE_HOST if is_type else result

        return call


class FailingOwning:
    """The face for owners, whose calls are counted together with those."""

    def __init__(self, others: Failing) -> None:
        self.others = others

    def __getattr__(self, name: str) -> Any:
        return self.others.of(module("_core.context.current").owning, name)


def defined() -> None:
    things = [Thing(), Thing()]
    definition = graphs("definition").GraphDefinition()
    node = definition.callback(things[0])
    last = node.join().memset(0x1000, 1, 4, dst_owner=things[1])
    other = graphs("definition").GraphDefinition()
    other.embed(definition)
    graph = other.instantiate()
    graph.update(definition)
    node.update(things[1])
    graph[node].update(things[0])
    last.destroy()
    graph.close()


def captured() -> None:
    stream = module("_core.streams.stream").Stream.from_handle(0x5000)
    builder = stream.create_graph_builder().begin_building()
    builder.callback(Thing())
    _, part = builder.split(2)
    part.callback(Thing())
    module("core").graph.GraphBuilder.join(builder, part)
    body = builder.if_then(builder.create_condition(1))
    body.begin_building().end_building()
    builder.end_building().complete().close()
    builder.close()


@pytest.mark.parametrize("scenario", [defined, captured])
def test_nothing_is_lost_when_a_call_fails(stub: Stub, monkeypatch: Any, scenario: Any) -> None:
    """Each call in turn: what was made is given back, and no stream is left capturing."""
    monkeypatch.setattr(module("_core.streams.stream").Stream, "priority", 0)
    monkeypatch.setattr("sys.unraisablehook", lambda _: None)  # what a finalizer meets
    module("core")
    users = [m for name, m in sys.modules.items() if name.startswith("cudapy_stubbed._core.graph.")]
    users += [module(f"_core.ownership.{name}") for name in ("captures", "graph_references", "user_objects")]
    monkeypatch.setattr(graphs("condition"), "bodies", lambda _: (module("driver").CUgraph(7),))
    gc.collect()
    for fails in range(1, 1000):
        face = Failing(fails)
        for user in users:
            for name, used in (("checked", face), ("owning", FailingOwning(face))):
                if hasattr(user, name):
                    monkeypatch.setattr(user, name, used)
        stub.calls()
        with contextlib.suppress(module("_bindings.errors").CUDAError):
            scenario()
        gc.collect()
        names, failed = symbols(stub), face.failed
        count = face.calls.count
        if "Destroy" in failed or "Release" in failed:  # then it was tried, at least
            face.calls.append(failed)
        assert count("cuGraphCreate") <= count("cuGraphDestroy"), failed
        assert count("cuGraphInstantiateWithParams") == count("cuGraphExecDestroy"), failed
        count = names.count
        released = count("cuUserObjectRelease") + (failed == "cuUserObjectRelease")
        assert count("cuUserObjectCreate") == count("cuGraphRetainUserObject") + released
        count = face.calls.count
        begun = count("cuStreamBeginCapture") + count("cuStreamBeginCaptureToGraph")
        ended = names.count("cuStreamEndCapture") + (failed == "cuStreamEndCapture")
        assert begun == ended, failed
        if face.count < fails:
            assert not failed
            break
    assert fails > 20


def test_the_event_of_somebody_elses_node(stub: Stub) -> None:
    """It stands for that event: none is made, and none given back."""
    module("core")
    event = graphs("nodes")._foreign(module("driver").CUevent(0x77))
    assert int(event.handle) == 0x77
    event.close()
    del event
    gc.collect()
    assert [name for name in symbols(stub) if name.startswith("cuEvent")] == []


# -- options, names ---------------------------------------------------------------------------------------


def test_options_are_the_flags_of_c(stub: Stub) -> None:
    options, driver = graphs("options"), module("driver")
    for cls, flags, prefix in (
        (options.GraphDebugPrintOptions, driver.CUgraphDebugDot_flags, "CU_GRAPH_DEBUG_DOT_FLAGS_"),
        (options.GraphCompleteOptions, driver.CUgraphInstantiate_flags, "CUDA_GRAPH_INSTANTIATE_FLAG_"),
    ):
        assert cls().flags == 0
        for field in cls.__dataclass_fields__:
            name = "UPLOAD" if field == "upload_stream" else field.upper()
            assert cls(**{field: True}).flags == flags[prefix + name]
    every = options.GraphCompleteOptions(True, True, True, True)
    assert every.flags == 15


def test_options_may_be_a_dict(definition: Any, stub: Stub) -> None:
    for options, flags in (({"device_launch": True}, 4), ({}, 0), (None, 1)):
        definition.instantiate(options)
        call = next(call for call in stub.calls() if call.symbol == "cuGraphInstantiateWithParams")
        assert int.from_bytes(call.arguments["instantiateParams"].memory[:8], "little") == flags  # type: ignore[index]
    for wrong in ({"launch": True}, 5):
        with pytest.raises(TypeError):
            definition.instantiate(wrong)


def test_a_node_at_the_address_of_another_is_a_new_one(definition: Any, monkeypatch: Any) -> None:
    """The driver uses addresses again, also of nodes that somebody else has destroyed."""
    monkeypatch.undo()
    first = definition.empty()
    second = definition.callback(Thing())
    assert type(second).__name__ == "HostCallbackNode" and second is not first
    assert second.is_valid and not first.is_valid


def test_graph_can_be_imported_like_a_module() -> None:
    import cudapy.core
    from cudapy.core import graph

    assert sys.modules["cudapy.core.graph"] is graph is cudapy.core.graph
    assert all(hasattr(graph, name) for name in graph.__all__)


def test_conditions_are_handles() -> None:
    condition = graphs("condition").GraphCondition(0x1234)
    assert type(condition.handle) is module("driver").CUgraphConditionalHandle
    parameter = module("_core.kernels.parameter_kinds").Parameter("i", 8)  # what a kernel has for it
    assert condition == condition.handle
    assert module("_core.kernels.arguments").encode(condition, parameter) == (0x1234).to_bytes(8, "little")


def test_a_driver_of_cuda_12_0(older: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no conditions, and no data of edges; the rest works."""
    d, stub = older
    package = d.__name__.rpartition(".")[0]
    core = importlib.import_module(f"{package}.core")
    monkeypatch.setattr(core.Stream, "priority", 0)
    monkeypatch.setattr(
        importlib.import_module(f"{package}._core.graph.hierarchy").GraphHierarchy, "added", as_new
    )
    definition = core.graph.GraphDefinition()
    node = definition.memset(0x1000, 1, 16)
    node.callback(Thing()).record(core.Event())
    definition.join(node, definition.empty()).pred.add(node)
    builder = core.Stream.from_handle(0x5000).create_graph_builder().begin_building()
    _, part = builder.split(2)
    part.callback(Thing())
    core.graph.GraphBuilder.join(builder, part)
    builder.embed(definition)
    builder.end_building().complete().update(definition)
    names = symbols(stub)
    for name in ("cuGraphAddDependencies", "cuStreamGetCaptureInfo_v2", "cuStreamUpdateCaptureDependencies"):
        assert name in names
    for made in (definition, core.Stream.from_handle(0x5000).create_graph_builder().begin_building()):
        with pytest.raises(RuntimeError, match=r"cuGraphConditionalHandleCreate.*needs CUDA 12\.3"):
            made.create_condition(1)


def test_older_drivers_say_what_they_lack(stub: Stub, monkeypatch: Any) -> None:
    conditions = graphs("condition")
    versions = {"cuDriverGetVersion": lambda: 12040}
    monkeypatch.setattr(
        conditions, "checked", type("checked", (), {k: staticmethod(v) for k, v in versions.items()})
    )
    for kind, count, name in ((conditions.SWITCH, 1, "switch"), (conditions.IF, 2, "if_else")):
        with pytest.raises(
            module("_bindings.errors").CUDAError, match=f"{name} needs a driver of CUDA 12.8"
        ) as caught:
            conditions.conditional(conditions.GraphCondition(1), kind, count, 0)
        assert "12.4" in str(caught.value) and caught.value.name == "CUDA_ERROR_NOT_SUPPORTED"
    made = conditions.conditional(conditions.GraphCondition(1), conditions.WHILE, 1, 0)
    assert made.conditional.type == 1 and made.conditional.size == 1
