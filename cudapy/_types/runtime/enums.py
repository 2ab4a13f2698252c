"""The enums of cuda_runtime_api.h and its companions, CUDA 12.0 to 13.5."""

from ..._ffi.enums import Enum


class cudaError_t(Enum):
    """What a runtime call returned: success or the reason for failure."""

    cudaSuccess = 0
    cudaErrorInvalidValue = 1
    cudaErrorMemoryAllocation = 2
    cudaErrorInitializationError = 3
    cudaErrorCudartUnloading = 4
    cudaErrorProfilerDisabled = 5
    cudaErrorProfilerNotInitialized = 6
    cudaErrorProfilerAlreadyStarted = 7
    cudaErrorProfilerAlreadyStopped = 8
    cudaErrorInvalidConfiguration = 9
    cudaErrorVersionTranslation = 10
    cudaErrorInvalidPitchValue = 12
    cudaErrorInvalidSymbol = 13
    cudaErrorInvalidHostPointer = 16
    cudaErrorInvalidDevicePointer = 17
    cudaErrorInvalidTexture = 18
    cudaErrorInvalidTextureBinding = 19
    cudaErrorInvalidChannelDescriptor = 20
    cudaErrorInvalidMemcpyDirection = 21
    cudaErrorAddressOfConstant = 22
    cudaErrorTextureFetchFailed = 23
    cudaErrorTextureNotBound = 24
    cudaErrorSynchronizationError = 25
    cudaErrorInvalidFilterSetting = 26
    cudaErrorInvalidNormSetting = 27
    cudaErrorMixedDeviceExecution = 28
    cudaErrorNotYetImplemented = 31
    cudaErrorMemoryValueTooLarge = 32
    cudaErrorStubLibrary = 34
    cudaErrorInsufficientDriver = 35
    cudaErrorCallRequiresNewerDriver = 36
    cudaErrorInvalidSurface = 37
    cudaErrorDuplicateVariableName = 43
    cudaErrorDuplicateTextureName = 44
    cudaErrorDuplicateSurfaceName = 45
    cudaErrorDevicesUnavailable = 46
    cudaErrorIncompatibleDriverContext = 49
    cudaErrorMissingConfiguration = 52
    cudaErrorPriorLaunchFailure = 53
    cudaErrorLaunchMaxDepthExceeded = 65
    cudaErrorLaunchFileScopedTex = 66
    cudaErrorLaunchFileScopedSurf = 67
    cudaErrorSyncDepthExceeded = 68
    cudaErrorLaunchPendingCountExceeded = 69
    cudaErrorInvalidDeviceFunction = 98
    cudaErrorNoDevice = 100
    cudaErrorInvalidDevice = 101
    cudaErrorDeviceNotLicensed = 102
    cudaErrorSoftwareValidityNotEstablished = 103
    cudaErrorStartupFailure = 127
    cudaErrorInvalidKernelImage = 200
    cudaErrorDeviceUninitialized = 201
    cudaErrorMapBufferObjectFailed = 205
    cudaErrorUnmapBufferObjectFailed = 206
    cudaErrorArrayIsMapped = 207
    cudaErrorAlreadyMapped = 208
    cudaErrorNoKernelImageForDevice = 209
    cudaErrorAlreadyAcquired = 210
    cudaErrorNotMapped = 211
    cudaErrorNotMappedAsArray = 212
    cudaErrorNotMappedAsPointer = 213
    cudaErrorECCUncorrectable = 214
    cudaErrorUnsupportedLimit = 215
    cudaErrorDeviceAlreadyInUse = 216
    cudaErrorPeerAccessUnsupported = 217
    cudaErrorInvalidPtx = 218
    cudaErrorInvalidGraphicsContext = 219
    cudaErrorNvlinkUncorrectable = 220
    cudaErrorJitCompilerNotFound = 221
    cudaErrorUnsupportedPtxVersion = 222
    cudaErrorJitCompilationDisabled = 223
    cudaErrorUnsupportedExecAffinity = 224
    cudaErrorUnsupportedDevSideSync = 225
    cudaErrorContained = 226
    cudaErrorInsufficientLoaderVersion = 227
    cudaErrorInvalidSource = 300
    cudaErrorFileNotFound = 301
    cudaErrorSharedObjectSymbolNotFound = 302
    cudaErrorSharedObjectInitFailed = 303
    cudaErrorOperatingSystem = 304
    cudaErrorInvalidResourceHandle = 400
    cudaErrorIllegalState = 401
    cudaErrorLossyQuery = 402
    cudaErrorSymbolNotFound = 500
    cudaErrorNotReady = 600
    cudaErrorIllegalAddress = 700
    cudaErrorLaunchOutOfResources = 701
    cudaErrorLaunchTimeout = 702
    cudaErrorLaunchIncompatibleTexturing = 703
    cudaErrorPeerAccessAlreadyEnabled = 704
    cudaErrorPeerAccessNotEnabled = 705
    cudaErrorSetOnActiveProcess = 708
    cudaErrorContextIsDestroyed = 709
    cudaErrorAssert = 710
    cudaErrorTooManyPeers = 711
    cudaErrorHostMemoryAlreadyRegistered = 712
    cudaErrorHostMemoryNotRegistered = 713
    cudaErrorHardwareStackError = 714
    cudaErrorIllegalInstruction = 715
    cudaErrorMisalignedAddress = 716
    cudaErrorInvalidAddressSpace = 717
    cudaErrorInvalidPc = 718
    cudaErrorLaunchFailure = 719
    cudaErrorCooperativeLaunchTooLarge = 720
    cudaErrorTensorMemoryLeak = 721
    cudaErrorNotPermitted = 800
    cudaErrorNotSupported = 801
    cudaErrorSystemNotReady = 802
    cudaErrorSystemDriverMismatch = 803
    cudaErrorCompatNotSupportedOnDevice = 804
    cudaErrorMpsConnectionFailed = 805
    cudaErrorMpsRpcFailure = 806
    cudaErrorMpsServerNotReady = 807
    cudaErrorMpsMaxClientsReached = 808
    cudaErrorMpsMaxConnectionsReached = 809
    cudaErrorMpsClientTerminated = 810
    cudaErrorCdpNotSupported = 811
    cudaErrorCdpVersionMismatch = 812
    cudaErrorStreamCaptureUnsupported = 900
    cudaErrorStreamCaptureInvalidated = 901
    cudaErrorStreamCaptureMerge = 902
    cudaErrorStreamCaptureUnmatched = 903
    cudaErrorStreamCaptureUnjoined = 904
    cudaErrorStreamCaptureIsolation = 905
    cudaErrorStreamCaptureImplicit = 906
    cudaErrorCapturedEvent = 907
    cudaErrorStreamCaptureWrongThread = 908
    cudaErrorTimeout = 909
    cudaErrorGraphExecUpdateFailure = 910
    cudaErrorExternalDevice = 911
    cudaErrorInvalidClusterSize = 912
    cudaErrorFunctionNotLoaded = 913
    cudaErrorInvalidResourceType = 914
    cudaErrorInvalidResourceConfiguration = 915
    cudaErrorStreamDetached = 917
    cudaErrorGraphRecaptureFailure = 918
    cudaErrorFabricNotReady = 919
    cudaErrorUnknown = 999
    cudaErrorApiFailureBase = 10000


