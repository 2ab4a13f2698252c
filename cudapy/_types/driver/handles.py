"""The handles, integer typedefs and callback types of cuda.h and its interoperability headers."""

from __future__ import annotations

from ..._ffi.handles import Callback, Int, Pointer, UInt, UInt64


class cuuint32_t(UInt):
    """An unsigned 32 bit integer as the driver API names it."""


class cuuint64_t(UInt64):
    """An unsigned 64 bit integer as the driver API names it."""


class CUdeviceptr(UInt64):
    """An address in device memory, as an unsigned integer counted in bytes."""


class CUdevice(Int):
    """A device's ordinal number as the driver counts it, from 0."""


class CUtexObject(UInt64):
    """A texture object, as a number to pass to kernels for sampled reads."""


class CUsurfObject(UInt64):
    """A surface object, as a number to pass to kernels for array reads and writes."""


class CUmemGenericAllocationHandle(UInt64):
    """Handle of physical memory that can be mapped to an address or shared."""


class CUgraphConditionalHandle(UInt64):
    """Handle through which a kernel sets the value that steers a conditional graph node."""


class CUlogIterator(UInt):
    """A position in the driver's log, from which to read later messages."""


class CUlogicalEndpointId(UInt):
    """The number of a logical endpoint, reserved before the endpoint is created."""


class CUcontext(Pointer):
    """Handle of a context: the driver's state for one device in this process."""


class CUmodule(Pointer):
    """Handle of a module: code and global variables loaded into one context."""


class CUfunction(Pointer):
    """Handle of a kernel in a module, ready to launch in that module's context."""


class CUlibrary(Pointer):
    """Handle of a loaded library: code that is not tied to any one context."""


class CUkernel(CUfunction):
    """Handle of a kernel in a library, usable in any context."""


class CUarray(Pointer):
    """Handle of an array: opaque device memory laid out for textures and surfaces."""


class CUmipmappedArray(Pointer):
    """Handle of a mipmapped array: a chain of arrays of falling size."""


class CUtexref(Pointer):
    """Handle of a legacy texture reference in a module; texture objects replace it."""


class CUsurfref(Pointer):
    """Handle of a legacy surface reference in a module; surface objects replace it."""


class CUevent(Pointer):
    """Handle of an event: a point in a stream to wait for or to time."""


class CUstream(Pointer):
    """Handle of a stream: a queue of device work that runs in order."""

    def __cuda_stream__(self) -> tuple[int, int]:
        """The stream protocol: its version, 0, and the handle."""
        return 0, self.value


class CUgraphicsResource(Pointer):
    """Handle of a graphics resource that is registered for use by CUDA."""


class CUexternalMemory(Pointer):
    """Handle of memory imported from another API, such as Vulkan or Direct3D."""


class CUexternalSemaphore(Pointer):
    """Handle of a semaphore imported from another API, such as Vulkan or Direct3D."""


class CUgraph(Pointer):
    """Handle of a graph: nodes of work and the dependencies between them."""


class CUgraphNode(Pointer):
    """Handle of one node of a graph, such as a kernel launch or a copy."""


class CUgraphExec(Pointer):
    """Handle of an instantiated graph, ready to launch in a stream."""


class CUmemoryPool(Pointer):
    """Handle of a memory pool that stream-ordered allocations come from."""


class CUuserObject(Pointer):
    """Handle of a counted reference to user data that graphs can keep alive."""


class CUlinkState(Pointer):
    """Handle of a link in progress, to which inputs are added before completing it."""


class CUeglStreamConnection(Pointer):
    """Handle of CUDA's connection to an EGL stream, as producer or consumer."""


class CUgraphDeviceNode(Pointer):
    """Handle by which device code updates a kernel node of a running graph."""


class CUasyncCallbackHandle(Pointer):
    """Handle of a registered async notification callback, used to unregister it."""


class CUgreenCtx(Pointer):
    """Handle of a green context: a light context that owns part of a device's SMs."""


class CUdevResourceDesc(Pointer):
    """Handle of a description of device resources from which a green context is made."""


class CUlogsCallbackHandle(Pointer):
    """Handle of a registered log callback, used to unregister it."""


class CUcoredumpCallbackHandle(Pointer):
    """Handle of a registered core dump callback, used to deregister it."""


class CUcheckpointOperationHandle(Pointer):
    """Handle of a checkpoint or restore with custom storage that is still to be completed."""


class CUhostFn(Callback):
    """A host function that a stream or graph calls with one pointer; it must not call CUDA."""

    _thunk = "ctypes.CFUNCTYPE(None, ctypes.c_void_p)"


class CUstreamCallback(Callback):
    """A host function that a stream calls with its handle, its status and one pointer."""

    _thunk = "ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)"


class CUoccupancyB2DSize(Callback):
    """A function from block size in threads to dynamic shared memory in bytes."""

    _thunk = "ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)"


class CUasyncCallback(Callback):
    """A function the driver calls with each async notification of a device."""


class CUlogsCallback(Callback):
    """A function the driver calls with each log message and its level."""


class CUcoredumpStatusCallback(Callback):
    """A function the driver calls when a GPU core dump starts or is complete."""


class CUgraphRecaptureCallback(Callback):
    """A function the driver calls for each node whose parameters differ on recapture."""


class GLenum(UInt):
    """OpenGL's type for symbolic constants (32 bits, unsigned)."""


class GLuint(UInt):
    """OpenGL's unsigned 32 bit integer, used for object names."""


class EGLint(Int):
    """EGL's integer type, used for attributes and sizes (32 bits, signed)."""


class EGLImageKHR(Pointer):
    """Handle of an EGL image, such as a frame to share with CUDA."""


class EGLStreamKHR(Pointer):
    """Handle of an EGL stream that carries frames from a producer to a consumer."""


class EGLSyncKHR(Pointer):
    """Handle of an EGL sync object, such as a fence to wait on."""


class VdpDevice(UInt):
    """The number of a VDPAU device, which decodes and presents video."""


class VdpGetProcAddress(Callback):
    """The VDPAU function that looks up the other VDPAU functions."""


class VdpOutputSurface(UInt):
    """The number of a VDPAU output surface, which holds RGB pixels."""


class VdpVideoSurface(UInt):
    """The number of a VDPAU video surface, which holds decoded YUV pixels."""


CUdeviceptr_v2 = CUdeviceptr
CUdevice_v1 = CUdevice
CUtexObject_v1 = CUtexObject
CUsurfObject_v1 = CUsurfObject
CUmemGenericAllocationHandle_v1 = CUmemGenericAllocationHandle
