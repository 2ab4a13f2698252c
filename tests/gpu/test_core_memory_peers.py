"""Buffers of several devices."""

from __future__ import annotations

import numpy as np
import pytest
from cudapy.core.utils import copy_batch

from cudapy.core import CUDAError, Device, DeviceMemoryResource, DeviceMemoryResourceOptions

from .core_kernels import content

pytestmark = pytest.mark.gpu


@pytest.fixture
def other(device):
    """A second device, which can reach the first."""
    devices = Device.get_all_devices()
    if len(devices) == 1:
        pytest.skip("there is one GPU")
    if not devices[1].can_access_peer(device):
        pytest.skip("the second GPU cannot reach the first")
    return devices[1]


def test_a_copy_from_another_device_needs_access_to_its_pool(device, stream, other) -> None:
    resource = DeviceMemoryResource(device, DeviceMemoryResourceOptions())
    there = resource.allocate(256, stream=stream)
    there.fill(7, stream=stream)
    stream.sync()
    other.set_current()
    own = other.create_stream()
    here = other.allocate(256, own)
    here.fill(0, stream=own)
    with pytest.raises(CUDAError, match=r"on devices 0 and 1: .* `peer_accessible_by`") as caught:
        here.copy_from(there, stream=own)
    assert caught.value.name == "CUDA_ERROR_INVALID_VALUE"
    with pytest.raises(CUDAError, match="on devices 0 and 1"):
        there.copy_to(here, stream=own)
    assert set(content(here, np.uint8, own).tolist()) == {0}
    resource.peer_accessible_by = [other]
    here.copy_from(there, stream=own)
    assert set(content(here, np.uint8, own).tolist()) == {7}


def test_a_new_pool_has_no_access_of_an_older_one(device, stream, other) -> None:
    for _ in range(20):  # one of them is likely to be where another was
        resource = DeviceMemoryResource(device, DeviceMemoryResourceOptions())
        assert not resource.peer_accessible_by
        resource.peer_accessible_by = [other]
        resource.allocate(256, stream=stream).close()
        stream.sync()
        resource.close()


def test_copies_and_fills_go_in_a_stream_of_their_device_whatever_is_current(device, other) -> None:
    stream = other.create_stream()
    there, again = other.allocate(256, stream), other.allocate(256, stream)
    device.set_current()
    there.copy_from(np.arange(256, dtype=np.uint8), stream=stream)
    again.copy_from(there, stream=stream)
    found, filled = np.empty(256, np.uint8), np.empty(256, np.uint8)
    again.copy_to(found, stream=stream)
    again.fill(7, stream=stream)
    copy_batch(stream, [again], [there])
    there.copy_to(filled, stream=stream)
    stream.sync()
    assert found.tolist() == list(range(256)) and set(filled.tolist()) == {7}
    assert Device().device_id == device.device_id


def test_the_peers_of_a_pool_are_a_set(device, other) -> None:
    peers = DeviceMemoryResource(device, DeviceMemoryResourceOptions()).peer_accessible_by
    peers ^= [other]
    assert set(peers) == {other} and repr(peers) == repr({other})
    assert peers | {device} == {other, device} and type(peers | {device}) is set
    peers.intersection_update([other, device], {1})
    assert set(peers) == {other}
    peers.difference_update([device], [other])
    assert set(peers) == set()
    peers.symmetric_difference_update([1])
    peers.symmetric_difference_update([1])
    assert set(peers) == set()
    peers.add(other)
    peers.intersection_update([device])
    assert set(peers) == set()


def test_a_device_that_cannot_reach_a_pool(device, other, monkeypatch) -> None:
    peers = DeviceMemoryResource(device, DeviceMemoryResourceOptions()).peer_accessible_by
    monkeypatch.setattr(Device, "can_access_peer", lambda peer, own: False)
    with pytest.raises(ValueError, match="device 1 cannot use the memory of device 0"):
        peers.add(other)
    assert set(peers) == set()