class cudaChannelFormatKind(Enum):
    """How the bits of a channel are read: signed, unsigned, float, normalized, compressed or a video format."""

    cudaChannelFormatKindSigned = 0
    cudaChannelFormatKindUnsigned = 1
    cudaChannelFormatKindFloat = 2
    cudaChannelFormatKindNone = 3
    cudaChannelFormatKindNV12 = 4
    cudaChannelFormatKindUnsignedNormalized8X1 = 5
    cudaChannelFormatKindUnsignedNormalized8X2 = 6
    cudaChannelFormatKindUnsignedNormalized8X4 = 7
    cudaChannelFormatKindUnsignedNormalized16X1 = 8
    cudaChannelFormatKindUnsignedNormalized16X2 = 9
    cudaChannelFormatKindUnsignedNormalized16X4 = 10
    cudaChannelFormatKindSignedNormalized8X1 = 11
    cudaChannelFormatKindSignedNormalized8X2 = 12
    cudaChannelFormatKindSignedNormalized8X4 = 13
    cudaChannelFormatKindSignedNormalized16X1 = 14
    cudaChannelFormatKindSignedNormalized16X2 = 15
    cudaChannelFormatKindSignedNormalized16X4 = 16
    cudaChannelFormatKindUnsignedBlockCompressed1 = 17
    cudaChannelFormatKindUnsignedBlockCompressed1SRGB = 18
    cudaChannelFormatKindUnsignedBlockCompressed2 = 19
    cudaChannelFormatKindUnsignedBlockCompressed2SRGB = 20
    cudaChannelFormatKindUnsignedBlockCompressed3 = 21
    cudaChannelFormatKindUnsignedBlockCompressed3SRGB = 22
    cudaChannelFormatKindUnsignedBlockCompressed4 = 23
    cudaChannelFormatKindSignedBlockCompressed4 = 24
    cudaChannelFormatKindUnsignedBlockCompressed5 = 25
    cudaChannelFormatKindSignedBlockCompressed5 = 26
    cudaChannelFormatKindUnsignedBlockCompressed6H = 27
    cudaChannelFormatKindSignedBlockCompressed6H = 28
    cudaChannelFormatKindUnsignedBlockCompressed7 = 29
    cudaChannelFormatKindUnsignedBlockCompressed7SRGB = 30
    cudaChannelFormatKindUnsignedNormalized1010102 = 31
    cudaChannelFormatKindUnsigned8Packed422 = 32
    cudaChannelFormatKindUnsigned8Packed444 = 33
    cudaChannelFormatKindUnsigned8SemiPlanar420 = 34
    cudaChannelFormatKindUnsigned16SemiPlanar420 = 35
    cudaChannelFormatKindUnsigned8SemiPlanar422 = 36
    cudaChannelFormatKindUnsigned16SemiPlanar422 = 37
    cudaChannelFormatKindUnsigned8SemiPlanar444 = 38
    cudaChannelFormatKindUnsigned16SemiPlanar444 = 39
    cudaChannelFormatKindUnsigned8Planar420 = 40
    cudaChannelFormatKindUnsigned16Planar420 = 41
    cudaChannelFormatKindUnsigned8Planar422 = 42
    cudaChannelFormatKindUnsigned16Planar422 = 43
    cudaChannelFormatKindUnsigned8Planar444 = 44
    cudaChannelFormatKindUnsigned16Planar444 = 45


class cudaMemoryType(Enum):
    """What kind of memory an address belongs to: unregistered, host, device or managed."""

    cudaMemoryTypeUnregistered = 0
    cudaMemoryTypeHost = 1
    cudaMemoryTypeDevice = 2
    cudaMemoryTypeManaged = 3


class cudaMemcpyKind(Enum):
    """The direction of a copy; cudaMemcpyDefault reads it off the two addresses."""

    cudaMemcpyHostToHost = 0
    cudaMemcpyHostToDevice = 1
    cudaMemcpyDeviceToHost = 2
    cudaMemcpyDeviceToDevice = 3
    cudaMemcpyDefault = 4


class cudaAccessProperty(Enum):
    """How L2 should treat accesses: normally, as streaming data or as data to keep."""

    cudaAccessPropertyNormal = 0
    cudaAccessPropertyStreaming = 1
    cudaAccessPropertyPersisting = 2


class cudaStreamCaptureStatus(Enum):
    """Whether a stream is being captured into a graph, and whether that has failed."""

    cudaStreamCaptureStatusNone = 0
    cudaStreamCaptureStatusActive = 1
    cudaStreamCaptureStatusInvalidated = 2


class cudaGraphRecaptureStatus(Enum):
    """Whether a recaptured node can be updated in an instantiated graph, or failed."""

    cudaGraphRecaptureEligibleForUpdate = 0
    cudaGraphRecaptureIneligibleForUpdate = 1
    cudaGraphRecaptureError = 2


class cudaStreamCaptureMode(Enum):
    """Which unsafe calls a stream capture forbids: in any thread, in this one, or none."""

    cudaStreamCaptureModeGlobal = 0
    cudaStreamCaptureModeThreadLocal = 1
    cudaStreamCaptureModeRelaxed = 2


class cudaSynchronizationPolicy(Enum):
    """How the host waits for a stream: automatically, spinning, yielding or blocking."""

    cudaSyncPolicyAuto = 1
    cudaSyncPolicySpin = 2
    cudaSyncPolicyYield = 3
    cudaSyncPolicyBlockingSync = 4


class cudaClusterSchedulingPolicy(Enum):
    """How a cluster's blocks are placed on multiprocessors: by default, spread out or load balanced."""

    cudaClusterSchedulingPolicyDefault = 0
    cudaClusterSchedulingPolicySpread = 1
    cudaClusterSchedulingPolicyLoadBalancing = 2
    cudaClusterSchedulingPolicyRubinDsmemLocality = 3


class cudaStreamUpdateCaptureDependenciesFlags(Enum):
    """Whether new dependencies are added to a capture's set or replace it."""

    cudaStreamAddCaptureDependencies = 0
    cudaStreamSetCaptureDependencies = 1


class cudaUserObjectFlags(Enum):
    """Options for a new user object, such as that its destructor is not waited for."""

    cudaUserObjectNoDestructorSync = 1


class cudaUserObjectRetainFlags(Enum):
    """Whether a graph takes over the caller's references to a user object."""

    cudaGraphUserObjectMove = 1


class cudaHostTaskSyncMode(Enum):
    """How the thread that runs host tasks waits for the next one: blocked or spinning."""

    cudaHostTaskBlocking = 0
    cudaHostTaskSpinWait = 1


class cudaGraphicsRegisterFlags(Enum):
    """How CUDA will use a registered graphics resource: read, write, surface or gather."""

    cudaGraphicsRegisterFlagsNone = 0
    cudaGraphicsRegisterFlagsReadOnly = 1
    cudaGraphicsRegisterFlagsWriteDiscard = 2
    cudaGraphicsRegisterFlagsSurfaceLoadStore = 4
    cudaGraphicsRegisterFlagsTextureGather = 8


class cudaGraphicsMapFlags(Enum):
    """How CUDA will use a mapped graphics resource: read and write, read only, or overwrite."""

    cudaGraphicsMapFlagsNone = 0
    cudaGraphicsMapFlagsReadOnly = 1
    cudaGraphicsMapFlagsWriteDiscard = 2


class cudaGraphicsCubeFace(Enum):
    """The six faces of a cubemap, in the order of its layers."""

    cudaGraphicsCubeFacePositiveX = 0
    cudaGraphicsCubeFaceNegativeX = 1
    cudaGraphicsCubeFacePositiveY = 2
    cudaGraphicsCubeFaceNegativeY = 3
    cudaGraphicsCubeFacePositiveZ = 4
    cudaGraphicsCubeFaceNegativeZ = 5


class cudaResourceType(Enum):
    """What kind of memory lies behind a texture or surface object."""

    cudaResourceTypeArray = 0
    cudaResourceTypeMipmappedArray = 1
    cudaResourceTypeLinear = 2
    cudaResourceTypePitch2D = 3


