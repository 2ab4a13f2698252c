"""The types of cudla.h, CUDA 13.2 to 13.5, and the names that `cuda.bindings` has for them.

A field that is a pointer is an address when read; an address, a struct, an array or a buffer when set, which the
struct keeps.
"""

from __future__ import annotations

from .._ffi.enums import Enum
from .._ffi.face_structs import FaceStruct, FaceUnion
from .._ffi.handles import Pointer
from .._ffi.scalars import c_uchar, c_uint, c_ulonglong, void_p
from .._ffi.structs import Struct, Union

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    from .._ffi.scalars import Bytes

CUDLA_VER_MAJOR = 1
CUDLA_VER_MINOR = 5
CUDLA_VER_PATCH = 0
CUDLA_DATA_FORMAT_UNKNOWN = 0
CUDLA_DATA_FORMAT_NCHW = 1
CUDLA_DATA_FORMAT_NHWC = 2
CUDLA_DATA_FORMAT_NCxHWx = 3
CUDLA_DATA_TYPE_UNKNOWN = 0
CUDLA_DATA_TYPE_FLOAT = 1
CUDLA_DATA_TYPE_HALF = 2
CUDLA_DATA_TYPE_INT16 = 3
CUDLA_DATA_TYPE_INT8 = 4
CUDLA_DATA_TYPE_UINT8 = 5
CUDLA_DATA_TYPE_UINT16 = 6
CUDLA_DATA_CATEGORY_IMAGE = 0
CUDLA_DATA_CATEGORY_WEIGHT = 1
CUDLA_DATA_CATEGORY_FEATURE = 2
CUDLA_DATA_CATEGORY_PLANAR = 3
CUDLA_DATA_CATEGORY_BIAS = 4
CUDLA_PIXEL_FORMAT_R8 = 0
CUDLA_PIXEL_FORMAT_R10 = 1
CUDLA_PIXEL_FORMAT_R12 = 2
CUDLA_PIXEL_FORMAT_R16 = 3
CUDLA_PIXEL_FORMAT_R16_I = 4
CUDLA_PIXEL_FORMAT_R16_F = 5
CUDLA_PIXEL_FORMAT_A16B16G16R16 = 6
CUDLA_PIXEL_FORMAT_X16B16G16R16 = 7
CUDLA_PIXEL_FORMAT_A16B16G16R16_F = 8
CUDLA_PIXEL_FORMAT_A16Y16U16V16 = 9
CUDLA_PIXEL_FORMAT_V16U16Y16A16 = 10
CUDLA_PIXEL_FORMAT_A16Y16U16V16_F = 11
CUDLA_PIXEL_FORMAT_A8B8G8R8 = 12
CUDLA_PIXEL_FORMAT_A8R8G8B8 = 13
CUDLA_PIXEL_FORMAT_B8G8R8A8 = 14
CUDLA_PIXEL_FORMAT_R8G8B8A8 = 15
CUDLA_PIXEL_FORMAT_X8B8G8R8 = 16
CUDLA_PIXEL_FORMAT_X8R8G8B8 = 17
CUDLA_PIXEL_FORMAT_B8G8R8X8 = 18
CUDLA_PIXEL_FORMAT_R8G8B8X8 = 19
CUDLA_PIXEL_FORMAT_A2B10G10R10 = 20
CUDLA_PIXEL_FORMAT_A2R10G10B10 = 21
CUDLA_PIXEL_FORMAT_B10G10R10A2 = 22
CUDLA_PIXEL_FORMAT_R10G10B10A2 = 23
CUDLA_PIXEL_FORMAT_A2Y10U10V10 = 24
CUDLA_PIXEL_FORMAT_V10U10Y10A2 = 25
CUDLA_PIXEL_FORMAT_A8Y8U8V8 = 26
CUDLA_PIXEL_FORMAT_V8U8Y8A8 = 27
CUDLA_PIXEL_FORMAT_Y8___U8V8_N444 = 28
CUDLA_PIXEL_FORMAT_Y8___V8U8_N444 = 29
CUDLA_PIXEL_FORMAT_Y10___U10V10_N444 = 30
CUDLA_PIXEL_FORMAT_Y10___V10U10_N444 = 31
CUDLA_PIXEL_FORMAT_Y12___U12V12_N444 = 32
CUDLA_PIXEL_FORMAT_Y12___V12U12_N444 = 33
CUDLA_PIXEL_FORMAT_Y16___U16V16_N444 = 34
CUDLA_PIXEL_FORMAT_Y16___V16U16_N444 = 35
CUDLA_PIXEL_FORMAT_FEATURE = 36
CUDLA_PIXEL_FORMAT_UNKNOWN = 37
CUDLA_PIXEL_MAPPING_PITCH_LINEAR = 0
CUDLA_PIXEL_MAPPING_BLOCK_LINEAR = 1
CUDLA_LOADABLE_TENSOR_DESC_NUM_STRIDES = 8
CUDLA_RUNTIME_TENSOR_DESC_NAME_MAX_LEN = 80


