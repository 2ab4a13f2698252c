"""Devices that reach the memory of one another."""

from ..._types.driver.enums import CUdevice_P2PAttribute as PeerAttribute
from ..library import provides
from ..memory.allocations import table
from ..refused import Refused, invalid
from .context import current, get
from .device import device


@provides("driver")
def cuDeviceCanAccessPeer(dev: int, peerDev: int) -> int:
    return int(device(dev) is not device(peerDev))


@provides("driver")
def cuDeviceGetP2PAttribute(attrib: int, srcDevice: int, dstDevice: int) -> int:
    if device(srcDevice) is device(dstDevice):
        raise Refused("CUDA_ERROR_INVALID_DEVICE", "a device is not a peer of itself")
    if not any(attrib == known for known in PeerAttribute):
        raise invalid(f"{attrib} is not a CUdevice_P2PAttribute")
    can = (
        PeerAttribute.CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED,
        PeerAttribute.CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED,
        PeerAttribute.CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED,
    )
    return int(attrib in can)


@provides("driver")
def cuCtxEnablePeerAccess(peerContext: int, Flags: int) -> None:
    context, peer = current(), get(peerContext)
    if Flags:
        raise invalid(f"Flags must be 0, not {Flags}")
    if peer.device is context.device:
        raise Refused("CUDA_ERROR_INVALID_DEVICE", "the peer is a context of the same device")
    if peer in context.peers:
        raise Refused("CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "this context reaches the peer already")
    context.peers.add(peer)
    table.reach_changed()


@provides("driver")
def cuCtxDisablePeerAccess(peerContext: int) -> None:
    context, peer = current(), get(peerContext)
    if peer not in context.peers:
        raise Refused("CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "this context does not reach the peer")
    context.peers.remove(peer)
    table.reach_changed()
