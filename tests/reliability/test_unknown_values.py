"""Values that only a newer driver knows: in every enum, field and result they are members named by number."""

from __future__ import annotations

import ctypes
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.stub import APIS, module, source
from tests.stub.build import declared, is_aggregate, parameters
from tests.stub.echo import cases
from tests.stub.record import Stub

Enum = module("_ffi.enums").Enum
EnumField, Items = module("_ffi.fields").EnumField, module("_ffi.fields").Items
MODULES = {name: source(api) for api in APIS for name in [APIS[api].module]}
STRANGE = b"\x5d"
"""A byte of which four make a number that no enum has."""


def classes(name: str, base: Any) -> Iterator[Any]:
    """The classes of a module that derive from `base`, each once."""
    api = MODULES[name]
    found = {cls for cls in (getattr(api, key) for key in dir(api)) if isinstance(cls, type)}
    return (cls for cls in sorted(found, key=lambda cls: cls.__name__) if base(cls))


def is_enum(cls: Any) -> bool:
    return issubclass(cls, Enum) and cls is not Enum and bool(cls.__members__)


@pytest.mark.parametrize("name", MODULES)
def test_every_enum(name: str) -> None:
    """A pseudo-member, equal to its number, of its class, that can be printed, copied and sent elsewhere."""
    found = list(classes(name, is_enum))
    assert found
    for cls in found:
        for number in (0x5D5D5D5D, -0x5D5D5D5D):
            assert number not in cls
            member = cls(number)
            assert type(member) is cls and member == number
            assert member.name == f"{cls.__name__}_{number}" and member.name in repr(member)
            again = pickle.loads(pickle.dumps(member))
            assert type(again) is cls and (again, again.name) == (member, member.name)
        assert 0x5D5D5D5D not in list(cls), "nothing is added to the class"


@pytest.mark.parametrize("name", ["driver", "runtime"])
def test_every_field(name: str) -> None:
    """A struct full of what nobody knows can be read field by field, and printed."""
    seen = 0
    for cls in classes(name, is_aggregate):
        struct = cls.from_buffer_copy(STRANGE * ctypes.sizeof(cls))
        assert repr(struct) or not cls._fields_
        for key in cls._makers_:
            field = getattr(cls, key)
            if isinstance(field, EnumField):
                value = getattr(struct, key)
                assert type(value) is field.cls and value not in field.cls, f"{cls.__name__}.{key}"
                seen += 1
            elif isinstance(field, Items) and is_enum(field.cls):
                assert all(type(item) is field.cls and item not in field.cls for item in getattr(struct, key))
                seen += 1
    assert seen > 35


@pytest.mark.parametrize("api", APIS)
def test_every_result(api: str, stub_of: Callable[[str], Stub]) -> None:
    """What the stub writes to an enum is none of its members."""
    stub = stub_of(api)
    seen = 0
    for function in declared(source(api)).values():
        outputs = [p for p in parameters(function) if p.role in ("output", "in out")]
        for index, p in enumerate(outputs):
            if p.cls is None or not is_enum(p.cls):
                continue
            value = function(*next(cases(function)).arguments())[1 + index]
            for member in value if p.count else [value]:
                assert type(member) is p.cls and member not in p.cls, function.__name__
                seen += 1
        stub.calls()
    assert seen or api not in ("driver", "runtime-12", "runtime-13")


@pytest.mark.parametrize("api", APIS)
def test_every_status(api: str, stub_of: Callable[[str], Stub]) -> None:
    """A status that nobody knows is a failure: a tuple of Nones, or an exception that has its number."""
    stub = stub_of(api)
    status = next(iter(declared(source(api)).values())).__declaration__.library.status
    function = next(
        f for f in declared(source(api)).values() if not f.__name__.startswith("_") and returns(f)
    )
    arguments = next(cases(function)).arguments()
    stub.status = 0x5D5D
    err, *results = function(*arguments)
    if is_aggregate(type(err)):  # of two statuses, of which the first has the name
        status = type(err.err).__name__
    assert (int(err), err.name) == (0x5D5D, f"{status}_{0x5D5D}") and not any(results)
    with pytest.raises(
        RuntimeError, match=rf"{function.__name__}: {status}_23901 \(23901\): an error that this"
    ):
        getattr(source(api).checked, function.__name__)(*arguments)


def returns(function: Any) -> bool:
    """Whether a function returns a status."""
    declaration = function.__declaration__
    return bool(module("_ffi.prototypes").parse(declaration.prototype).returns == declaration.library.status)


# -- core ------------------------------------------------------------------------------------------------


def test_the_kind_of_a_graph_node(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node of a kind that core has no class for is a plain GraphNode, which says its kind by number."""
    adding, plain = module("_core.graph.node_factory"), module("_core.graph.node").GraphNode
    graph = module("_core.graph.definition").GraphDefinition()
    kind = module("driver").CUgraphNodeType(0x5D)
    for checked in (adding.checked, module("_core.graph.node").checked):
        monkeypatch.setitem(vars(checked), "cuGraphNodeGetType", lambda node: kind)
    node = adding.node_at(graph._hierarchy, graph._graph, module("driver").CUgraphNode(0x700))
    assert type(node) is plain
    assert node.type is kind and node.type.name == "CUgraphNodeType_93"


def test_where_managed_memory_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A place of a kind that core does not know is not taken for none."""
    place = module("_core.memory.location").place
    assert place(0, 7) is None
    with pytest.raises(RuntimeError, match=r"CUmemLocationType_93 \(93\)"):
        place(93, 7)


def test_memory_of_an_unknown_type(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a device's: only what is known to be the host's is read by the host."""
    strange = module("driver").CUmemorytype(0x5D)
    found = {int(module("driver").CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE): strange}
    get = lambda attribute, address: found.get(int(attribute), 0)  # noqa: E731
    monkeypatch.setitem(vars(module("_core.memory.pointer").checked), "cuPointerGetAttribute", get)
    location = module("_core.memory.pointer").locate(0x1000)
    assert (location.device, location.host) == (True, False)
