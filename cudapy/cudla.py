"""cuDLA, CUDA for the deep learning accelerators of NVIDIA's Jetson and DRIVE: every function of cudla.h.

Functions return `(status, results...)`, and None for each result after a failure; the status is a
cudlaStatus. `checked` has the same functions returning the results alone and raising CUDAError.

After them comes the face of `cuda.bindings`: `create_device`, `submit_task`, ... return the results alone,
handles as ints, and structs and enums with the names that it has for them; a failure raises CudlaError.

The library is for Linux on aarch64. The simulator has no accelerator.
"""

from __future__ import annotations

import ctypes

from ._bindings.errors import Raiser
from ._bindings.libraries import loader, meanings, recipes
from ._ffi.lazy_types import on_demand, with_dtypes
from ._ffi.library import Checked, Library
from ._ffi.snake_case import Face, FaceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ._checked import cudla as _checked
    from ._ffi.scalars import void_p
    from ._types.cudla import *
else:
    __getattr__, __dir__ = with_dtypes(globals(), *on_demand(globals(), "._types", "cudla"))


def _describe() -> str:
    from . import pathfinder

    return pathfinder.load("cudla").path


_raiser = Raiser(meanings("CUDLASTATUS"))
libcudla = Library(loader("cudla"), "cudlaStatus", _describe, _raiser, recipes=recipes("CUDLA"))
if TYPE_CHECKING:
    checked = _checked
else:
    checked = Checked(globals(), libcudla)


@libcudla(
    "cudlaStatus cudlaGetVersion(uint64_t *const version)",
)
def cudlaGetVersion() -> tuple[cudlaStatus, int]:
    """Return the version of the library: 1000000 * major + 1000 * minor + patch."""


@libcudla(
    "cudlaStatus cudlaDeviceGetCount(uint64_t *const pNumDevices)",
)
def cudlaDeviceGetCount() -> tuple[cudlaStatus, int]:
    """Return how many accelerators there are."""


@libcudla(
    "cudlaStatus cudlaCreateDevice(uint64_t const device, cudlaDevHandle *const devHandle, "
    "uint32_t const flags)",
)
def cudlaCreateDevice(device: int, flags: int) -> tuple[cudlaStatus, cudlaDevHandle]:
    """Make a handle of accelerator `device`; `flags`: a cudlaMode."""


@libcudla(
    "cudlaStatus cudlaDestroyDevice(cudlaDevHandle const devHandle)",
)
def cudlaDestroyDevice(devHandle: cudlaDevHandle | int | None) -> tuple[cudlaStatus]:
    """Destroy a handle of cudlaCreateDevice."""


@libcudla(
    "cudlaStatus cudlaDeviceGetAttribute(cudlaDevHandle const devHandle, cudlaDevAttributeType const attrib, "
    "cudlaDevAttribute *const pAttribute)",
)
def cudlaDeviceGetAttribute(
    devHandle: cudlaDevHandle | int | None, attrib: cudlaDevAttributeType | int
) -> tuple[cudlaStatus, cudlaDevAttribute]:
    """Return an attribute of a device."""


@libcudla(
    "cudlaStatus cudlaMemRegister(cudlaDevHandle const devHandle, const uint64_t *const ptr, "
    "size_t const size, uint64_t **const devPtr, uint32_t const flags)",
    later=("ptr",),
)
def cudlaMemRegister(
    devHandle: cudlaDevHandle | int | None, ptr: void_p, size: int, flags: int
) -> tuple[cudlaStatus, int]:
    """Register `size` bytes of device memory for an accelerator, and return the address that it has
    there.
    """


@libcudla(
    "cudlaStatus cudlaMemUnregister(cudlaDevHandle const devHandle, const uint64_t *const devPtr)",
    later=("devPtr",),
)
def cudlaMemUnregister(devHandle: cudlaDevHandle | int | None, devPtr: void_p) -> tuple[cudlaStatus]:
    """Undo cudlaMemRegister or an import; `devPtr` is what that returned."""


