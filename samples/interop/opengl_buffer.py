"""OpenGL: a kernel writes the vertices that OpenGL draws, where they are.

    python samples/interop/opengl_buffer.py

The buffer object belongs to OpenGL. While it is mapped, a kernel writes points on a circle to it; then OpenGL
draws them, without a window, and nothing was copied. The picture has the circle in it.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from cudapy import simulator
from cudapy.core import Device, GraphicsResource, LaunchConfig, Program, launch

KERNEL = """
extern "C" __global__ void circle(float2 *points, int n, float radius)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        points[i] = make_float2(radius * cospif(2.0f * i / n), radius * sinpif(2.0f * i / n));
}
"""
VERTICES = """
#version 330
in vec2 position;
void main() { gl_Position = vec4(position, 0.0, 1.0); }
"""
PIXELS = """
#version 330
out vec4 color;
void main() { color = vec4(1.0); }
"""
N, THREADS, SIDE, RADIUS = 4096, 256, 128, 0.75


def main() -> int:
    if not find_spec("moderngl"):
        print("WAIVED: needs moderngl")
        return 77
    if simulator.stand_in():
        print("WAIVED: OpenGL needs a GPU")
        return 77
    moderngl: Any = import_module("moderngl")
    device = Device()
    device.set_current()
    try:
        gl = moderngl.create_context(standalone=True, backend="egl")
        vertices = gl.buffer(reserve=8 * N)
        resource = GraphicsResource.from_gl_buffer(vertices.glo, flags="write_discard")
    except Exception as error:  # of moderngl, its own kinds
        print(f"WAIVED: no OpenGL of this device without a window: {str(error).splitlines()[0]}")
        return 77

    kernel = Program(KERNEL, "c++").compile("cubin").get_kernel("circle")
    stream = device.create_stream()
    with resource:
        with resource.map(stream=stream) as points:  # OpenGL's until the end of the block
            config = LaunchConfig(grid=N // THREADS, block=THREADS)
            launch(stream, config, kernel, points, N, RADIUS)

        picture = gl.simple_framebuffer((SIDE, SIDE))
        picture.use()
        picture.clear()
        program = gl.program(vertex_shader=VERTICES, fragment_shader=PIXELS)
        gl.vertex_array(program, [(vertices, "2f", "position")]).render(moderngl.POINTS)
        pixels = np.frombuffer(picture.read(components=1), np.uint8).reshape(SIDE, SIDE)

    rows, columns = np.nonzero(pixels)
    distances = np.hypot(*((np.stack([rows, columns]) + 0.5) * 2 / SIDE - 1))
    off = float(np.abs(distances - RADIUS).max()) if distances.size else 1.0
    print(f"{N} points, {distances.size} pixels of a circle, at most {off * SIDE / 2:.2f} pixels off")
    right = distances.size > 2 * SIDE and off < 3 / SIDE
    print("PASS" if right else "FAIL")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