class cudaResourceViewFormat(Enum):
    """The element formats that a texture can view its array as, including block compression."""

    cudaResViewFormatNone = 0
    cudaResViewFormatUnsignedChar1 = 1
    cudaResViewFormatUnsignedChar2 = 2
    cudaResViewFormatUnsignedChar4 = 3
    cudaResViewFormatSignedChar1 = 4
    cudaResViewFormatSignedChar2 = 5
    cudaResViewFormatSignedChar4 = 6
    cudaResViewFormatUnsignedShort1 = 7
    cudaResViewFormatUnsignedShort2 = 8
    cudaResViewFormatUnsignedShort4 = 9
    cudaResViewFormatSignedShort1 = 10
    cudaResViewFormatSignedShort2 = 11
    cudaResViewFormatSignedShort4 = 12
    cudaResViewFormatUnsignedInt1 = 13
    cudaResViewFormatUnsignedInt2 = 14
    cudaResViewFormatUnsignedInt4 = 15
    cudaResViewFormatSignedInt1 = 16
    cudaResViewFormatSignedInt2 = 17
    cudaResViewFormatSignedInt4 = 18
    cudaResViewFormatHalf1 = 19
    cudaResViewFormatHalf2 = 20
    cudaResViewFormatHalf4 = 21
    cudaResViewFormatFloat1 = 22
    cudaResViewFormatFloat2 = 23
    cudaResViewFormatFloat4 = 24
    cudaResViewFormatUnsignedBlockCompressed1 = 25
    cudaResViewFormatUnsignedBlockCompressed2 = 26
    cudaResViewFormatUnsignedBlockCompressed3 = 27
    cudaResViewFormatUnsignedBlockCompressed4 = 28
    cudaResViewFormatSignedBlockCompressed4 = 29
    cudaResViewFormatUnsignedBlockCompressed5 = 30
    cudaResViewFormatSignedBlockCompressed5 = 31
    cudaResViewFormatUnsignedBlockCompressed6H = 32
    cudaResViewFormatSignedBlockCompressed6H = 33
    cudaResViewFormatUnsignedBlockCompressed7 = 34


class cudaSharedMemoryMode(Enum):
    """How much dynamic shared memory a launch may use beyond the portable amount."""

    cudaSharedMemoryModeDefault = 0
    cudaSharedMemoryModeRequirePortable = 1
    cudaSharedMemoryModeAllowNonPortable = 2
    cudaSharedMemoryModeAllowOversizedSharedMemory = 3
    cudaSharedMemoryModePreferOversizedSharedMemory = 4


class cudaFuncAttribute(Enum):
    """The settings of a kernel that can be changed: shared memory, carveout and clusters."""

    cudaFuncAttributeMaxDynamicSharedMemorySize = 8
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
    cudaFuncAttributeClusterDimMustBeSet = 10
    cudaFuncAttributeRequiredClusterWidth = 11
    cudaFuncAttributeRequiredClusterHeight = 12
    cudaFuncAttributeRequiredClusterDepth = 13
    cudaFuncAttributeNonPortableClusterSizeAllowed = 14
    cudaFuncAttributeClusterSchedulingPolicyPreference = 15
    cudaFuncAttributeSharedMemoryMode = 16
    cudaFuncAttributeMax = 17


class cudaFuncCache(Enum):
    """Which of shared memory and L1 cache a kernel would rather have more of."""

    cudaFuncCachePreferNone = 0
    cudaFuncCachePreferShared = 1
    cudaFuncCachePreferL1 = 2
    cudaFuncCachePreferEqual = 3


class cudaSharedMemConfig(Enum):
    """The width of shared memory banks: the default, four bytes or eight bytes."""

    cudaSharedMemBankSizeDefault = 0
    cudaSharedMemBankSizeFourByte = 1
    cudaSharedMemBankSizeEightByte = 2


class cudaSharedCarveout(Enum):
    """Common values for the percentage of on-chip memory to use as shared memory."""

    cudaSharedmemCarveoutDefault = -1
    cudaSharedmemCarveoutMaxShared = 100
    cudaSharedmemCarveoutMaxL1 = 0


class cudaComputeMode(Enum):
    """Who may use a device: everyone, one thread or process at a time, or nobody."""

    cudaComputeModeDefault = 0
    cudaComputeModeExclusive = 1
    cudaComputeModeProhibited = 2
    cudaComputeModeExclusiveProcess = 3


class cudaLimit(Enum):
    """The device limits that can be set: stack, heap and printf buffer in bytes, and others."""

    cudaLimitStackSize = 0
    cudaLimitPrintfFifoSize = 1
    cudaLimitMallocHeapSize = 2
    cudaLimitDevRuntimeSyncDepth = 3
    cudaLimitDevRuntimePendingLaunchCount = 4
    cudaLimitMaxL2FetchGranularity = 5
    cudaLimitPersistingL2CacheSize = 6
    cudaLimitPerBlockMemorySize = 10


class cudaMemoryAdvise(Enum):
    """Hints about managed memory: mostly read, where to keep it and who accesses it."""

    cudaMemAdviseSetReadMostly = 1
    cudaMemAdviseUnsetReadMostly = 2
    cudaMemAdviseSetPreferredLocation = 3
    cudaMemAdviseUnsetPreferredLocation = 4
    cudaMemAdviseSetAccessedBy = 5
    cudaMemAdviseUnsetAccessedBy = 6


class cudaMemRangeAttribute(Enum):
    """What can be asked about managed memory: its hints and where it was last prefetched to."""

    cudaMemRangeAttributeReadMostly = 1
    cudaMemRangeAttributePreferredLocation = 2
    cudaMemRangeAttributeAccessedBy = 3
    cudaMemRangeAttributeLastPrefetchLocation = 4
    cudaMemRangeAttributePreferredLocationType = 5
    cudaMemRangeAttributePreferredLocationId = 6
    cudaMemRangeAttributeLastPrefetchLocationType = 7
    cudaMemRangeAttributeLastPrefetchLocationId = 8


class cudaFlushGPUDirectRDMAWritesOptions(Enum):
    """How a device lets GPUDirect RDMA writes be flushed: from the host or by stream operations."""

    cudaFlushGPUDirectRDMAWritesOptionHost = 1
    cudaFlushGPUDirectRDMAWritesOptionMemOps = 2


class cudaGPUDirectRDMAWritesOrdering(Enum):
    """Who can see GPUDirect RDMA writes without a flush: nobody, the owner or all devices."""

    cudaGPUDirectRDMAWritesOrderingNone = 0
    cudaGPUDirectRDMAWritesOrderingOwner = 100
    cudaGPUDirectRDMAWritesOrderingAllDevices = 200


class cudaFlushGPUDirectRDMAWritesScope(Enum):
    """Who must see GPUDirect RDMA writes after a flush: the owner or all devices."""

    cudaFlushGPUDirectRDMAWritesToOwner = 100
    cudaFlushGPUDirectRDMAWritesToAllDevices = 200


class cudaFlushGPUDirectRDMAWritesTarget(Enum):
    """Whose GPUDirect RDMA writes to flush: those to the current device."""

    cudaFlushGPUDirectRDMAWritesTargetCurrentDevice = 0