@libcudla(
    "cudlaStatus cudlaImportExternalMemory(cudlaDevHandle const devHandle, "
    "const cudlaExternalMemoryHandleDesc *const desc, uint64_t **const devPtr, uint32_t const flags)",
)
def cudlaImportExternalMemory(
    devHandle: cudlaDevHandle | int | None, desc: cudlaExternalMemoryHandleDesc | None, flags: int
) -> tuple[cudlaStatus, int]:
    """Import memory of NvSci, and return its address."""


@libcudla(
    "cudlaStatus cudlaImportExternalSemaphore(cudlaDevHandle const devHandle, "
    "const cudlaExternalSemaphoreHandleDesc *const desc, uint64_t **const devPtr, uint32_t const flags)",
)
def cudlaImportExternalSemaphore(
    devHandle: cudlaDevHandle | int | None, desc: cudlaExternalSemaphoreHandleDesc | None, flags: int
) -> tuple[cudlaStatus, int]:
    """Import a synchronization object of NvSci, and return its address."""


@libcudla(
    "cudlaStatus cudlaGetNvSciSyncAttributes(uint64_t *attrList, uint32_t const flags)",
    later=("attrList",),
)
def cudlaGetNvSciSyncAttributes(attrList: void_p, flags: int) -> tuple[cudlaStatus]:
    """Write what `flags`, cudlaNvSciSyncAttributes, need to a list of attributes of NvSci."""


@libcudla(
    "cudlaStatus cudlaModuleLoadFromMemory(cudlaDevHandle const devHandle, const uint8_t *const pModule, "
    "size_t const moduleSize, cudlaModule *const hModule, uint32_t const flags)",
    sizes={"pModule": "moduleSize"},
)
def cudlaModuleLoadFromMemory(
    devHandle: cudlaDevHandle | int | None, pModule: Sequence[int] | None, moduleSize: int, flags: int
) -> tuple[cudlaStatus, cudlaModule]:
    """Load a network, `moduleSize` bytes that the compiler for accelerators made."""


@libcudla(
    "cudlaStatus cudlaModuleGetAttributes(cudlaModule const hModule, "
    "cudlaModuleAttributeType const attrType, cudlaModuleAttribute *const attribute)",
)
def cudlaModuleGetAttributes(
    hModule: cudlaModule | int | None,
    attrType: cudlaModuleAttributeType | int,
    attribute: cudlaModuleAttribute | None,
) -> tuple[cudlaStatus]:
    """Write an attribute of a module to `attribute`; descriptors to the array that it has, as long as
    their number.
    """


@libcudla(
    "cudlaStatus cudlaModuleUnload(cudlaModule const hModule, uint32_t const flags)",
)
def cudlaModuleUnload(hModule: cudlaModule | int | None, flags: int) -> tuple[cudlaStatus]:
    """Unload a network."""


@libcudla(
    "cudlaStatus cudlaSubmitTask(cudlaDevHandle const devHandle, const cudlaTask *const ptrToTasks, "
    "uint32_t const numTasks, void *const stream, uint32_t const flags)",
    sizes={"ptrToTasks": "numTasks"},
)
def cudlaSubmitTask(
    devHandle: cudlaDevHandle | int | None,
    ptrToTasks: Sequence[cudlaTask] | None,
    numTasks: int,
    stream: void_p,
    flags: int,
) -> tuple[cudlaStatus]:
    """Submit tasks in a stream of CUDA; what they point to stays until the stream is done."""


@libcudla(
    "cudlaStatus cudlaSetTaskTimeoutInMs(cudlaDevHandle const devHandle, uint32_t const timeout)",
)
def cudlaSetTaskTimeoutInMs(devHandle: cudlaDevHandle | int | None, timeout: int) -> tuple[cudlaStatus]:
    """Set after how many milliseconds a task fails."""


@libcudla(
    "cudlaStatus cudlaGetLastError(cudlaDevHandle const devHandle)",
)
def cudlaGetLastError(devHandle: cudlaDevHandle | int | None) -> tuple[cudlaStatus]:
    """Return the last asynchronous error of a device, as the status."""


# -- The face of cuda.bindings ------------------------------------------------------------------------


