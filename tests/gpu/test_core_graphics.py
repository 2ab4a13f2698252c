"""core on a real GPU: buffers of OpenGL, without a window."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from cudapy import simulator
from cudapy.core import CUDAError, GraphicsResource

from .core_kernels import content

pytestmark = pytest.mark.gpu

GL_TEXTURE_2D = 0x0DE1


@pytest.fixture
def gl(device):
    """An OpenGL context of EGL's, on the device that CUDA has."""
    if simulator.is_enabled():
        pytest.skip("OpenGL needs a GPU")
    moderngl = pytest.importorskip("moderngl", reason="moderngl is not installed")
    try:
        context = moderngl.create_context(standalone=True, backend="egl")
    except Exception as error:
        pytest.skip(f"no OpenGL without a window: {error}")
    if "NVIDIA" not in context.info["GL_VENDOR"]:
        pytest.skip(f"OpenGL is of {context.info['GL_VENDOR']} here")
    yield context
    context.release()


def test_a_kernel_writes_what_opengl_reads(gl, device, stream) -> None:
    data = np.arange(1024, dtype=np.uint32)
    vertices = gl.buffer(data.tobytes())
    with GraphicsResource.from_gl_buffer(vertices.glo) as resource:
        with resource.map(stream=stream) as buffer:
            assert buffer.size == data.nbytes and resource.is_mapped
            assert buffer.device_id == device.device_id and buffer.is_device_accessible
            assert np.array_equal(content(buffer, np.uint32, stream), data)
            buffer.fill(7, stream=stream)
        assert not resource.is_mapped
        assert vertices.read() == b"\7" * data.nbytes
        vertices.write(data.tobytes())
        with pytest.raises(RuntimeError, match="is not mapped"):
            resource.unmap(stream=stream)
        again = resource.map(stream=stream)
        with pytest.raises(RuntimeError, match="is mapped already"):
            resource.map(stream=stream)
        assert np.array_equal(content(again, np.uint32, stream), data)
    assert again.is_closed and resource.is_closed
    with GraphicsResource.from_gl_buffer(vertices.glo, flags="read_only", stream=stream) as buffer:
        assert np.array_equal(content(buffer, np.uint32, stream), data)


def test_an_image_has_no_address(gl, stream) -> None:
    texture = gl.texture((4, 4), 4, struct.pack("64B", *range(64)))
    with GraphicsResource.from_gl_image(texture.glo, GL_TEXTURE_2D, flags="read_only") as resource:
        with pytest.raises(CUDAError, match="CUDA_ERROR_NOT_MAPPED_AS_POINTER"):
            resource.map(stream=stream)
        assert not resource.is_mapped


def test_no_such_buffer(gl) -> None:
    with pytest.raises(CUDAError, match="cuGraphicsGLRegisterBuffer"):
        GraphicsResource.from_gl_buffer(12345)


def test_without_opengl(device) -> None:
    """The driver's reason, rather than a crash."""
    if not simulator.is_enabled():
        pytest.skip("what a driver does without a context of OpenGL is not defined")
    for make in (
        lambda: GraphicsResource.from_gl_buffer(1),
        lambda: GraphicsResource.from_gl_image(1, GL_TEXTURE_2D),
        lambda: GraphicsResource.from_egl_image(0x1000),
    ):
        with pytest.raises(CUDAError, match=r"CUDA_ERROR_NOT_SUPPORTED .* the simulator has no cuGraphics"):
            make()
