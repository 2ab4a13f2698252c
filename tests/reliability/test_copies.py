"""A copy would be a second owner of what there is once, and in another process of nothing at all."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from .world import World, world


@pytest.fixture(scope="module")
def w() -> Iterator[World]:
    with world() as made:
        yield made


def definition(w: World) -> Any:
    made = w.graph.GraphDefinition()
    made.launch(w.one, w.nothing)
    return made


def resource(w: World) -> Any:
    options = {"shape": (4,), "format": "int8", "num_channels": 1, "is_surface_load_store": True}
    return w.texture.ResourceDescriptor.from_opaque_array(w.device.create_opaque_array(options))


def tensor_map(w: World) -> Any:
    buffer = w.device.allocate(1024, w.device.create_stream())
    return w.utils.StridedMemoryView.from_buffer(buffer, (32, 32), itemsize=1).as_tensor_map(
        (8, 16), data_type="uint8"
    )


MADE: dict[str, Callable[[World], Any]] = {
    "Buffer": lambda w: w.device.allocate(64, w.device.create_stream()),
    "Buffer of the default stream": lambda w: w.device.allocate(64),
    "Context": lambda w: w.device.context,
    "DeviceMemoryResource": lambda w: w.core.DeviceMemoryResource(0, w.core.DeviceMemoryResourceOptions()),
    "Event": lambda w: w.core.Event(),
    "Event that was recorded": lambda w: w.device.create_stream().record(),
    "Graph": lambda w: definition(w).instantiate(),
    "GraphBuilder": lambda w: w.device.create_graph_builder(),
    "Kernel": lambda w: w.code.get_kernel("nothing"),
    "KernelAttributes": lambda w: w.nothing.attributes,
    "KernelOccupancy": lambda w: w.nothing.occupancy,
    "ManagedMemoryResource": lambda w: w.core.ManagedMemoryResource(),
    "MipmappedArray": lambda w: w.device.create_mipmapped_array(
        {"shape": (4,), "format": "int8", "num_channels": 1, "num_levels": 2}
    ),
    "OpaqueArray": lambda w: resource(w).source,
    "Program": lambda w: w.core.Program("", "c++"),
    "ResourceDescriptor": resource,
    "Stream": lambda w: w.device.create_stream(),
    "SurfaceObject": lambda w: w.device.create_surface_object(resource=resource(w)),
    "TensorMapDescriptor": tensor_map,
    "TextureObject": lambda w: w.device.create_texture_object(resource=resource(w)),
}
COPIED: dict[str, Callable[[Any], object]] = {
    "copied": copy.copy,
    "copied to the depths": copy.deepcopy,
    "pickled": lambda thing: pickle.loads(pickle.dumps(thing)),
}
WHY = "cannot be copied or pickled|is for one process"


@pytest.mark.parametrize("how", COPIED)
@pytest.mark.parametrize("name", MADE)
def test_what_there_is_once_is_not_copied(
    w: World, name: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: reports.append(args.exc_value))
    MADE[name](w)  # the first one makes what the driver keeps, such as its own pools
    w.settle()
    before = w.alive()
    thing = MADE[name](w)
    with_it = w.alive()
    with pytest.raises((TypeError, RuntimeError), match=WHY):
        COPIED[how](thing)
    gc.collect()
    assert w.alive() == with_it
    del thing
    assert not w.leak(before) and reports == []


@pytest.mark.parametrize("how", ["copied to the depths", "pickled"])
def test_what_owns_something_inside_is_not_copied_either(w: World, how: str) -> None:
    made = definition(w)
    with pytest.raises(TypeError, match=WHY):
        COPIED[how](made)
    gc.collect()
    assert len(made.nodes()) == 1


@pytest.mark.parametrize("how", COPIED)
def test_a_struct_with_addresses_is_not_copied(w: World, how: str) -> None:
    """What keeps the memory behind them alive would not come along."""
    config = w.driver.CUlaunchConfig(attrs=[w.driver.CUlaunchAttribute()], numAttrs=1)
    with pytest.raises(TypeError, match="CUlaunchConfig objects cannot be copied or pickled"):
        COPIED[how](config)