class cudlaStatus(Enum):
    """What a cuDLA call returns."""

    cudlaSuccess = 0
    cudlaErrorInvalidParam = 1
    cudlaErrorOutOfResources = 2
    cudlaErrorCreationFailed = 3
    cudlaErrorInvalidAddress = 4
    cudlaErrorOs = 5
    cudlaErrorCuda = 6
    cudlaErrorUmd = 7
    cudlaErrorInvalidDevice = 8
    cudlaErrorInvalidAttribute = 9
    cudlaErrorIncompatibleDlaSWVersion = 10
    cudlaErrorMemoryRegistered = 11
    cudlaErrorInvalidModule = 12
    cudlaErrorUnsupportedOperation = 13
    cudlaErrorNvSci = 14
    cudlaErrorDriverNotFound = 15
    cudlaErrorDlaErrInvalidInput = 1073741825
    cudlaErrorDlaErrInvalidPreAction = 1073741826
    cudlaErrorDlaErrNoMem = 1073741827
    cudlaErrorDlaErrProcessorBusy = 1073741828
    cudlaErrorDlaErrTaskStatusMismatch = 1073741829
    cudlaErrorDlaErrEngineTimeout = 1073741830
    cudlaErrorDlaErrDataMismatch = 1073741831
    cudlaErrorUnknown = 2147483647


class cudlaMode(Enum):
    """How a device is made: beside CUDA, or without it."""

    CUDLA_CUDA_DLA = 0
    CUDLA_STANDALONE = 1


class cudlaScratchMemoryConfig(Enum):
    """How modules have their scratch memory."""

    CUDLA_SCRATCH_MEMORY_DEFAULT = 0
    CUDLA_SCRATCH_MEMORY_SHARED_STATIC = 2
    CUDLA_SCRATCH_MEMORY_CONFIG_MAX = 2147483647


class cudlaNvSciSyncAttributes(Enum):
    """What a synchronization object of NvSci is for."""

    CUDLA_NVSCISYNC_ATTR_WAIT = 1
    CUDLA_NVSCISYNC_ATTR_SIGNAL = 2


class cudlaModuleAttributeType(Enum):
    """What cudlaModuleGetAttributes tells."""

    CUDLA_NUM_INPUT_TENSORS = 0
    CUDLA_NUM_OUTPUT_TENSORS = 1
    CUDLA_INPUT_TENSOR_DESCRIPTORS = 2
    CUDLA_OUTPUT_TENSOR_DESCRIPTORS = 3
    CUDLA_NUM_OUTPUT_TASK_STATISTICS = 4
    CUDLA_OUTPUT_TASK_STATISTICS_DESCRIPTORS = 5


class cudlaFenceType(Enum):
    """The kind of a fence."""

    CUDLA_NVSCISYNC_FENCE = 1
    CUDLA_NVSCISYNC_FENCE_SOF = 2


