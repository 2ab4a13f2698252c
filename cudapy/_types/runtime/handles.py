"""The handles, integer typedefs and callback types of the Runtime API.

A class made from one of the driver is its twin: it names the same thing, and either is taken for the other.
"""

from ..._ffi.handles import Callback, Pointer
from ..driver.handles import (
    CUarray,
    CUdevResourceDesc,
    CUeglStreamConnection,
    CUevent,
    CUexternalMemory,
    CUexternalSemaphore,
    CUfunction,
    CUgraph,
    CUgraphConditionalHandle,
    CUgraphDeviceNode,
    CUgraphExec,
    CUgraphicsResource,
    CUgraphNode,
    CUhostFn,
    CUkernel,
    CUlibrary,
    CUlogIterator,
    CUlogsCallbackHandle,
    CUmemoryPool,
    CUmipmappedArray,
    CUstream,
    CUsurfObject,
    CUtexObject,
    CUuserObject,
    EGLImageKHR,
    EGLint,
    EGLStreamKHR,
    EGLSyncKHR,
    GLenum,
    GLuint,
    VdpDevice,
    VdpGetProcAddress,
    VdpOutputSurface,
    VdpVideoSurface,
)


class cudaArray_t(CUarray, twin=True):
    """Handle of an array: opaque device memory laid out for textures and surfaces."""


class cudaMipmappedArray_t(CUmipmappedArray, twin=True):
    """Handle of a mipmapped array: a chain of arrays of falling size."""


class cudaStream_t(CUstream, twin=True):
    """Handle of a stream: a queue of device work that runs in order."""


class cudaEvent_t(CUevent, twin=True):
    """Handle of an event: a point in a stream to wait for or to time."""


class cudaGraphicsResource_t(CUgraphicsResource, twin=True):
    """Handle of a graphics resource that is registered for use by CUDA."""


class cudaExternalMemory_t(CUexternalMemory, twin=True):
    """Handle of memory imported from another API, such as Vulkan or Direct3D."""


class cudaExternalSemaphore_t(CUexternalSemaphore, twin=True):
    """Handle of a semaphore imported from another API, such as Vulkan or Direct3D."""


class cudaGraph_t(CUgraph, twin=True):
    """Handle of a graph: nodes of work and the dependencies between them."""


class cudaGraphNode_t(CUgraphNode, twin=True):
    """Handle of one node of a graph, such as a kernel launch or a copy."""


class cudaGraphExec_t(CUgraphExec, twin=True):
    """Handle of an instantiated graph, ready to launch in a stream."""


class cudaUserObject_t(CUuserObject, twin=True):
    """Handle of a counted reference to user data that graphs can keep alive."""


class cudaFunction_t(CUfunction, twin=True):
    """Handle of a kernel as the driver's modules have it, ready to launch."""


class cudaKernel_t(CUkernel, twin=True):
    """Handle of a kernel in a library, usable on any device."""


class cudaLibrary_t(CUlibrary, twin=True):
    """Handle of a loaded library: code that is not tied to any one device."""


class cudaMemPool_t(CUmemoryPool, twin=True):
    """Handle of a memory pool that stream-ordered allocations come from."""


class cudaGraphDeviceNode_t(CUgraphDeviceNode, twin=True):
    """Handle by which device code updates a kernel node of a running graph."""


class cudaAsyncCallbackHandle_t(Pointer):
    """Handle of a registered async notification callback, used to unregister it."""


class cudaLogsCallbackHandle(CUlogsCallbackHandle, twin=True):
    """Handle of a registered log callback, used to unregister it."""


class cudaEglStreamConnection(CUeglStreamConnection, twin=True):
    """Handle of CUDA's connection to an EGL stream, as producer or consumer."""


class cudaDevResourceDesc_t(CUdevResourceDesc, twin=True):
    """Handle of a description of device resources from which a green context is made."""


class cudaExecutionContext_t(Pointer):
    """Handle of an execution context: a device, or the part of it that a green context owns."""


class cudaGraphConditionalHandle(CUgraphConditionalHandle, twin=True):
    """Handle through which a kernel sets the value that steers a conditional graph node."""


class cudaLogIterator(CUlogIterator, twin=True):
    """A position in the log, from which to read later messages."""


class cudaSurfaceObject_t(CUsurfObject, twin=True):
    """A surface object, as a number to pass to kernels for array reads and writes."""


class cudaTextureObject_t(CUtexObject, twin=True):
    """A texture object, as a number to pass to kernels for sampled reads."""


class cudaHostFn_t(CUhostFn, twin=True):
    """A host function that a stream or graph calls with one pointer; it must not call CUDA."""


class cudaAsyncCallback(Callback):
    """A function that CUDA calls with each async notification of a device."""


class cudaStreamCallback_t(Callback):
    """A host function that a stream calls with its handle, its status and one pointer."""


class cudaGraphRecaptureCallback_t(Callback):
    """A function that CUDA calls for each node whose parameters differ on recapture."""


class cudaLogsCallback_t(Callback):
    """A function that CUDA calls with each log message and its level."""


cudaArray_const_t = cudaArray_t
cudaMipmappedArray_const_t = cudaMipmappedArray_t
cudaGraphicsResource = (
    cudaGraphicsResource_t  # prototypes have a pointer to this struct where they mean the handle
)

__all__ = [
    "EGLImageKHR",
    "EGLStreamKHR",
    "EGLSyncKHR",
    "EGLint",
    "GLenum",
    "GLuint",
    "VdpDevice",
    "VdpGetProcAddress",
    "VdpOutputSurface",
    "VdpVideoSurface",
    "cudaArray_const_t",
    "cudaArray_t",
    "cudaAsyncCallback",
    "cudaAsyncCallbackHandle_t",
    "cudaDevResourceDesc_t",
    "cudaEglStreamConnection",
    "cudaEvent_t",
    "cudaExecutionContext_t",
    "cudaExternalMemory_t",
    "cudaExternalSemaphore_t",
    "cudaFunction_t",
    "cudaGraphConditionalHandle",
    "cudaGraphDeviceNode_t",
    "cudaGraphExec_t",
    "cudaGraphNode_t",
    "cudaGraphRecaptureCallback_t",
    "cudaGraph_t",
    "cudaGraphicsResource",
    "cudaGraphicsResource_t",
    "cudaHostFn_t",
    "cudaKernel_t",
    "cudaLibrary_t",
    "cudaLogIterator",
    "cudaLogsCallbackHandle",
    "cudaLogsCallback_t",
    "cudaMemPool_t",
    "cudaMipmappedArray_const_t",
    "cudaMipmappedArray_t",
    "cudaStreamCallback_t",
    "cudaStream_t",
    "cudaSurfaceObject_t",
    "cudaTextureObject_t",
    "cudaUserObject_t",
]