class cudaDeviceAttr(Enum):
    """What can be asked about one device: limits, sizes, clocks and supported features."""

    cudaDevAttrMaxThreadsPerBlock = 1
    cudaDevAttrMaxBlockDimX = 2
    cudaDevAttrMaxBlockDimY = 3
    cudaDevAttrMaxBlockDimZ = 4
    cudaDevAttrMaxGridDimX = 5
    cudaDevAttrMaxGridDimY = 6
    cudaDevAttrMaxGridDimZ = 7
    cudaDevAttrMaxSharedMemoryPerBlock = 8
    cudaDevAttrTotalConstantMemory = 9
    cudaDevAttrWarpSize = 10
    cudaDevAttrMaxPitch = 11
    cudaDevAttrMaxRegistersPerBlock = 12
    cudaDevAttrClockRate = 13
    cudaDevAttrTextureAlignment = 14
    cudaDevAttrGpuOverlap = 15
    cudaDevAttrMultiProcessorCount = 16
    cudaDevAttrKernelExecTimeout = 17
    cudaDevAttrIntegrated = 18
    cudaDevAttrCanMapHostMemory = 19
    cudaDevAttrComputeMode = 20
    cudaDevAttrMaxTexture1DWidth = 21
    cudaDevAttrMaxTexture2DWidth = 22
    cudaDevAttrMaxTexture2DHeight = 23
    cudaDevAttrMaxTexture3DWidth = 24
    cudaDevAttrMaxTexture3DHeight = 25
    cudaDevAttrMaxTexture3DDepth = 26
    cudaDevAttrMaxTexture2DLayeredWidth = 27
    cudaDevAttrMaxTexture2DLayeredHeight = 28
    cudaDevAttrMaxTexture2DLayeredLayers = 29
    cudaDevAttrSurfaceAlignment = 30
    cudaDevAttrConcurrentKernels = 31
    cudaDevAttrEccEnabled = 32
    cudaDevAttrPciBusId = 33
    cudaDevAttrPciDeviceId = 34
    cudaDevAttrTccDriver = 35
    cudaDevAttrMemoryClockRate = 36
    cudaDevAttrGlobalMemoryBusWidth = 37
    cudaDevAttrL2CacheSize = 38
    cudaDevAttrMaxThreadsPerMultiProcessor = 39
    cudaDevAttrAsyncEngineCount = 40
    cudaDevAttrUnifiedAddressing = 41
    cudaDevAttrMaxTexture1DLayeredWidth = 42
    cudaDevAttrMaxTexture1DLayeredLayers = 43
    cudaDevAttrMaxTexture2DGatherWidth = 45
    cudaDevAttrMaxTexture2DGatherHeight = 46
    cudaDevAttrMaxTexture3DWidthAlt = 47
    cudaDevAttrMaxTexture3DHeightAlt = 48
    cudaDevAttrMaxTexture3DDepthAlt = 49
    cudaDevAttrPciDomainId = 50
    cudaDevAttrTexturePitchAlignment = 51
    cudaDevAttrMaxTextureCubemapWidth = 52
    cudaDevAttrMaxTextureCubemapLayeredWidth = 53
    cudaDevAttrMaxTextureCubemapLayeredLayers = 54
    cudaDevAttrMaxSurface1DWidth = 55
    cudaDevAttrMaxSurface2DWidth = 56
    cudaDevAttrMaxSurface2DHeight = 57
    cudaDevAttrMaxSurface3DWidth = 58
    cudaDevAttrMaxSurface3DHeight = 59
    cudaDevAttrMaxSurface3DDepth = 60
    cudaDevAttrMaxSurface1DLayeredWidth = 61
    cudaDevAttrMaxSurface1DLayeredLayers = 62
    cudaDevAttrMaxSurface2DLayeredWidth = 63
    cudaDevAttrMaxSurface2DLayeredHeight = 64
    cudaDevAttrMaxSurface2DLayeredLayers = 65
    cudaDevAttrMaxSurfaceCubemapWidth = 66
    cudaDevAttrMaxSurfaceCubemapLayeredWidth = 67
    cudaDevAttrMaxSurfaceCubemapLayeredLayers = 68
    cudaDevAttrMaxTexture1DLinearWidth = 69
    cudaDevAttrMaxTexture2DLinearWidth = 70
    cudaDevAttrMaxTexture2DLinearHeight = 71
    cudaDevAttrMaxTexture2DLinearPitch = 72
    cudaDevAttrMaxTexture2DMipmappedWidth = 73
    cudaDevAttrMaxTexture2DMipmappedHeight = 74
    cudaDevAttrComputeCapabilityMajor = 75
    cudaDevAttrComputeCapabilityMinor = 76
    cudaDevAttrMaxTexture1DMipmappedWidth = 77
    cudaDevAttrStreamPrioritiesSupported = 78
    cudaDevAttrGlobalL1CacheSupported = 79
    cudaDevAttrLocalL1CacheSupported = 80
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81
    cudaDevAttrMaxRegistersPerMultiprocessor = 82
    cudaDevAttrManagedMemory = 83
    cudaDevAttrIsMultiGpuBoard = 84
    cudaDevAttrMultiGpuBoardGroupID = 85
    cudaDevAttrHostNativeAtomicSupported = 86
    cudaDevAttrSingleToDoublePrecisionPerfRatio = 87
    cudaDevAttrPageableMemoryAccess = 88
    cudaDevAttrConcurrentManagedAccess = 89
    cudaDevAttrComputePreemptionSupported = 90
    cudaDevAttrCanUseHostPointerForRegisteredMem = 91
    cudaDevAttrReserved92 = 92
    cudaDevAttrReserved93 = 93
    cudaDevAttrReserved94 = 94
    cudaDevAttrCooperativeLaunch = 95
    cudaDevAttrReserved96 = 96
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
    cudaDevAttrCanFlushRemoteWrites = 98
    cudaDevAttrHostRegisterSupported = 99
    cudaDevAttrPageableMemoryAccessUsesHostPageTables = 100
    cudaDevAttrDirectManagedMemAccessFromHost = 101
    cudaDevAttrMaxBlocksPerMultiprocessor = 106
    cudaDevAttrMaxPersistingL2CacheSize = 108
    cudaDevAttrMaxAccessPolicyWindowSize = 109
    cudaDevAttrReservedSharedMemoryPerBlock = 111
    cudaDevAttrSparseCudaArraySupported = 112
    cudaDevAttrHostRegisterReadOnlySupported = 113
    cudaDevAttrTimelineSemaphoreInteropSupported = 114
    cudaDevAttrMemoryPoolsSupported = 115
    cudaDevAttrGPUDirectRDMASupported = 116
    cudaDevAttrGPUDirectRDMAFlushWritesOptions = 117
    cudaDevAttrGPUDirectRDMAWritesOrdering = 118
    cudaDevAttrMemoryPoolSupportedHandleTypes = 119
    cudaDevAttrClusterLaunch = 120
    cudaDevAttrDeferredMappingCudaArraySupported = 121
    cudaDevAttrReserved122 = 122
    cudaDevAttrReserved123 = 123
    cudaDevAttrReserved124 = 124
    cudaDevAttrIpcEventSupport = 125
    cudaDevAttrMemSyncDomainCount = 126
    cudaDevAttrReserved127 = 127
    cudaDevAttrReserved128 = 128
    cudaDevAttrReserved129 = 129
    cudaDevAttrNumaConfig = 130
    cudaDevAttrNumaId = 131
    cudaDevAttrReserved132 = 132
    cudaDevAttrMpsEnabled = 133
    cudaDevAttrHostNumaId = 134
    cudaDevAttrD3D12CigSupported = 135
    cudaDevAttrVulkanCigSupported = 138
    cudaDevAttrGpuPciDeviceId = 139
    cudaDevAttrGpuPciSubsystemId = 140
    cudaDevAttrReserved141 = 141
    cudaDevAttrHostNumaMemoryPoolsSupported = 142
    cudaDevAttrHostNumaMultinodeIpcSupported = 143
    cudaDevAttrHostMemoryPoolsSupported = 144
    cudaDevAttrReserved145 = 145
    cudaDevAttrOnlyPartialHostNativeAtomicSupported = 147
    cudaDevAttrAtomicReductionSupported = 148
    cudaDevAttrLocalityDomainCount = 149
    cudaDevAttrOversizedSharedMemoryPerBlock = 150
    cudaDevAttrCigStreamsSupported = 151
    cudaDevAttrLocalityDomainMultiprocessorCount = 157
    cudaDevAttrTensorMapLargeTensorMinSize = 160
    cudaDevAttrMax = 161
    cudaDevAttrCooperativeMultiDeviceLaunch = 96
    cudaDevAttrMaxTimelineSemaphoreInteropSupported = 114


