"""What a device can do: one property for each attribute that the driver tells of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import driver
from ...driver import CUdevice_attribute, CUresult


class DeviceProperties:
    """The attributes of a device, asked for once each. Sizes are in bytes, clock rates in kHz.

    The names are those of CUdevice_attribute in lower case, without CU_DEVICE_ATTRIBUTE_. What the driver is
    too old to know is 0 or False. Source: cuDeviceGetAttribute.
    """

    max_threads_per_block: int
    max_block_dim_x: int
    max_block_dim_y: int
    max_block_dim_z: int
    max_grid_dim_x: int
    max_grid_dim_y: int
    max_grid_dim_z: int
    max_shared_memory_per_block: int
    total_constant_memory: int
    warp_size: int
    max_pitch: int
    maximum_texture1d_width: int
    maximum_texture1d_linear_width: int
    maximum_texture1d_mipmapped_width: int
    maximum_texture2d_width: int
    maximum_texture2d_height: int
    maximum_texture2d_linear_width: int
    maximum_texture2d_linear_height: int
    maximum_texture2d_linear_pitch: int
    maximum_texture2d_mipmapped_width: int
    maximum_texture2d_mipmapped_height: int
    maximum_texture3d_width: int
    maximum_texture3d_height: int
    maximum_texture3d_depth: int
    maximum_texture3d_width_alternate: int
    maximum_texture3d_height_alternate: int
    maximum_texture3d_depth_alternate: int
    maximum_texturecubemap_width: int
    maximum_texture1d_layered_width: int
    maximum_texture1d_layered_layers: int
    maximum_texture2d_layered_width: int
    maximum_texture2d_layered_height: int
    maximum_texture2d_layered_layers: int
    maximum_texturecubemap_layered_width: int
    maximum_texturecubemap_layered_layers: int
    maximum_surface1d_width: int
    maximum_surface2d_width: int
    maximum_surface2d_height: int
    maximum_surface3d_width: int
    maximum_surface3d_height: int
    maximum_surface3d_depth: int
    maximum_surface1d_layered_width: int
    maximum_surface1d_layered_layers: int
    maximum_surface2d_layered_width: int
    maximum_surface2d_layered_height: int
    maximum_surface2d_layered_layers: int
    maximum_surfacecubemap_width: int
    maximum_surfacecubemap_layered_width: int
    maximum_surfacecubemap_layered_layers: int
    max_registers_per_block: int
    clock_rate: int
    texture_alignment: int
    texture_pitch_alignment: int
    gpu_overlap: bool
    multiprocessor_count: int
    kernel_exec_timeout: bool
    integrated: bool
    can_map_host_memory: bool
    compute_mode: int
    concurrent_kernels: bool
    ecc_enabled: bool
    pci_bus_id: int
    pci_device_id: int
    pci_domain_id: int
    tcc_driver: bool
    memory_clock_rate: int
    global_memory_bus_width: int
    l2_cache_size: int
    max_threads_per_multiprocessor: int
    unified_addressing: bool
    compute_capability_major: int
    compute_capability_minor: int
    global_l1_cache_supported: bool
    local_l1_cache_supported: bool
    max_shared_memory_per_multiprocessor: int
    max_registers_per_multiprocessor: int
    managed_memory: bool
    multi_gpu_board: bool
    multi_gpu_board_group_id: int
    host_native_atomic_supported: bool
    single_to_double_precision_perf_ratio: int
    pageable_memory_access: bool
    concurrent_managed_access: bool
    compute_preemption_supported: bool
    can_use_host_pointer_for_registered_mem: bool
    cooperative_launch: bool
    max_shared_memory_per_block_optin: int
    pageable_memory_access_uses_host_page_tables: bool
    direct_managed_mem_access_from_host: bool
    virtual_memory_management_supported: bool
    handle_type_posix_file_descriptor_supported: bool
    handle_type_win32_handle_supported: bool
    handle_type_win32_kmt_handle_supported: bool
    max_blocks_per_multiprocessor: int
    generic_compression_supported: bool
    max_persisting_l2_cache_size: int
    max_access_policy_window_size: int
    gpu_direct_rdma_with_cuda_vmm_supported: bool
    reserved_shared_memory_per_block: int
    sparse_cuda_array_supported: bool
    read_only_host_register_supported: bool
    memory_pools_supported: bool
    gpu_direct_rdma_supported: bool
    gpu_direct_rdma_flush_writes_options: int
    gpu_direct_rdma_writes_ordering: int
    mempool_supported_handle_types: int
    deferred_mapping_cuda_array_supported: bool
    numa_config: int
    numa_id: int
    multicast_supported: bool
    surface_alignment: int
    async_engine_count: int
    can_tex2d_gather: bool
    maximum_texture2d_gather_width: int
    maximum_texture2d_gather_height: int
    stream_priorities_supported: bool
    can_flush_remote_writes: bool
    host_register_supported: bool
    timeline_semaphore_interop_supported: bool
    cluster_launch: bool
    can_use_64_bit_stream_mem_ops: bool
    can_use_stream_wait_value_nor: bool
    dma_buf_supported: bool
    ipc_event_supported: bool
    mem_sync_domain_count: int
    tensor_map_access_supported: bool
    handle_type_fabric_supported: bool
    unified_function_pointers: bool
    mps_enabled: bool
    host_numa_id: int
    d3d12_cig_supported: bool
    mem_decompress_algorithm_mask: int
    mem_decompress_maximum_length: int
    vulkan_cig_supported: bool
    gpu_pci_device_id: int
    gpu_pci_subsystem_id: int
    host_numa_virtual_memory_management_supported: bool
    host_numa_memory_pools_supported: bool
    host_numa_multinode_ipc_supported: bool
    host_memory_pools_supported: bool
    host_virtual_memory_management_supported: bool
    host_alloc_dma_buf_supported: bool
    only_partial_host_native_atomic_supported: bool

    def __init__(self, device_id: int) -> None:
        self._device_id = device_id

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            kind = _KINDS.get(name)
            if kind is None:
                raise AttributeError(f"a device has no property {name!r}")
            attribute = CUdevice_attribute[f"CU_DEVICE_ATTRIBUTE_{name.upper()}"]
            status, value = driver.cuDeviceGetAttribute(attribute, self._device_id)
            if status == CUresult.CUDA_ERROR_INVALID_VALUE:
                value = 0
            elif status:
                arguments = {"attrib": attribute, "dev": self._device_id}
                raise driver.libcuda.error("cuDeviceGetAttribute", status, arguments)
            property_value = self.__dict__[name] = kind(value)
            return property_value

    def __setattr__(self, name: str, value: object) -> None:
        if name in _KINDS:
            raise AttributeError(f"{name} is a property of the device, and cannot be set")
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_KINDS]

    def __repr__(self) -> str:
        return f"<DeviceProperties of device {self._device_id}>"


_KINDS = {name: bool if kind == "bool" else int for name, kind in DeviceProperties.__annotations__.items()}
