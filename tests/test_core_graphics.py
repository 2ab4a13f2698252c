"""core's resources of OpenGL and EGL, without either: a driver that has such memory of its own."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from .reliability.test_faults import is_of_a_release
from .reliability.test_signals import Interrupting
from .reliability.world import World, world

SIZE = 256
IMAGE, BUFFER, EGL = 7, 5, 0xE61
GL_TEXTURE_2D = 0x0DE1


class Graphics:
    """What the driver knows of graphics: resources by handle, the streams in which they were mapped."""

    def __init__(self, w: World) -> None:
        self.w = w
        self.calls: list[tuple[Any, ...]] = []
        self.resources: dict[int, int] = {}  # what is registered: BUFFER, IMAGE or EGL
        self.mapped: set[int] = set()
        self.frame: dict[str, int] = {}
        self.memory = w.driver.checked.cuMemAlloc(SIZE)
        self._next = 0x6000
        provides, self.refused = w.module("simulator.library").provides, w.module("simulator.refused").Refused
        for name in dir(self):
            if name.startswith("cu"):
                provides("driver", *self.symbols(name))(self.plain(getattr(self, name)))

    @staticmethod
    def symbols(name: str) -> tuple[str, ...]:
        return (f"{name}_v2" if name.endswith("GetMappedPointer") else name,)

    @staticmethod
    def plain(method: Any) -> Callable[..., Any]:
        """A function with the parameters of a method."""
        names = method.__code__.co_varnames[1 : method.__code__.co_argcount]
        scope: dict[str, Any] = {"method": method}
        exec(f"def {method.__name__}({', '.join(names)}): return method({', '.join(names)})", scope)
        made: Callable[..., Any] = scope[method.__name__]
        return made

    def register(self, what: int, *details: int) -> int:
        if what not in (IMAGE, BUFFER, EGL):
            raise self.refused("CUDA_ERROR_INVALID_VALUE", "there is no such object")
        self.calls.append(("register", what, *details))
        self._next += 0x10
        self.resources[self._next] = what
        return self._next

    def cuGraphicsGLRegisterBuffer(self, buffer: int, Flags: int) -> int:
        return self.register(buffer, Flags)

    def cuGraphicsGLRegisterImage(self, image: int, target: int, Flags: int) -> int:
        return self.register(image, target, Flags)

    def cuGraphicsEGLRegisterImage(self, image: int, flags: int) -> int:
        return self.register(image, flags)

    def cuGraphicsUnregisterResource(self, resource: int) -> None:
        if resource in self.mapped:
            raise self.refused("CUDA_ERROR_ALREADY_MAPPED", "it is mapped")
        del self.resources[resource]
        self.calls.append(("unregister",))

    def cuGraphicsMapResources(self, count: int, resources: Any, hStream: int) -> None:
        (resource,) = (int(resources[i]) for i in range(count))
        if resource in self.mapped:
            raise self.refused("CUDA_ERROR_ALREADY_MAPPED", "it is mapped")
        self.mapped.add(resource)
        self.calls.append(("map", hStream))

    def cuGraphicsUnmapResources(self, count: int, resources: Any, hStream: int) -> None:
        (resource,) = (int(resources[i]) for i in range(count))
        if resource not in self.mapped:
            raise self.refused("CUDA_ERROR_NOT_MAPPED", "it is not mapped")
        self.mapped.remove(resource)
        self.calls.append(("unmap", hStream))

    def cuGraphicsResourceGetMappedPointer(self, resource: int) -> tuple[Any, int]:
        if self.resources[resource] != BUFFER:
            raise self.refused("CUDA_ERROR_NOT_MAPPED_AS_POINTER", "it is an image")
        return int(self.memory), SIZE

    def cuGraphicsResourceGetMappedEglFrame(self, resource: int, index: int, mipLevel: int) -> Any:
        frame = self.w.driver.CUeglFrame(planeCount=1, frameType=1, pitch=64, height=4)
        frame.frame.pPitch = [int(self.memory), 0, 0]
        for name, value in self.frame.items():
            setattr(frame, name, value)
        return frame


@pytest.fixture(scope="module")
def graphics() -> Iterator[Graphics]:
    with world() as w:
        w.device.set_current()
        yield Graphics(w)


@pytest.fixture
def gl(graphics: Graphics) -> Iterator[Graphics]:
    graphics.w.settle()
    graphics.calls.clear()
    graphics.frame.clear()
    yield graphics
    graphics.w.settle()
    assert graphics.resources == {} and graphics.mapped == set()


def kinds(gl: Graphics) -> list[str]:
    return [call[0] for call in gl.calls]


def test_a_buffer_is_mapped_and_used(gl: Graphics) -> None:
    w = gl.w
    stream = w.device.create_stream()
    with w.core.GraphicsResource.from_gl_buffer(BUFFER) as resource:
        assert not resource.is_mapped and resource.handle == resource.resource_handle != 0
        with resource.map(stream=stream) as buffer:
            assert resource.is_mapped and (buffer.handle, buffer.size) == (int(gl.memory), SIZE)
            assert buffer.device_id == 0 and buffer.is_device_accessible and not buffer.is_host_accessible
            buffer.fill(9, stream=stream)
            found = np.empty(SIZE, np.uint8)
            buffer.copy_to(found, stream=stream)
            stream.sync()
            assert set(found.tolist()) == {9}
            with pytest.raises(RuntimeError, match="is mapped already"):
                resource.map(stream=stream)
        assert not resource.is_mapped
        with pytest.raises(RuntimeError, match="is not mapped"):
            resource.unmap()
        again = resource.map()
        resource.unmap()
        assert again.is_closed
    number = int(stream.handle)
    default = gl.calls[3][1]
    assert gl.calls == [
        ("register", BUFFER, 0),
        ("map", number),
        ("unmap", number),
        ("map", default),
        ("unmap", default),
        ("unregister",),
    ]
    assert resource.is_closed and resource.handle == 0 and not resource.is_mapped
    resource.close()
    for act in (resource.map, resource.unmap, resource.__enter__):
        with pytest.raises(RuntimeError, match="is closed"):
            act()


def test_with_a_stream_the_block_has_the_buffer(gl: Graphics) -> None:
    stream = gl.w.device.create_stream()
    with gl.w.core.GraphicsResource.from_gl_buffer(BUFFER, stream=stream) as buffer:
        assert buffer.size == SIZE
    assert buffer.is_closed
    assert kinds(gl) == ["register", "map", "unmap", "unregister"]


@pytest.mark.parametrize("method", ["unmap", "close", "buffer"])
def test_it_is_unmapped_in_another_stream(gl: Graphics, method: str) -> None:
    first, second = gl.w.device.create_stream(), gl.w.device.create_stream()
    resource = gl.w.core.GraphicsResource.from_gl_buffer(BUFFER)
    buffer = resource.map(stream=first)
    if method == "buffer":
        buffer.close(second)
    else:
        getattr(resource, method)(stream=second)
    assert gl.calls[1:3] == [("map", int(first.handle)), ("unmap", int(second.handle))]
    resource.close()


def test_the_last_reference_unmaps_and_unregisters(gl: Graphics) -> None:
    resource = gl.w.core.GraphicsResource.from_gl_buffer(BUFFER)
    buffer = resource.map()
    del resource
    gl.w.settle()
    assert kinds(gl) == ["register", "map"]
    del buffer
    gl.w.settle()
    assert kinds(gl) == ["register", "map", "unmap", "unregister"]
    resource = gl.w.core.GraphicsResource.from_gl_buffer(BUFFER)
    resource.map()
    assert not resource.is_mapped  # nobody has the buffer
    resource.close()


def test_a_graph_keeps_what_it_uses(gl: Graphics) -> None:
    w = gl.w
    resource = w.core.GraphicsResource.from_gl_buffer(BUFFER)
    buffer = resource.map()
    definition = w.graph.GraphDefinition()
    definition.memset(buffer, 1, SIZE)
    resource.close()
    w.settle()
    assert kinds(gl) == ["register", "map"]
    del definition, buffer
    for _ in range(1000):  # the driver's own thread says when nothing uses the graph any more
        w.settle()
        if "unregister" in kinds(gl):
            break
        time.sleep(0.01)
    assert kinds(gl) == ["register", "map", "unmap", "unregister"]


@pytest.mark.parametrize(
    ("flags", "number"),
    [
        (None, 0),
        ("none", 0),
        ("read_only", 1),
        (("write_discard",), 2),
        (["surface_load_store", "read_only"], 5),
        ("texture_gather", 8),
        ((), 0),
    ],
)
def test_flags(gl: Graphics, flags: Any, number: int) -> None:
    core = gl.w.core
    core.GraphicsResource.from_gl_buffer(BUFFER, flags=flags).close()
    core.GraphicsResource.from_gl_image(IMAGE, GL_TEXTURE_2D, flags=flags).close()
    core.GraphicsResource.from_egl_image(EGL, flags=flags).close()
    assert [call[1:] for call in gl.calls if call[0] == "register"] == [
        (BUFFER, number),
        (IMAGE, GL_TEXTURE_2D, number),
        (EGL, number),
    ]


def test_what_is_wrong(gl: Graphics) -> None:
    make = gl.w.core.GraphicsResource
    for act, error, message in (
        (make, TypeError, "from_gl_buffer"),
        (lambda: make.from_gl_buffer(BUFFER, flags="readonly"), ValueError, "Did you mean 'read_only'"),
        (lambda: make.from_gl_buffer(BUFFER, flags=[5]), ValueError, "5 is none of 'none'"),
        (lambda: make.from_gl_buffer("vbo"), TypeError, "integer"),
        (lambda: make.from_gl_buffer(-1), OverflowError, "-1"),
        (lambda: make.from_gl_buffer(BUFFER, stream=5), TypeError, "__cuda_stream__"),
        (lambda: make.from_gl_image(IMAGE, 2.5), TypeError, "whole number"),
        (lambda: make.from_gl_buffer(99), gl.w.core.CUDAError, "there is no such object"),
    ):
        with pytest.raises(error, match=message):
            act()
    assert gl.calls == []


def test_an_image_has_no_address(gl: Graphics) -> None:
    with gl.w.core.GraphicsResource.from_gl_image(IMAGE, GL_TEXTURE_2D) as resource:
        with pytest.raises(gl.w.core.CUDAError, match="CUDA_ERROR_NOT_MAPPED_AS_POINTER"):
            resource.map()
        assert not resource.is_mapped
    assert kinds(gl) == ["register", "map", "unmap", "unregister"]


def test_an_image_of_egl_is_mapped_from_the_start(gl: Graphics) -> None:
    with gl.w.core.GraphicsResource.from_egl_image(EGL) as resource:
        with resource.map() as buffer:
            assert (buffer.handle, buffer.size) == (int(gl.memory), 256) and resource.is_mapped
        assert not resource.is_mapped
        for fields in ({"frameType": 0}, {"planeCount": 2}):
            gl.frame = fields
            with pytest.raises(RuntimeError, match="an array, or has several planes"):
                resource.map()
            assert not resource.is_mapped
    assert kinds(gl) == ["register", "unregister"]


def scenario(gl: Graphics) -> None:
    stream = gl.w.device.create_stream()
    resource = gl.w.core.GraphicsResource.from_gl_buffer(BUFFER)
    buffer = resource.map(stream=stream)
    buffer.fill(1, stream=stream)
    buffer.close()
    with gl.w.core.GraphicsResource.from_gl_buffer(BUFFER, stream=stream) as other:
        other.fill(2, stream=stream)
    resource.map(stream=stream).fill(3, stream=stream)
    kept = resource.map()
    resource.unmap(stream=stream)
    assert kept.is_closed
    kept = resource.map()
    resource.close(stream)
    stream.sync()


def test_whatever_call_fails_nothing_is_lost(gl: Graphics, monkeypatch: pytest.MonkeyPatch) -> None:
    w, heard = gl.w, []  # type: tuple[World, list[Any]]
    monkeypatch.setattr(sys, "unraisablehook", lambda args: heard.append(args.exc_value))
    scenario(gl)
    number = 0
    while True:
        number += 1
        w.owned._reported.clear()
        heard.clear()
        with w.simulator.failing(call=number, status="CUDA_ERROR_OUT_OF_MEMORY") as calls:
            try:
                scenario(gl)
            except RuntimeError as caught:  # what was not unmapped is mapped already
                heard.append(caught.with_traceback(None) if not is_of_a_release(caught) else caught)
                traceback.clear_frames(caught.__traceback__)
        if not calls.failed:
            break
        w.settle()
        if "Unmap" in calls.failed or "Unregister" in calls.failed or any(map(is_of_a_release, heard)):
            assert calls.failed in str(heard)  # it was told, and is lost
            heard.clear()
            w.settle()
            gl.mapped.clear()
            gl.resources.clear()
        assert gl.resources == {} and gl.mapped == set(), calls.failed
    assert number > 20


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ there")
def test_nothing_is_lost_whenever_ctrl_c_comes(gl: Graphics, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: heard.append(args.exc_value))
    scenario(gl)
    number, came = 0, True
    while came:
        number, came = number + 1, False
        before = gl.w.alive()
        try:
            with Interrupting(gl.w, number) as calls:
                scenario(gl)
        except KeyboardInterrupt as error:
            came = True
            traceback.clear_frames(error.__traceback__)
        calls.end()
        assert came == bool(calls.came)
        assert not gl.w.leak(before), calls.came
        assert gl.resources == {} and gl.mapped == set() and heard == [], calls.came
    assert number > 20