class cudaMemPoolAttr(Enum):
    """A pool's settings and statistics: reuse rules, release threshold and sizes in bytes."""

    cudaMemPoolReuseFollowEventDependencies = 1
    cudaMemPoolReuseAllowOpportunistic = 2
    cudaMemPoolReuseAllowInternalDependencies = 3
    cudaMemPoolAttrReleaseThreshold = 4
    cudaMemPoolAttrReservedMemCurrent = 5
    cudaMemPoolAttrReservedMemHigh = 6
    cudaMemPoolAttrUsedMemCurrent = 7
    cudaMemPoolAttrUsedMemHigh = 8
    cudaMemPoolAttrAllocationType = 9
    cudaMemPoolAttrExportHandleTypes = 10
    cudaMemPoolAttrLocationId = 11
    cudaMemPoolAttrLocationType = 12
    cudaMemPoolAttrMaxPoolSize = 13
    cudaMemPoolAttrHwDecompressEnabled = 14
    cudaMemPoolAttrLocalityDomainId = 15


class cudaMemLocationType(Enum):
    """The kinds of place for memory: a device, the host, a NUMA node or part of a device."""

    cudaMemLocationTypeInvalid = 0
    cudaMemLocationTypeNone = 0
    cudaMemLocationTypeDevice = 1
    cudaMemLocationTypeHost = 2
    cudaMemLocationTypeHostNuma = 3
    cudaMemLocationTypeHostNumaCurrent = 4
    cudaMemLocationTypeInvisible = 5
    cudaMemLocationTypeDeviceLocalityDomain = 6


class cudaMemAccessFlags(Enum):
    """What a location may do with memory: nothing, read, or read and write."""

    cudaMemAccessFlagsProtNone = 0
    cudaMemAccessFlagsProtRead = 1
    cudaMemAccessFlagsProtReadWrite = 3


class cudaMemAllocationType(Enum):
    """The kind of memory to allocate: pinned in place or managed."""

    cudaMemAllocationTypeInvalid = 0
    cudaMemAllocationTypePinned = 1
    cudaMemAllocationTypeManaged = 2
    cudaMemAllocationTypeMax = 0x7FFFFFFF


class cudaMemAllocationHandleType(Enum):
    """How an allocation can be shared: a file descriptor, Win32 handle or fabric handle."""

    cudaMemHandleTypeNone = 0
    cudaMemHandleTypePosixFileDescriptor = 1
    cudaMemHandleTypeWin32 = 2
    cudaMemHandleTypeWin32Kmt = 4
    cudaMemHandleTypeFabric = 8


class cudaGraphMemAttributeType(Enum):
    """What can be asked about the memory that graphs hold on a device, in bytes: used and reserved."""

    cudaGraphMemAttrUsedMemCurrent = 0
    cudaGraphMemAttrUsedMemHigh = 1
    cudaGraphMemAttrReservedMemCurrent = 2
    cudaGraphMemAttrReservedMemHigh = 3


class cudaMemcpyFlags(Enum):
    """Hints for a batched copy, such as overlapping it with compute work."""

    cudaMemcpyFlagDefault = 0
    cudaMemcpyFlagPreferOverlapWithCompute = 1


class cudaMemcpySrcAccessOrder(Enum):
    """When a batched copy may read its source: in stream order, during the call or any time."""

    cudaMemcpySrcAccessOrderInvalid = 0
    cudaMemcpySrcAccessOrderStream = 1
    cudaMemcpySrcAccessOrderDuringApiCall = 2
    cudaMemcpySrcAccessOrderAny = 3
    cudaMemcpySrcAccessOrderMax = 0x7FFFFFFF


class cudaMemcpy3DOperandType(Enum):
    """Whether one side of a batched 3D copy is a pointer or an array."""

    cudaMemcpyOperandTypePointer = 1
    cudaMemcpyOperandTypeArray = 2
    cudaMemcpyOperandTypeMax = 0x7FFFFFFF


class cudaDeviceP2PAttr(Enum):
    """What can be asked about a pair of devices: access, link rank, atomics and array access."""

    cudaDevP2PAttrPerformanceRank = 1
    cudaDevP2PAttrAccessSupported = 2
    cudaDevP2PAttrNativeAtomicSupported = 3
    cudaDevP2PAttrCudaArrayAccessSupported = 4
    cudaDevP2PAttrOnlyPartialNativeAtomicSupported = 5


class cudaAtomicOperation(Enum):
    """The atomic operations whose support on a device or link can be queried."""

    cudaAtomicOperationIntegerAdd = 0
    cudaAtomicOperationIntegerMin = 1
    cudaAtomicOperationIntegerMax = 2
    cudaAtomicOperationIntegerIncrement = 3
    cudaAtomicOperationIntegerDecrement = 4
    cudaAtomicOperationAnd = 5
    cudaAtomicOperationOr = 6
    cudaAtomicOperationXOR = 7
    cudaAtomicOperationExchange = 8
    cudaAtomicOperationCAS = 9
    cudaAtomicOperationFloatAdd = 10
    cudaAtomicOperationFloatMin = 11
    cudaAtomicOperationFloatMax = 12


class cudaAtomicOperationCapability(Enum):
    """Bits for what an atomic operation supports: signs, reduction and operand widths."""

    cudaAtomicCapabilitySigned = 1
    cudaAtomicCapabilityUnsigned = 2
    cudaAtomicCapabilityReduction = 4
    cudaAtomicCapabilityScalar32 = 8
    cudaAtomicCapabilityScalar64 = 16
    cudaAtomicCapabilityScalar128 = 32
    cudaAtomicCapabilityVector32x4 = 64


class cudaExternalMemoryHandleType(Enum):
    """The kinds of memory handle that can be imported: file descriptor, Win32, Direct3D, NvSciBuf."""

    cudaExternalMemoryHandleTypeOpaqueFd = 1
    cudaExternalMemoryHandleTypeOpaqueWin32 = 2
    cudaExternalMemoryHandleTypeOpaqueWin32Kmt = 3
    cudaExternalMemoryHandleTypeD3D12Heap = 4
    cudaExternalMemoryHandleTypeD3D12Resource = 5
    cudaExternalMemoryHandleTypeD3D11Resource = 6
    cudaExternalMemoryHandleTypeD3D11ResourceKmt = 7
    cudaExternalMemoryHandleTypeNvSciBuf = 8


class cudaExternalSemaphoreHandleType(Enum):
    """The kinds of semaphore handle that can be imported: file descriptor, Win32, fences, mutexes."""

    cudaExternalSemaphoreHandleTypeOpaqueFd = 1
    cudaExternalSemaphoreHandleTypeOpaqueWin32 = 2
    cudaExternalSemaphoreHandleTypeOpaqueWin32Kmt = 3
    cudaExternalSemaphoreHandleTypeD3D12Fence = 4
    cudaExternalSemaphoreHandleTypeD3D11Fence = 5
    cudaExternalSemaphoreHandleTypeNvSciSync = 6
    cudaExternalSemaphoreHandleTypeKeyedMutex = 7
    cudaExternalSemaphoreHandleTypeKeyedMutexKmt = 8
    cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd = 9
    cudaExternalSemaphoreHandleTypeTimelineSemaphoreWin32 = 10


class cudaDevSmResourceGroup_flags(Enum):
    """Options for one group of a multiprocessor split, such as taking whatever is left."""

    cudaDevSmResourceGroupDefault = 0
    cudaDevSmResourceGroupBackfill = 1
    cudaDevSmResourceGroupLocalityDomainId = 2
    cudaDevSmResourceGroupLocalityDomainSupplementalSms = 4


class cudaDevSmResourceSplitByCount_flags(Enum):
    """Options for splitting multiprocessors by count, such as giving up coscheduling guarantees."""

    cudaDevSmResourceSplitIgnoreSmCoscheduling = 1
    cudaDevSmResourceSplitMaxPotentialClusterSize = 2


