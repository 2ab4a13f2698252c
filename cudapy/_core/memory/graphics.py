"""Buffers and images of OpenGL and EGL that kernels use, without a copy."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ... import driver
from ..._ffi.integers import exact_int
from ...driver import (
    CUdevice,
    CUeglFrameType,
    CUgraphicsRegisterFlags,
    CUgraphicsResource,
    CUresult,
    checked,
)
from ..closable import SlotClosable
from ..context.context import context_of
from ..context.current import c_function, owning, with_context
from ..context.green import kept_number
from ..options import suggestion
from ..ownership.owned import Ownership, Prerequisite
from ..streams.stream import IsStreamType, Stream
from .buffer import Buffer
from .pointer import Address
from .resource import OnDevice, empties

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...driver import CUdeviceptr

_FLAGS = {
    "none": CUgraphicsRegisterFlags.CU_GRAPHICS_REGISTER_FLAGS_NONE,
    "read_only": CUgraphicsRegisterFlags.CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY,
    "write_discard": CUgraphicsRegisterFlags.CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD,
    "surface_load_store": CUgraphicsRegisterFlags.CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST,
    "texture_gather": CUgraphicsRegisterFlags.CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER,
}


class GraphicsResource(SlotClosable):
    """A buffer or an image of OpenGL or EGL that CUDA knows: `from_gl_buffer`, `from_gl_image`,
    `from_egl_image`. While it is mapped it is CUDA's alone, else it is that of OpenGL or EGL.

        with GraphicsResource.from_gl_buffer(vbo) as resource:
            with resource.map(stream=stream) as buffer:
                launch(stream, config, kernel, buffer)

    OpenGL's context has to be current in the thread that registers, maps, unmaps or closes. Closed with its
    last reference or by `close`, which unmaps it.
    """

    __slots__ = ("_buffer", "_context", "_entered_in", "_handle", "_is_of_egl", "_mapped")
    _buffer: Callable[[], Buffer | None]  # what `map` has returned, as long as somebody has it
    _context: int
    _entered_in: Stream | None
    _handle: CUgraphicsResource
    _is_of_egl: bool
    _mapped: CUgraphicsResource  # null unless it is mapped

    def __init__(self) -> None:
        raise TypeError("a GraphicsResource comes from from_gl_buffer(), from_gl_image() or from_egl_image()")

    @classmethod
    def from_gl_buffer(
        cls,
        gl_buffer: int,
        *,
        flags: str | Sequence[str] | None = None,
        stream: Stream | IsStreamType | None = None,
    ) -> GraphicsResource:
        """Register a buffer object of OpenGL, by its name, a number.

        flags: how CUDA will use it, one or several of "none", "read_only", "write_discard" (all of it is
        written, and not read), "surface_load_store", "texture_gather". With `stream`, a `with` block maps the
        resource in it and gives the Buffer. Source: cuGraphicsGLRegisterBuffer.
        """
        name = exact_int(gl_buffer, "from_gl_buffer: gl_buffer")
        entered_in = None if stream is None else Stream._accept(stream)
        return cls._registered(owning.cuGraphicsGLRegisterBuffer, name, _number(flags), entered_in=entered_in)

    @classmethod
    def from_gl_image(
        cls, image: int, target: int, *, flags: str | Sequence[str] | None = None
    ) -> GraphicsResource:
        """Register a texture or renderbuffer of OpenGL, by its name, and `target`, its kind, such as
        GL_TEXTURE_2D. An image has no address: see `map`. Source: cuGraphicsGLRegisterImage.
        """
        name, kind = exact_int(image, "from_gl_image: image"), exact_int(target, "from_gl_image: target")
        return cls._registered(owning.cuGraphicsGLRegisterImage, name, kind, _number(flags))

    @classmethod
    def from_egl_image(cls, image: int, *, flags: str | Sequence[str] | None = None) -> GraphicsResource:
        """Register an EGLImage, by its address. CUDA can use it at once, and nothing waits for anything: who
        draws must have finished before. Source: cuGraphicsEGLRegisterImage.
        """
        address = exact_int(image, "from_egl_image: image")
        self = cls._registered(owning.cuGraphicsEGLRegisterImage, address, _number(flags))
        self._is_of_egl = True
        return self

    @classmethod
    def _registered(
        cls, register: Callable[..., None], *args: int, entered_in: Stream | None = None
    ) -> GraphicsResource:
        cell, self = CUgraphicsResource(), cls.__new__(cls)
        self._context = context = kept_number(context_of())
        self._ownership = Prerequisite(_unregister, cell, context=context)
        with_context(context, register, cell, *args)
        self._handle, self._mapped = CUgraphicsResource(cell.value), CUgraphicsResource()
        self._entered_in, self._buffer, self._is_of_egl = entered_in, _nothing, False
        return self

    def map(self, *, stream: Stream | IsStreamType | None = None) -> Buffer:
        """The memory as a Buffer, for later work in `stream` (None: the default stream), which comes after
        what OpenGL was told before. Closing the Buffer unmaps it.

        RuntimeError if it is mapped already, and for an EGLImage that is an array or has several planes.
        CUDAError CUDA_ERROR_NOT_MAPPED_AS_POINTER for an image of OpenGL: its memory has no address. Source:
        cuGraphicsMapResources, cuGraphicsResourceGetMappedPointer; cuGraphicsResourceGetMappedEglFrame.
        """
        handle, in_stream = self._handle, Stream._accept(stream)
        if self.is_mapped:
            raise RuntimeError(f"{self!r} is mapped already: close its Buffer, or unmap() it, before")
        assert self._ownership is not None
        self._mapped = mapped = CUgraphicsResource()
        device = with_context(self._context, checked.cuCtxGetDevice)
        mapping = _Mapping(mapped, self._ownership, device, self._is_of_egl)
        unmapping = Ownership(mapping.unmap, mapped, in_stream, context=self._context)
        try:
            with_context(self._context, mapping.map, handle, in_stream)
            address, size = with_context(self._context, _plane if self._is_of_egl else _pointer, handle)
        except BaseException:
            unmapping.close()
            raise

        def make(cell: Address) -> None:
            cell.value = address

        buffer = Buffer._adopt(make, size, mapping, in_stream, self._context)
        unmapping.forget()  # twice does no harm
        self._buffer = weakref.ref(buffer)
        return buffer

    def unmap(self, *, stream: Stream | IsStreamType | None = None) -> None:
        """Close the Buffer: OpenGL may use the memory after the work that `stream` has, by default that in
        which it was mapped. RuntimeError if it is not mapped. Source: cuGraphicsUnmapResources.
        """
        self._handle  # noqa: B018  # raises what a closed one has to say
        if not self.is_mapped:
            raise RuntimeError(f"{self!r} is not mapped")
        self._unmap(stream)

    def _unmap(self, stream: Any) -> None:
        buffer = self._buffer()
        if buffer is not None:
            buffer.close(stream)

    def close(self, stream: Stream | IsStreamType | None = None) -> None:
        """Unmap it, in `stream` as `unmap` does, and let CUDA forget it. Closing it again does nothing.

        What a graph uses goes with the graph. Source: cuGraphicsUnregisterResource.
        """
        if not self.is_closed and self.is_mapped:
            self._unmap(stream)
            if self.is_mapped and self._ownership is not None:
                self._ownership.mark_shared()  # with the graph that has the Buffer
        super().close()

    @property
    def is_mapped(self) -> bool:
        """Whether CUDA has it, and not OpenGL."""
        return not self.is_closed and bool(self._mapped.value)

    @property
    def handle(self) -> int:
        """The CUgraphicsResource as a number; 0 once it is closed."""
        try:
            return int(self._handle)
        except RuntimeError:
            return 0

    @property
    def resource_handle(self) -> int:
        """The same as `handle`."""
        return self.handle

    def __enter__(self) -> Any:
        """The resource; the Buffer, if `from_gl_buffer` was given a stream."""
        self._handle  # noqa: B018  # raises what a closed one has to say
        return self if self._entered_in is None else self.map(stream=self._entered_in)

    def __repr__(self) -> str:
        return "<GraphicsResource, closed>" if self.is_closed else f"<GraphicsResource {self.handle:#x}>"


class _Mapping(OnDevice):
    """Where the Buffer of a mapping comes from, and what unmaps it, once."""

    _is_lent = True

    def __init__(
        self, mapped: CUgraphicsResource, registered: Ownership, device: CUdevice, is_of_egl: bool
    ) -> None:
        self._device_id = int(device)
        self._is_of_egl = is_of_egl
        self._mapped = mapped
        self._registered = registered  # which must be there until it is unmapped

    def map(self, handle: CUgraphicsResource, stream: Stream) -> None:
        """Map it, and note that it is. Source: cuGraphicsMapResources; nothing of EGL needs it."""
        if self._is_of_egl:
            self._mapped.value = handle.value
            return
        one = (CUgraphicsResource * 1)(handle.value)
        (status,) = map(c_function("cuGraphicsMapResources"), (1,), (one,), (stream._handle,))
        if not status:
            self._mapped.value = handle.value  # one step: interrupt_safe
            return
        arguments = {"count": 1, "resources": [handle], "hStream": stream._handle}
        raise driver.libcuda.error("cuGraphicsMapResources", CUresult(status), arguments)

    @empties
    def deallocate(
        self, ptr: int | CUdeviceptr, size: int, stream: Stream | IsStreamType | None = None
    ) -> None:
        self.unmap(self._mapped, Stream._accept(stream))
        Address.of(ptr).value = 0

    def unmap(self, mapped: CUgraphicsResource, stream: Stream) -> None:
        """Unless that was done. Source: cuGraphicsUnmapResources."""
        if not mapped.value:
            return
        if self._is_of_egl:
            mapped.value = 0
            return
        one = (CUgraphicsResource * 1)(mapped.value)
        unmap = c_function("cuGraphicsUnmapResources")
        (status,) = map(unmap, (1,), (one,), (stream._handle,))
        if not status:
            mapped.value = 0  # one step: interrupt_safe
            return
        arguments = {"count": 1, "resources": [mapped], "hStream": stream._handle}
        raise driver.libcuda.error("cuGraphicsUnmapResources", CUresult(status), arguments)


def _pointer(handle: CUgraphicsResource) -> tuple[int, int]:
    """The address and the size of what is mapped."""
    address, size = checked.cuGraphicsResourceGetMappedPointer(handle)
    return int(address), size


def _plane(handle: CUgraphicsResource) -> tuple[int, int]:
    """The plane of an EGLImage: its rows, with the padding between them."""
    frame = checked.cuGraphicsResourceGetMappedEglFrame(handle, 0, 0)
    if frame.frameType != CUeglFrameType.CU_EGL_FRAME_TYPE_PITCH or frame.planeCount != 1:
        raise RuntimeError(
            "this EGLImage is an array, or has several planes, which are not a Buffer: "
            "cudapy.driver.cuGraphicsResourceGetMappedEglFrame has them"
        )
    return int(frame.frame.pPitch[0] or 0), frame.pitch * frame.height


def _unregister(cell: CUgraphicsResource) -> None:
    owning.cuGraphicsUnregisterResource(cell)


def _nothing() -> None:
    """Where there is no Buffer."""


def _number(flags: str | Sequence[str] | None) -> int:
    """CU_GRAPHICS_REGISTER_FLAGS_*. Raises TypeError and ValueError."""
    names = (flags,) if isinstance(flags, str) else flags or ()
    number = 0
    for name in names:
        if name not in _FLAGS:
            known = ", ".join(map(repr, _FLAGS))
            near = suggestion(name, _FLAGS) if isinstance(name, str) else ""
            raise ValueError(f"flags: {name!r} is none of {known}.{near}")
        number |= int(_FLAGS[name])
    return number