class cudlaModuleLoadFlags(Enum):
    """How a module is loaded."""

    CUDLA_MODULE_DEFAULT = 0
    CUDLA_MODULE_ENABLE_FAULT_DIAGNOSTICS = 1


class cudlaSubmissionFlags(Enum):
    """How tasks are submitted."""

    CUDLA_SUBMIT_NOOP = 1
    CUDLA_SUBMIT_SKIP_LOCK_ACQUIRE = 2
    CUDLA_SUBMIT_DIAGNOSTICS_TASK = 4


class cudlaAccessPermissionFlags(Enum):
    """What memory is registered for."""

    CUDLA_READ_WRITE_PERM = 0
    CUDLA_READ_ONLY_PERM = 1
    CUDLA_TASK_STATISTICS = 2


class cudlaDevAttributeType(Enum):
    """What cudlaDeviceGetAttribute tells."""

    CUDLA_UNIFIED_ADDRESSING = 0
    CUDLA_DEVICE_VERSION = 1


class cudlaDevHandle(Pointer):
    """A device: a deep learning accelerator."""


class cudlaModule(Pointer):
    """A network that is loaded to a device."""


class cudlaExternalMemoryHandleDesc(Struct):
    """Memory of NvSci to import, and its size in bytes."""

    extBufObject: void_p
    size: c_ulonglong


cudlaExternalMemoryHandleDesc_t = cudlaExternalMemoryHandleDesc


class cudlaExternalSemaphoreHandleDesc(Struct):
    """A synchronization object of NvSci to import."""

    extSyncObject: void_p


cudlaExternalSemaphoreHandleDesc_t = cudlaExternalSemaphoreHandleDesc


class cudlaModuleTensorDescriptor(Struct):
    """A tensor of a module: its name, size in bytes, dimensions, format (CUDLA_*) and strides."""

    name: Annotated[Bytes, "char[81]", "text"]
    size: c_ulonglong
    n: c_ulonglong
    c: c_ulonglong
    h: c_ulonglong
    w: c_ulonglong
    dataFormat: c_uchar
    dataType: c_uchar
    dataCategory: c_uchar
    pixelFormat: c_uchar
    pixelMapping: c_uchar
    stride: Annotated[list[int], "unsigned int[8]"]


cudlaModuleTensorDescriptor_t = cudlaModuleTensorDescriptor


class cudlaModuleAttribute(Union):
    """An attribute of a module. For descriptors it has, when C is called, the array that C writes them to."""

    numInputTensors: c_uint
    numOutputTensors: c_uint
    inputTensorDesc: void_p
    outputTensorDesc: void_p


cudlaModuleAttribute_t = cudlaModuleAttribute


class CudlaFence(Struct):
    """A fence of NvSci."""

    fence: void_p
    type: cudlaFenceType


class cudlaWaitEvents(Struct):
    """What a task waits for."""

    preFences: void_p
    numEvents: c_uint


class cudlaSignalEvents(Struct):
    """What a task signals at its end."""

    devPtrs: void_p
    eofFences: void_p
    numEvents: c_uint


class cudlaTask(Struct):
    """A run of a module: the registered memory of its tensors, what it waits for and what it signals."""

    moduleHandle: cudlaModule
    outputTensor: void_p
    numOutputTensors: c_uint
    numInputTensors: c_uint
    inputTensor: void_p
    waitEvents: void_p
    signalEvents: void_p


cudlaTask_t = cudlaTask


class cudlaDevAttribute(Union):
    """An attribute of a device."""

    unifiedAddressingSupported: c_uchar
    deviceVersion: c_uint


cudlaDevAttribute_t = cudlaDevAttribute