class cudaDevResourceType(Enum):
    """The kinds of device resource: multiprocessors, work queue settings or work queues."""

    cudaDevResourceTypeInvalid = 0
    cudaDevResourceTypeSm = 1
    cudaDevResourceTypeWorkqueueConfig = 1000
    cudaDevResourceTypeWorkqueue = 10000


class cudaDevWorkqueueConfigScope(Enum):
    """How work queues are shared: by all contexts, or kept apart between green contexts."""

    cudaDevWorkqueueConfigScopeDeviceCtx = 0
    cudaDevWorkqueueConfigScopeGreenCtxBalanced = 1


class cudaJitOption(Enum):
    """The options of the compiler behind cudaLibraryLoadData: logs, optimization, target and so on."""

    cudaJitMaxRegisters = 0
    cudaJitThreadsPerBlock = 1
    cudaJitWallTime = 2
    cudaJitInfoLogBuffer = 3
    cudaJitInfoLogBufferSizeBytes = 4
    cudaJitErrorLogBuffer = 5
    cudaJitErrorLogBufferSizeBytes = 6
    cudaJitOptimizationLevel = 7
    cudaJitFallbackStrategy = 10
    cudaJitGenerateDebugInfo = 11
    cudaJitLogVerbose = 12
    cudaJitGenerateLineInfo = 13
    cudaJitCacheMode = 14
    cudaJitPositionIndependentCode = 30
    cudaJitMinCtaPerSm = 31
    cudaJitMaxThreadsPerBlock = 32
    cudaJitOverrideDirectiveValues = 33


class cudaLibraryOption(Enum):
    """Options for loading a library, such as whether its binary stays in memory."""

    cudaLibraryHostUniversalFunctionAndDataTable = 0
    cudaLibraryBinaryIsPreserved = 1


class cudaJit_CacheMode(Enum):
    """What the compiler caches in L1 by default for loads: no choice, nothing or everything."""

    cudaJitCacheOptionNone = 0
    cudaJitCacheOptionCG = 1
    cudaJitCacheOptionCA = 2


class cudaJit_Fallback(Enum):
    """What to favor if no exact binary fits: compiling PTX or a compatible binary."""

    cudaPreferPtx = 0
    cudaPreferBinary = 1


class cudaCGScope(Enum):
    """How far a cooperative group reaches: one grid or several."""

    cudaCGScopeInvalid = 0
    cudaCGScopeGrid = 1
    cudaCGScopeReserved = 2
    cudaCGScopeMultiGrid = 2


class cudaKernelFunctionType(Enum):
    """Which kind of handle names a kernel: a host symbol, a cudaKernel_t or a cudaFunction_t."""

    cudaKernelFunctionTypeUnspecified = 0
    cudaKernelFunctionTypeDeviceEntry = 1
    cudaKernelFunctionTypeKernel = 2
    cudaKernelFunctionTypeFunction = 3


class cudaGraphConditionalHandleFlags(Enum):
    """Options for a conditional handle: whether each launch starts from the default value."""

    cudaGraphCondAssignDefault = 1


class cudaGraphConditionalNodeType(Enum):
    """How a conditional node chooses: if, while or switch."""

    cudaGraphCondTypeIf = 0
    cudaGraphCondTypeWhile = 1
    cudaGraphCondTypeSwitch = 2


class cudaGraphNodeType(Enum):
    """What a graph node does: kernel, copy, fill, host call, child graph, event and so on."""

    cudaGraphNodeTypeKernel = 0
    cudaGraphNodeTypeMemcpy = 1
    cudaGraphNodeTypeMemset = 2
    cudaGraphNodeTypeHost = 3
    cudaGraphNodeTypeGraph = 4
    cudaGraphNodeTypeEmpty = 5
    cudaGraphNodeTypeWaitEvent = 6
    cudaGraphNodeTypeEventRecord = 7
    cudaGraphNodeTypeExtSemaphoreSignal = 8
    cudaGraphNodeTypeExtSemaphoreWait = 9
    cudaGraphNodeTypeMemAlloc = 10
    cudaGraphNodeTypeMemFree = 11
    cudaGraphNodeTypeConditional = 13
    cudaGraphNodeTypeMemcpyBatch = 14
    cudaGraphNodeTypeReserved16 = 16
    cudaGraphNodeTypeExternalEngine = 17
    cudaGraphNodeTypeCount = 18


class cudaGraphChildGraphNodeOwnership(Enum):
    """Whether a child graph node copies its graph or takes it over."""

    cudaGraphChildGraphOwnershipClone = 0
    cudaGraphChildGraphOwnershipMove = 1
    cudaGraphChildGraphOwnershipInvalid = -1


class cudaGraphDependencyType(Enum):
    """Whether a graph edge is a full dependency or a programmatic one between kernels."""

    cudaGraphDependencyTypeDefault = 0
    cudaGraphDependencyTypeProgrammatic = 1


class cudaGraphExecUpdateResult(Enum):
    """How updating an executable graph went, or which change stood in its way."""

    cudaGraphExecUpdateSuccess = 0
    cudaGraphExecUpdateError = 1
    cudaGraphExecUpdateErrorTopologyChanged = 2
    cudaGraphExecUpdateErrorNodeTypeChanged = 3
    cudaGraphExecUpdateErrorFunctionChanged = 4
    cudaGraphExecUpdateErrorParametersChanged = 5
    cudaGraphExecUpdateErrorNotSupported = 6
    cudaGraphExecUpdateErrorUnsupportedFunctionChange = 7
    cudaGraphExecUpdateErrorAttributesChanged = 8


class cudaGraphInstantiateResult(Enum):
    """How instantiating a graph went, or what was wrong with the graph."""

    cudaGraphInstantiateSuccess = 0
    cudaGraphInstantiateError = 1
    cudaGraphInstantiateInvalidStructure = 2
    cudaGraphInstantiateNodeOperationNotSupported = 3
    cudaGraphInstantiateMultipleDevicesNotSupported = 4
    cudaGraphInstantiateConditionalHandleUnused = 5


class cudaGraphKernelNodeField(Enum):
    """Which field of a kernel node a device-side update changes."""

    cudaGraphKernelNodeFieldInvalid = 0
    cudaGraphKernelNodeFieldGridDim = 1
    cudaGraphKernelNodeFieldParam = 2
    cudaGraphKernelNodeFieldEnabled = 3


class cudaGetDriverEntryPointFlags(Enum):
    """Which default-stream variant of a driver entry point to look up."""

    cudaEnableDefault = 0
    cudaEnableLegacyStream = 1
    cudaEnablePerThreadDefaultStream = 2


class cudaDriverEntryPointQueryResult(Enum):
    """Whether a driver entry point was found, is unknown, or needs a newer version."""

    cudaDriverEntryPointSuccess = 0
    cudaDriverEntryPointSymbolNotFound = 1
    cudaDriverEntryPointVersionNotSufficent = 2


class cudaGraphDebugDotFlags(Enum):
    """What to write about each node when a graph is drawn as a DOT file."""

    cudaGraphDebugDotFlagsVerbose = 1
    cudaGraphDebugDotFlagsKernelNodeParams = 4
    cudaGraphDebugDotFlagsMemcpyNodeParams = 8
    cudaGraphDebugDotFlagsMemsetNodeParams = 16
    cudaGraphDebugDotFlagsHostNodeParams = 32
    cudaGraphDebugDotFlagsEventNodeParams = 64
    cudaGraphDebugDotFlagsExtSemasSignalNodeParams = 128
    cudaGraphDebugDotFlagsExtSemasWaitNodeParams = 256
    cudaGraphDebugDotFlagsKernelNodeAttributes = 512
    cudaGraphDebugDotFlagsHandles = 1024
    cudaGraphDebugDotFlagsConditionalNodeParams = 32768
    cudaGraphDebugDotFlagsMemcpyBatchNodeParams = 0x10000


