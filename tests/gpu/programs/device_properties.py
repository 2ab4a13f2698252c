"""Everything that a device says about itself, the way a deviceQuery in Python prints it."""

from cuda.bindings import driver as cu
from cuda.bindings import runtime as rt

err, count = rt.cudaGetDeviceCount()
print(err, count >= 1)
err, prop = rt.cudaGetDeviceProperties(0)
print(err, type(prop.name).__name__, prop.name.decode().rstrip("\0").startswith("NVIDIA"))
MOVING = {"pciBusID", "pciDeviceID", "pciDomainID", "luid"}
for field in sorted(f for f in dir(prop) if not f.startswith("_") and f != "getPtr"):
    value = getattr(prop, field)
    if callable(value):
        continue
    if field == "uuid":
        print(field, len(value.bytes))
    elif field in MOVING:
        print(field, type(value).__name__)
    else:
        print(field, repr(value) if isinstance(value, (int, float, bytes, list)) else type(value).__name__)
print(len(prop.uuid.bytes), type(prop.uuid.bytes).__name__)
err, device = cu.cuDeviceGet(0)
print(repr(device), int(device))
err, name = cu.cuDeviceGetName(64, device)
print(err, type(name).__name__, name.split(b"\0")[0] == prop.name.split(b"\0")[0])
for attribute in sorted({int(a): a for a in cu.CUdevice_attribute}.values()):
    err, value = cu.cuDeviceGetAttribute(attribute, device)
    if "PCI" not in attribute.name and "LUID" not in attribute.name and attribute < 145:
        print(int(attribute), err.name, value)
for attribute in sorted({int(a): a for a in rt.cudaDeviceAttr}.values()):
    if "Pci" not in attribute.name and attribute < 145:
        err, value = rt.cudaDeviceGetAttribute(attribute, 0)
        print(int(attribute), err.name, value)
print(cu.cuDeviceTotalMem(device)[1] == prop.totalGlobalMem, cu.cuDeviceComputeCapability(device))
err, bus = rt.cudaDeviceGetPCIBusId(13, 0)
print(err, type(bus).__name__, len(bus))
print(rt.cudaDeviceGetByPCIBusId(bus), cu.cuDeviceGetByPCIBusId(bus))
err, uuid = cu.cuDeviceGetUuid(device)
print(err, type(uuid).__name__, len(uuid.bytes), bytes(uuid.bytes) == bytes(prop.uuid.bytes))
print(
    cu.cuDeviceGetProperties(device)[1].maxThreadsPerBlock, cu.cuDeviceGetProperties(device)[1].maxThreadsDim
)
print(
    cu.cuDevicePrimaryCtxGetState(device)[0],
    cu.cuDriverGetVersion()[1] >= 12000,
    rt.cudaDriverGetVersion()[1] >= 12000,
)
print(rt.cudaRuntimeGetVersion()[1] >= 12000)
for limit in (
    rt.cudaLimit.cudaLimitStackSize,
    rt.cudaLimit.cudaLimitMallocHeapSize,
    rt.cudaLimit.cudaLimitPrintfFifoSize,
):
    print(limit.name, rt.cudaDeviceGetLimit(limit))
print(
    rt.cudaDeviceSetLimit(rt.cudaLimit.cudaLimitStackSize, 2048),
    rt.cudaDeviceGetLimit(rt.cudaLimit.cudaLimitStackSize),
)
print(rt.cudaDeviceGetCacheConfig(), rt.cudaGetDevice(), rt.cudaGetDeviceFlags())
print(rt.cudaChooseDevice(prop), rt.cudaInitDevice(0, 0, 0))
print(rt.cudaDeviceCanAccessPeer(0, 0), rt.cudaDeviceEnablePeerAccess(0, 0), rt.cudaGetLastError())
print(cu.cuDeviceCanAccessPeer(device, device), cu.cuDeviceGet(999), cu.cuDeviceGetCount()[1] >= 1)
print(cu.cuDeviceGetTexture1DLinearMaxWidth(cu.CUarray_format.CU_AD_FORMAT_FLOAT, 1, device)[0].name)
print(rt.cudaDeviceGetP2PAttribute(rt.cudaDeviceP2PAttr.cudaDevP2PAttrAccessSupported, 0, 0)[0])