class CudlaError(FaceError):
    """A cuDLA function failed; `status` is the Status."""

    @staticmethod
    def statuses(status: int) -> Status:
        from ._types.cudla import Status

        return Status(status)


def _twins() -> dict[type, Any]:
    from ._types.cudla import TWINS

    return TWINS


_face = Face(CudlaError, _raiser, _twins)


def check_status(status: int) -> None:
    """Raise CudlaError for a status that is not 0."""
    if status:
        raise CudlaError(status)


@_face(cudlaGetVersion)
def get_version() -> int: ...


@_face(cudlaDeviceGetCount)
def device_get_count() -> int: ...


@_face(cudlaCreateDevice)
def create_device(device: int, flags: int) -> int: ...


@_face(cudlaDestroyDevice)
def destroy_device(dev_handle: int) -> None: ...


@_face(cudlaDeviceGetAttribute)
def device_get_attribute(dev_handle: int, attrib: DevAttributeType | int) -> DevAttribute: ...


@_face(cudlaMemRegister)
def mem_register(dev_handle: int, ptr: void_p, size: int, flags: int) -> int: ...


@_face(cudlaMemUnregister)
def mem_unregister(dev_handle: int, dev_ptr: void_p) -> None: ...


@_face(cudlaImportExternalMemory)
def import_external_memory(dev_handle: int, desc: ExternalMemoryHandleDesc | None, flags: int) -> int: ...


@_face(cudlaImportExternalSemaphore)
def import_external_semaphore(
    dev_handle: int, desc: ExternalSemaphoreHandleDesc | None, flags: int
) -> int: ...


@_face(cudlaGetNvSciSyncAttributes)
def get_nv_sci_sync_attributes(attr_list: void_p, flags: int) -> None: ...


@_face(cudlaModuleLoadFromMemory)
def module_load_from_memory(
    dev_handle: int, p_module: Sequence[int] | None, module_size: int, flags: int
) -> int: ...


def module_get_attributes(h_module: int, attr_type: ModuleAttributeType | int) -> Any:
    """Return an attribute of a module: a ModuleAttribute, or for descriptors a list of
    ModuleTensorDescriptor.
    """
    from ._types.cudla import cudlaModuleAttribute, cudlaModuleAttributeType, cudlaModuleTensorDescriptor

    kind = cudlaModuleAttributeType
    numbers = {
        kind.CUDLA_INPUT_TENSOR_DESCRIPTORS: kind.CUDLA_NUM_INPUT_TENSORS,
        kind.CUDLA_OUTPUT_TENSOR_DESCRIPTORS: kind.CUDLA_NUM_OUTPUT_TENSORS,
        kind.CUDLA_OUTPUT_TASK_STATISTICS_DESCRIPTORS: kind.CUDLA_NUM_OUTPUT_TASK_STATISTICS,
    }
    attribute, count = cudlaModuleAttribute(), numbers.get(kind(attr_type))
    if count is None:
        _face.call(cudlaModuleGetAttributes, h_module, attr_type, attribute)
        return _face.plain(attribute)
    _face.call(cudlaModuleGetAttributes, h_module, count, attribute)
    array = (cudlaModuleTensorDescriptor * attribute.numInputTensors)()
    if len(array):
        attribute = cudlaModuleAttribute(inputTensorDesc=ctypes.addressof(array))
        _face.call(cudlaModuleGetAttributes, h_module, attr_type, attribute)
    return _face.plain(list(array))


@_face(cudlaModuleUnload)
def module_unload(h_module: int, flags: int) -> None: ...


@_face(cudlaSubmitTask)
def submit_task(
    dev_handle: int, ptr_to_tasks: Sequence[Task] | None, num_tasks: int, stream: void_p, flags: int
) -> None: ...


@_face(cudlaSetTaskTimeoutInMs)
def set_task_timeout_in_ms(dev_handle: int, timeout: int) -> None: ...


def get_last_error(dev_handle: int) -> int:
    """Return the last asynchronous error of a device: a Status."""
    (status,) = cudlaGetLastError(dev_handle)
    return CudlaError.statuses(status)