class cudaGraphInstantiateFlags(Enum):
    """Options for instantiating a graph: free on launch, upload, device launch, node priorities."""

    cudaGraphInstantiateFlagAutoFreeOnLaunch = 1
    cudaGraphInstantiateFlagUpload = 2
    cudaGraphInstantiateFlagDeviceLaunch = 4
    cudaGraphInstantiateFlagUseNodePriority = 8


class cudaLaunchMemSyncDomain(Enum):
    """The logical memory sync domain of a launch: the default one or the remote one."""

    cudaLaunchMemSyncDomainDefault = 0
    cudaLaunchMemSyncDomainRemote = 1


class cudaLaunchAttributePortableClusterMode(Enum):
    """Whether a launch may use a cluster size that not every device supports."""

    cudaLaunchPortableClusterModeDefault = 0
    cudaLaunchPortableClusterModeRequirePortable = 1
    cudaLaunchPortableClusterModeAllowNonPortable = 2


class cudaLaunchAttributeID(Enum):
    """The optional settings of a launch: clusters, cooperation, priority, events and more."""

    cudaLaunchAttributeIgnore = 0
    cudaLaunchAttributeAccessPolicyWindow = 1
    cudaLaunchAttributeCooperative = 2
    cudaLaunchAttributeSynchronizationPolicy = 3
    cudaLaunchAttributeClusterDimension = 4
    cudaLaunchAttributeClusterSchedulingPolicyPreference = 5
    cudaLaunchAttributeProgrammaticStreamSerialization = 6
    cudaLaunchAttributeProgrammaticEvent = 7
    cudaLaunchAttributePriority = 8
    cudaLaunchAttributeMemSyncDomainMap = 9
    cudaLaunchAttributeMemSyncDomain = 10
    cudaLaunchAttributePreferredClusterDimension = 11
    cudaLaunchAttributeLaunchCompletionEvent = 12
    cudaLaunchAttributeDeviceUpdatableKernelNode = 13
    cudaLaunchAttributePreferredSharedMemoryCarveout = 14
    cudaLaunchAttributeNvlinkUtilCentricScheduling = 16
    cudaLaunchAttributePortableClusterSizeMode = 17
    cudaLaunchAttributeSharedMemoryMode = 18


class cudaDeviceNumaConfig(Enum):
    """Whether a device's memory is a NUMA node of the system."""

    cudaDeviceNumaConfigNone = 0
    cudaDeviceNumaConfigNumaNode = 1


class cudaAsyncNotificationType(Enum):
    """What an async notification is about, such as going over a device memory budget."""

    cudaAsyncNotificationTypeOverBudget = 1


class cudaLogLevel(Enum):
    """How serious a log message is: an error or a warning."""

    cudaLogLevelError = 0
    cudaLogLevelWarning = 1


class cudaFabricOpStatusSource(Enum):
    """Where the status of a fabric operation is read from."""

    cudaFabricOpStatusSourceMbarrierV1 = 0
    cudaFabricOpStatusSourceMax = 0x7FFFFFFF


class cudaFabricOpStatusInfo(Enum):
    """How a fabric operation ended."""

    cudaFabricOpStatusInfoSuccess = 0
    cudaFabricOpStatusInfoLast = 0
    cudaFabricOpStatusInfoMax = 0x7FFFFFFF


class cudaDataType(Enum):
    """The number formats that CUDA's libraries share: real (R) or complex (C), kind and bits."""

    CUDA_R_16F = 2
    CUDA_C_16F = 6
    CUDA_R_16BF = 14
    CUDA_C_16BF = 15
    CUDA_R_32F = 0
    CUDA_C_32F = 4
    CUDA_R_64F = 1
    CUDA_C_64F = 5
    CUDA_R_4I = 16
    CUDA_C_4I = 17
    CUDA_R_4U = 18
    CUDA_C_4U = 19
    CUDA_R_8I = 3
    CUDA_C_8I = 7
    CUDA_R_8U = 8
    CUDA_C_8U = 9
    CUDA_R_16I = 20
    CUDA_C_16I = 21
    CUDA_R_16U = 22
    CUDA_C_16U = 23
    CUDA_R_32I = 10
    CUDA_C_32I = 11
    CUDA_R_32U = 12
    CUDA_C_32U = 13
    CUDA_R_64I = 24
    CUDA_C_64I = 25
    CUDA_R_64U = 26
    CUDA_C_64U = 27
    CUDA_R_8F_E4M3 = 28
    CUDA_R_8F_UE4M3 = 28
    CUDA_R_8F_E5M2 = 29
    CUDA_R_8F_UE8M0 = 30
    CUDA_R_6F_E2M3 = 31
    CUDA_R_6F_E3M2 = 32
    CUDA_R_4F_E2M1 = 33
    CUDA_R_8F_UE5M3 = 34


class cudaEmulationStrategy(Enum):
    """When a math library may emulate floating point: by default, where it pays, or always."""

    CUDA_EMULATION_STRATEGY_DEFAULT = 0
    CUDA_EMULATION_STRATEGY_PERFORMANT = 1
    CUDA_EMULATION_STRATEGY_EAGER = 2


class cudaEmulationMantissaControl(Enum):
    """Whether an emulated number keeps a fixed number of mantissa bits or as many as it needs."""

    CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC = 0
    CUDA_EMULATION_MANTISSA_CONTROL_FIXED = 1


class cudaEmulationSpecialValuesSupport(Enum):
    """Which special values emulated floating point must get right: infinities and NaNs, or none."""

    CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT = 65535
    CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_NONE = 0
    CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_INFINITY = 1
    CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_NAN = 2


class libraryPropertyType(Enum):
    """Which part of a library's version to ask for: major, minor or patch level."""

    MAJOR_VERSION = 0
    MINOR_VERSION = 1
    PATCH_LEVEL = 2


class cudaSurfaceBoundaryMode(Enum):
    """What a surface access outside its range does: give zero, clamp or trap."""

    cudaBoundaryModeZero = 0
    cudaBoundaryModeClamp = 1
    cudaBoundaryModeTrap = 2


class cudaSurfaceFormatMode(Enum):
    """How a surface converts its elements: by force or automatically."""

    cudaFormatModeForced = 0
    cudaFormatModeAuto = 1


class cudaTextureAddressMode(Enum):
    """What a texture returns outside its range: wrap, clamp, mirror or border color."""

    cudaAddressModeWrap = 0
    cudaAddressModeClamp = 1
    cudaAddressModeMirror = 2
    cudaAddressModeBorder = 3


class cudaTextureFilterMode(Enum):
    """Whether a texture gives the nearest element or interpolates linearly."""

    cudaFilterModePoint = 0
    cudaFilterModeLinear = 1


class cudaTextureReadMode(Enum):
    """Whether a texture gives its elements as they are or as floats between 0 (or -1) and 1."""

    cudaReadModeElementType = 0
    cudaReadModeNormalizedFloat = 1


class cudaRoundMode(Enum):
    """How a conversion rounds: to nearest even, to zero, up or down."""

    cudaRoundNearest = 0
    cudaRoundZero = 1
    cudaRoundPosInf = 2
    cudaRoundMinInf = 3


class cudaGLDeviceList(Enum):
    """Which of an OpenGL context's GPUs to list: all, this frame's or the next frame's."""

    cudaGLDeviceListAll = 1
    cudaGLDeviceListCurrentFrame = 2
    cudaGLDeviceListNextFrame = 3


class cudaGLMapFlags(Enum):
    """How CUDA will use a mapped OpenGL buffer: read and write, read only, or overwrite."""

    cudaGLMapFlagsNone = 0
    cudaGLMapFlagsReadOnly = 1
    cudaGLMapFlagsWriteDiscard = 2


