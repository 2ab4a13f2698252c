"""The facts of a machine, as plain data: what tests make up, and what --json prints."""

from dataclasses import dataclass, field

from ..._pathfinder.headers import Release, version

VARIABLES = (
    "CUDA_PATH", "CUDA_HOME", "CONDA_PREFIX", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CUDA_VISIBLE_DEVICES",
    "CUDAPY_DRIVER",
)  # fmt: skip


@dataclass(frozen=True)
class LibraryFacts:
    """A library that cudapy opens."""

    name: str
    path: str = ""  # "": there is none that can be loaded
    found_by: str = ""
    version: Release | None = None  # by its own account: of CUDA, except for cufile
    major: int | None = None  # of CUDA
    broken: tuple[str, ...] = ()  # the files that should have been loaded, each with the reason

    @property
    def release(self) -> str:
        """What a report calls it: "13.0", or "CUDA 13" if only that is known."""
        if self.version:
            return version(self.version)
        return f"CUDA {self.major}" if self.major else "version unknown"


@dataclass(frozen=True)
class ProcessFacts:
    """A process that has memory of a device."""

    pid: int
    name: str
    memory: int  # in bytes


@dataclass(frozen=True)
class DeviceFacts:
    """A device that the driver shows."""

    ordinal: int
    name: str
    compute_capability: tuple[int, int]
    memory: int  # in bytes
    free: int | None = None  # of it, as NVML says; None if it does not
    processes: tuple[ProcessFacts, ...] = ()  # that use it, the largest first


@dataclass(frozen=True)
class DriverFacts:
    """What the driver says: nothing, if there is none."""

    status: str = ""  # of cuInit and cuDeviceGetCount: "CUDA_SUCCESS" or the failure
    error: str = ""  # the failure in words
    devices: tuple[DeviceFacts, ...] = ()
    package: str = ""  # the number of its own release, such as "580.65.06"


@dataclass(frozen=True)
class CompilerFacts:
    """What NVRTC does with a small kernel."""

    works: bool = False
    error: str = ""
    architectures: tuple[int, ...] = ()  # 90 is sm_90


@dataclass(frozen=True)
class JobFacts:
    """Whether a kernel was compiled by NVRTC and run on a device, and its result read back."""

    works: bool = False
    device: int | None = None
    error: str = ""


@dataclass(frozen=True)
class ToolkitFacts:
    """CUDA's own headers: a toolkit, an environment or a wheel."""

    found_by: str
    path: str  # of the headers
    release: Release | None


@dataclass(frozen=True)
class CacheFacts:
    """The folder of compiled programs."""

    path: str = ""  # "": there is none
    entries: int = 0
    size: int = 0  # in bytes
    problem: str = ""  # why it is not used, though it is not switched off


@dataclass(frozen=True)
class Facts:
    """All that the report is made of."""

    cudapy: str
    python: str
    platform: str
    no_fast_lane: str = ""  # why calls of C functions do not go through machine code; "": they do
    libraries: tuple[LibraryFacts, ...] = ()
    driver: DriverFacts = field(default_factory=DriverFacts)
    compiler: CompilerFacts = field(default_factory=CompilerFacts)
    job: JobFacts = field(default_factory=JobFacts)
    simulated: JobFacts = field(default_factory=JobFacts)  # the same on the simulator, if no device did it
    cache: CacheFacts = field(default_factory=CacheFacts)
    nvidia_fs: str = ""  # the version of the driver of GPUDirect Storage; "": it is not loaded
    headers: tuple[str, ...] = ()  # the folders that go with NVRTC
    toolkits: tuple[ToolkitFacts, ...] = ()
    wheels: dict[str, str] = field(default_factory=dict)  # those of NVIDIA that cudapy uses, with versions
    environment: dict[str, str] = field(default_factory=dict)  # those of VARIABLES that are set
    absent: tuple[str, ...] = ()  # variables that name a folder which is not there
    stubs: tuple[tuple[str, str], ...] = ()  # (variable, entry): folders of link-time stubs of libcuda

    @property
    def runs_kernels(self) -> bool:
        """Whether kernels run: on a device or, where there is no driver at all, on the simulator."""
        driver = self.library("cuda")
        return self.job.works or (self.simulated.works and not driver.path and not driver.broken)

    def library(self, name: str) -> LibraryFacts:
        """The entry of `libraries`; an empty one if it is not there."""
        return next((library for library in self.libraries if library.name == name), LibraryFacts(name))
