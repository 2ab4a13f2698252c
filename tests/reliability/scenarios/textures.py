"""Arrays, textures, surfaces and tensor maps."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..world import World


def _array(w: World, **more: Any) -> Any:
    return w.device.create_opaque_array(w.texture.OpaqueArrayOptions((4, 2), "float32", 1, **more))


def arrays(w: World) -> None:
    stream, values = w.device.create_stream(), np.arange(8, dtype=np.float32)
    array, buffer, found = _array(w), w.device.allocate(32, stream), np.empty(8, np.float32)
    array.copy_from(values, stream=stream)
    array.copy_to(buffer, stream=stream)
    with _array(w) as other:
        other.copy_from(buffer, stream=stream)
        other.copy_to(found, stream=stream)
        stream.sync()
    assert found.tolist() == values.tolist() and other.is_closed
    assert (array.shape, array.format, array.num_channels) == ((4, 2), "float32", 1)
    assert (array.element_bytes, array.size_bytes, array.is_surface_load_store) == (4, 32, False)
    assert array.device == w.device and array.handle and not array.is_closed
    array.close()


def levels(w: World) -> None:
    stream = w.device.create_stream()
    options = w.texture.MipmappedArrayOptions((4, 2), np.uint8, 2, 2, True)
    with w.device.create_mipmapped_array(options) as made:
        assert (made.shape, made.format, made.num_channels) == ((4, 2), "uint8", 2)
        assert made.num_levels == 2 and made.is_surface_load_store and made.device == w.device and made.handle
        level, first = made.get_level(1), made.get_level(0)
    first.close()
    level.copy_from(bytes(4), stream=stream)
    stream.sync()
    assert made.is_closed


def textures(w: World) -> None:
    of, stream = w.texture.ResourceDescriptor, w.device.create_stream()
    array, buffer = _array(w, is_surface_load_store=True), w.device.allocate(256, stream)
    levels = w.device.create_mipmapped_array(
        {"shape": (4,), "format": "int8", "num_channels": 1, "num_levels": 1}
    )
    plane = of.from_pitch2d(buffer, format="float32", num_channels=1, width=4, height=4, pitch_bytes=64)
    line = of.from_linear(buffer, format="float32", num_channels=2)
    assert (plane.kind, plane.width, plane.height, plane.pitch_bytes) == ("pitch2d", 4, 4, 64)
    assert (line.source, line.format, line.num_channels, line.size_bytes) == (buffer, "float32", 2, 256)
    resources = [of.from_opaque_array(array), of.from_mipmapped_array(levels), plane, line]
    made = [w.device.create_texture_object(resource=resource) for resource in resources]
    surface = w.device.create_surface_object(resource=resources[0])
    for thing in (array, buffer, levels):
        thing.close()
    assert made[0].options == w.texture.TextureObjectOptions() and made[1].resource is resources[1]
    for thing in (*made, surface):
        assert thing.device == w.device and thing.handle and not thing.is_closed
    made[0].close()
    with surface:
        pass


def _two(w: World) -> list[Any]:
    """Textures of one array, which nobody else has."""
    resource = w.texture.ResourceDescriptor.from_opaque_array(_array(w))
    return [w.device.create_texture_object(resource=resource) for _ in range(2)]


def launches(w: World) -> None:
    """Textures in a kernel and in a graph, closed while they are used, or dropped."""
    stream = w.device.create_stream()
    first, second = _two(w)
    w.core.launch(stream, w.one, w.sample, first)
    builder = w.device.create_graph_builder().begin_building()
    w.core.launch(builder, w.one, w.sample, second)
    graph = builder.end_building().complete()
    second.close()
    graph.launch(stream)
    first.close()
    stream.sync()


def prepared(w: World) -> None:
    stream = w.device.create_stream()
    first, second = _two(w)
    run = w.core.prepare(stream, w.one, w.sample, first)
    run(second)
    run(first)
    first.close()
    stream.sync()


def tensor_maps(w: World) -> None:
    View, stream = w.utils.StridedMemoryView, w.device.create_stream()
    buffer, other = w.device.allocate(1024, stream), w.device.allocate(1024, stream)
    made = View.from_buffer(buffer, (8, 32), dtype=np.float32).as_tensor_map((8, 8))
    pixels = View.from_buffer(other, (1, 8, 8, 8), dtype=np.uint16)
    w.core.TensorMapDescriptor.from_im2col(pixels, (-1, -1), (-1, -1), 8, 16)
    try:
        w.core.TensorMapDescriptor.from_im2col_wide(pixels, -1, 1, 8, 16)
    except w.core.CUDAError as error:
        if error.name != "CUDA_ERROR_NOT_SUPPORTED":  # which a device below 10.0 says
            raise
    w.core.launch(stream, w.one, w.load, made)
    builder = w.device.create_graph_builder().begin_building()
    w.core.launch(builder, w.one, w.load, made)
    graph = builder.end_building().complete()
    made.replace_address(other)
    assert made.device == w.device
    buffer.close()
    graph.launch(stream)
    stream.sync()