class cudaEglFrameType(Enum):
    """Whether an EGL frame's planes are CUDA arrays or pitched pointers."""

    cudaEglFrameTypeArray = 0
    cudaEglFrameTypePitch = 1


class cudaEglResourceLocationFlags(Enum):
    """Where an EGL frame's resource should lie: in system memory or in video memory."""

    cudaEglResourceLocationSysmem = 0
    cudaEglResourceLocationVidmem = 1


class cudaEglColorFormat(Enum):
    """The pixel layouts of EGL frames: planar and packed YUV, RGB and Bayer formats."""

    cudaEglColorFormatYUV420Planar = 0
    cudaEglColorFormatYUV420SemiPlanar = 1
    cudaEglColorFormatYUV422Planar = 2
    cudaEglColorFormatYUV422SemiPlanar = 3
    cudaEglColorFormatARGB = 6
    cudaEglColorFormatRGBA = 7
    cudaEglColorFormatL = 8
    cudaEglColorFormatR = 9
    cudaEglColorFormatYUV444Planar = 10
    cudaEglColorFormatYUV444SemiPlanar = 11
    cudaEglColorFormatYUYV422 = 12
    cudaEglColorFormatUYVY422 = 13
    cudaEglColorFormatABGR = 14
    cudaEglColorFormatBGRA = 15
    cudaEglColorFormatA = 16
    cudaEglColorFormatRG = 17
    cudaEglColorFormatAYUV = 18
    cudaEglColorFormatYVU444SemiPlanar = 19
    cudaEglColorFormatYVU422SemiPlanar = 20
    cudaEglColorFormatYVU420SemiPlanar = 21
    cudaEglColorFormatY10V10U10_444SemiPlanar = 22
    cudaEglColorFormatY10V10U10_420SemiPlanar = 23
    cudaEglColorFormatY12V12U12_444SemiPlanar = 24
    cudaEglColorFormatY12V12U12_420SemiPlanar = 25
    cudaEglColorFormatVYUY_ER = 26
    cudaEglColorFormatUYVY_ER = 27
    cudaEglColorFormatYUYV_ER = 28
    cudaEglColorFormatYVYU_ER = 29
    cudaEglColorFormatYUVA_ER = 31
    cudaEglColorFormatAYUV_ER = 32
    cudaEglColorFormatYUV444Planar_ER = 33
    cudaEglColorFormatYUV422Planar_ER = 34
    cudaEglColorFormatYUV420Planar_ER = 35
    cudaEglColorFormatYUV444SemiPlanar_ER = 36
    cudaEglColorFormatYUV422SemiPlanar_ER = 37
    cudaEglColorFormatYUV420SemiPlanar_ER = 38
    cudaEglColorFormatYVU444Planar_ER = 39
    cudaEglColorFormatYVU422Planar_ER = 40
    cudaEglColorFormatYVU420Planar_ER = 41
    cudaEglColorFormatYVU444SemiPlanar_ER = 42
    cudaEglColorFormatYVU422SemiPlanar_ER = 43
    cudaEglColorFormatYVU420SemiPlanar_ER = 44
    cudaEglColorFormatBayerRGGB = 45
    cudaEglColorFormatBayerBGGR = 46
    cudaEglColorFormatBayerGRBG = 47
    cudaEglColorFormatBayerGBRG = 48
    cudaEglColorFormatBayer10RGGB = 49
    cudaEglColorFormatBayer10BGGR = 50
    cudaEglColorFormatBayer10GRBG = 51
    cudaEglColorFormatBayer10GBRG = 52
    cudaEglColorFormatBayer12RGGB = 53
    cudaEglColorFormatBayer12BGGR = 54
    cudaEglColorFormatBayer12GRBG = 55
    cudaEglColorFormatBayer12GBRG = 56
    cudaEglColorFormatBayer14RGGB = 57
    cudaEglColorFormatBayer14BGGR = 58
    cudaEglColorFormatBayer14GRBG = 59
    cudaEglColorFormatBayer14GBRG = 60
    cudaEglColorFormatBayer20RGGB = 61
    cudaEglColorFormatBayer20BGGR = 62
    cudaEglColorFormatBayer20GRBG = 63
    cudaEglColorFormatBayer20GBRG = 64
    cudaEglColorFormatYVU444Planar = 65
    cudaEglColorFormatYVU422Planar = 66
    cudaEglColorFormatYVU420Planar = 67
    cudaEglColorFormatBayerIspRGGB = 68
    cudaEglColorFormatBayerIspBGGR = 69
    cudaEglColorFormatBayerIspGRBG = 70
    cudaEglColorFormatBayerIspGBRG = 71
    cudaEglColorFormatBayerBCCR = 72
    cudaEglColorFormatBayerRCCB = 73
    cudaEglColorFormatBayerCRBC = 74
    cudaEglColorFormatBayerCBRC = 75
    cudaEglColorFormatBayer10CCCC = 76
    cudaEglColorFormatBayer12BCCR = 77
    cudaEglColorFormatBayer12RCCB = 78
    cudaEglColorFormatBayer12CRBC = 79
    cudaEglColorFormatBayer12CBRC = 80
    cudaEglColorFormatBayer12CCCC = 81
    cudaEglColorFormatY = 82
    cudaEglColorFormatYUV420SemiPlanar_2020 = 83
    cudaEglColorFormatYVU420SemiPlanar_2020 = 84
    cudaEglColorFormatYUV420Planar_2020 = 85
    cudaEglColorFormatYVU420Planar_2020 = 86
    cudaEglColorFormatYUV420SemiPlanar_709 = 87
    cudaEglColorFormatYVU420SemiPlanar_709 = 88
    cudaEglColorFormatYUV420Planar_709 = 89
    cudaEglColorFormatYVU420Planar_709 = 90
    cudaEglColorFormatY10V10U10_420SemiPlanar_709 = 91
    cudaEglColorFormatY10V10U10_420SemiPlanar_2020 = 92
    cudaEglColorFormatY10V10U10_422SemiPlanar_2020 = 93
    cudaEglColorFormatY10V10U10_422SemiPlanar = 94
    cudaEglColorFormatY10V10U10_422SemiPlanar_709 = 95
    cudaEglColorFormatY_ER = 96
    cudaEglColorFormatY_709_ER = 97
    cudaEglColorFormatY10_ER = 98
    cudaEglColorFormatY10_709_ER = 99
    cudaEglColorFormatY12_ER = 100
    cudaEglColorFormatY12_709_ER = 101
    cudaEglColorFormatYUVA = 102
    cudaEglColorFormatYVYU = 104
    cudaEglColorFormatVYUY = 105
    cudaEglColorFormatY10V10U10_420SemiPlanar_ER = 106
    cudaEglColorFormatY10V10U10_420SemiPlanar_709_ER = 107
    cudaEglColorFormatY10V10U10_444SemiPlanar_ER = 108
    cudaEglColorFormatY10V10U10_444SemiPlanar_709_ER = 109
    cudaEglColorFormatY12V12U12_420SemiPlanar_ER = 110
    cudaEglColorFormatY12V12U12_420SemiPlanar_709_ER = 111
    cudaEglColorFormatY12V12U12_444SemiPlanar_ER = 112
    cudaEglColorFormatY12V12U12_444SemiPlanar_709_ER = 113
    cudaEglColorFormatUYVY709 = 114
    cudaEglColorFormatUYVY709_ER = 115
    cudaEglColorFormatUYVY2020 = 116


cudaError = cudaError_t
cudaStreamAttrID = cudaLaunchAttributeID
cudaKernelNodeAttrID = cudaLaunchAttributeID
cudaDataType_t = cudaDataType
cudaEmulationStrategy_t = cudaEmulationStrategy
cudaEmulationMantissaControl_t = cudaEmulationMantissaControl
cudaEmulationSpecialValuesSupport_t = cudaEmulationSpecialValuesSupport
libraryPropertyType_t = libraryPropertyType