class Status(Enum):
    """A cudlaStatus under the name that the raising face has for it."""

    SUCCESS = 0
    Success = 0
    ERROR_INVALID_PARAM = 1
    ErrorInvalidParam = 1
    ERROR_OUT_OF_RESOURCES = 2
    ErrorOutOfResources = 2
    ERROR_CREATION_FAILED = 3
    ErrorCreationFailed = 3
    ERROR_INVALID_ADDRESS = 4
    ErrorInvalidAddress = 4
    ERROR_OS = 5
    ErrorOs = 5
    ERROR_CUDA = 6
    ErrorCuda = 6
    ERROR_UMD = 7
    ErrorUmd = 7
    ERROR_INVALID_DEVICE = 8
    ErrorInvalidDevice = 8
    ERROR_INVALID_ATTRIBUTE = 9
    ErrorInvalidAttribute = 9
    ERROR_INCOMPATIBLE_DLA_SW_VERSION = 10
    ErrorIncompatibleDlaSWVersion = 10
    ERROR_MEMORY_REGISTERED = 11
    ErrorMemoryRegistered = 11
    ERROR_INVALID_MODULE = 12
    ErrorInvalidModule = 12
    ERROR_UNSUPPORTED_OPERATION = 13
    ErrorUnsupportedOperation = 13
    ERROR_NV_SCI = 14
    ErrorNvSci = 14
    ERROR_DRIVER_NOT_FOUND = 15
    ErrorDriverNotFound = 15
    ERROR_DLA_ERR_INVALID_INPUT = 1073741825
    ErrorDlaErrInvalidInput = 1073741825
    ERROR_DLA_ERR_INVALID_PRE_ACTION = 1073741826
    ErrorDlaErrInvalidPreAction = 1073741826
    ERROR_DLA_ERR_NO_MEM = 1073741827
    ErrorDlaErrNoMem = 1073741827
    ERROR_DLA_ERR_PROCESSOR_BUSY = 1073741828
    ErrorDlaErrProcessorBusy = 1073741828
    ERROR_DLA_ERR_TASK_STATUS_MISMATCH = 1073741829
    ErrorDlaErrTaskStatusMismatch = 1073741829
    ERROR_DLA_ERR_ENGINE_TIMEOUT = 1073741830
    ErrorDlaErrEngineTimeout = 1073741830
    ERROR_DLA_ERR_DATA_MISMATCH = 1073741831
    ErrorDlaErrDataMismatch = 1073741831
    ERROR_UNKNOWN = 2147483647
    ErrorUnknown = 2147483647


class Mode(Enum):
    """A cudlaMode under the name that the raising face has for it."""

    CUDA_DLA = 0
    STANDALONE = 1


class ScratchMemoryConfig(Enum):
    """A cudlaScratchMemoryConfig under the name that the raising face has for it."""

    DEFAULT = 0
    SCRATCH_MEMORY_DEFAULT = 0
    SHARED_STATIC = 2
    SCRATCH_MEMORY_SHARED_STATIC = 2
    CONFIG_MAX = 2147483647
    MAX = 2147483647


class ModuleAttributeType(Enum):
    """A cudlaModuleAttributeType under the name that the raising face has for it."""

    NUM_INPUT_TENSORS = 0
    NUM_OUTPUT_TENSORS = 1
    INPUT_TENSOR_DESCRIPTORS = 2
    OUTPUT_TENSOR_DESCRIPTORS = 3
    NUM_OUTPUT_TASK_STATISTICS = 4
    OUTPUT_TASK_STATISTICS_DESCRIPTORS = 5


class FenceType(Enum):
    """A cudlaFenceType under the name that the raising face has for it."""

    FENCE = 1
    NVSCISYNC_FENCE = 1
    FENCE_SOF = 2
    NVSCISYNC_FENCE_SOF = 2


class ModuleLoadFlags(Enum):
    """A cudlaModuleLoadFlags under the name that the raising face has for it."""

    DEFAULT = 0
    MODULE_DEFAULT = 0
    ENABLE_FAULT_DIAGNOSTICS = 1
    MODULE_ENABLE_FAULT_DIAGNOSTICS = 1


class SubmissionFlags(Enum):
    """A cudlaSubmissionFlags under the name that the raising face has for it."""

    NOOP = 1
    SUBMIT_NOOP = 1
    SKIP_LOCK_ACQUIRE = 2
    SUBMIT_SKIP_LOCK_ACQUIRE = 2
    DIAGNOSTICS_TASK = 4
    SUBMIT_DIAGNOSTICS_TASK = 4


class AccessPermissionFlags(Enum):
    """A cudlaAccessPermissionFlags under the name that the raising face has for it."""

    READ_WRITE_PERM = 0
    READ_ONLY_PERM = 1
    TASK_STATISTICS = 2


class DevAttributeType(Enum):
    """A cudlaDevAttributeType under the name that the raising face has for it."""

    UNIFIED_ADDRESSING = 0
    DEVICE_VERSION = 1


class ExternalMemoryHandleDesc(FaceStruct):
    """A cudlaExternalMemoryHandleDesc under the name that the raising face has for it."""

    ext_buf_object: void_p
    size_: c_ulonglong


class ExternalSemaphoreHandleDesc(FaceStruct):
    """A cudlaExternalSemaphoreHandleDesc under the name that the raising face has for it."""

    ext_sync_object: void_p


class ModuleTensorDescriptor(FaceStruct):
    """A cudlaModuleTensorDescriptor under the name that the raising face has for it."""

    name: Annotated[str, "char[81]", "str"]
    size_: c_ulonglong
    n: c_ulonglong
    c: c_ulonglong
    h: c_ulonglong
    w: c_ulonglong
    data_format: c_uchar
    data_type: c_uchar
    data_category: c_uchar
    pixel_format: c_uchar
    pixel_mapping: c_uchar
    stride: Annotated[list[int], "unsigned int[8]"]


class Fence(FaceStruct):
    """A CudlaFence under the name that the raising face has for it."""

    fence: void_p
    type: FenceType


class WaitEvents(FaceStruct):
    """A cudlaWaitEvents under the name that the raising face has for it."""

    pre_fences: void_p
    num_events: c_uint


class SignalEvents(FaceStruct):
    """A cudlaSignalEvents under the name that the raising face has for it."""

    dev_ptrs: void_p
    eof_fences: void_p
    num_events: c_uint


class Task(FaceStruct):
    """A cudlaTask under the name that the raising face has for it."""

    module_handle: void_p
    output_tensor: void_p
    num_output_tensors: c_uint
    num_input_tensors: c_uint
    input_tensor: void_p
    wait_events: void_p
    signal_events: void_p


class ModuleAttribute(FaceUnion):
    """A cudlaModuleAttribute under the name that the raising face has for it."""

    num_input_tensors: c_uint
    num_output_tensors: c_uint
    input_tensor_desc: void_p
    output_tensor_desc: void_p


class DevAttribute(FaceUnion):
    """A cudlaDevAttribute under the name that the raising face has for it."""

    unified_addressing_supported: c_uchar
    device_version: c_uint


TWINS = {
    cudlaStatus: Status,
    cudlaMode: Mode,
    cudlaScratchMemoryConfig: ScratchMemoryConfig,
    cudlaModuleAttributeType: ModuleAttributeType,
    cudlaFenceType: FenceType,
    cudlaModuleLoadFlags: ModuleLoadFlags,
    cudlaSubmissionFlags: SubmissionFlags,
    cudlaAccessPermissionFlags: AccessPermissionFlags,
    cudlaDevAttributeType: DevAttributeType,
    cudlaExternalMemoryHandleDesc: ExternalMemoryHandleDesc,
    cudlaExternalSemaphoreHandleDesc: ExternalSemaphoreHandleDesc,
    cudlaModuleTensorDescriptor: ModuleTensorDescriptor,
    CudlaFence: Fence,
    cudlaWaitEvents: WaitEvents,
    cudlaSignalEvents: SignalEvents,
    cudlaTask: Task,
    cudlaModuleAttribute: ModuleAttribute,
    cudlaDevAttribute: DevAttribute,
}
"""The enums and structs of C, and those of the raising face."""
