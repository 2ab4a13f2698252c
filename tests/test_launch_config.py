"""LaunchConfig: what it takes, what it refuses, and what is assigned to it."""

from __future__ import annotations

import pickle
import weakref

import pytest

from cudapy import driver
from cudapy._core.kernels.launch_config import c_config
from cudapy.core import LaunchConfig


class Index:
    """An integer of another library."""

    def __index__(self) -> int:
        return 5


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (7, (7, 1, 1)),
        ((7,), (7, 1, 1)),
        ((7, 8), (7, 8, 1)),
        ([7, 8, 9], (7, 8, 9)),
        (Index(), (5, 1, 1)),
        ((1, Index()), (1, 5, 1)),
        (2**31 - 1, (2**31 - 1, 1, 1)),
    ],
)
def test_extents_become_three_ints(given, expected) -> None:
    config = LaunchConfig(grid=given, block=given)
    assert config.grid == config.block == expected
    assert all(type(size) is int for size in config.grid + config.block)
    config = LaunchConfig(grid=1, block=1, cluster=given)
    assert config.grid == (1, 1, 1) and config.cluster == expected


def test_more_blocks_than_c_can_count() -> None:
    with pytest.raises(ValueError, match="cluster"):
        LaunchConfig(grid=2**31, cluster=2, block=1)


def test_defaults() -> None:
    config = LaunchConfig(grid=1, block=2)
    assert config.cluster is None
    assert config.shmem_size == 0
    assert config.is_cooperative is False
    assert config.programmatic_stream_serialization is False


def test_positions_are_grid_cluster_block() -> None:
    config = LaunchConfig(1, 2, 3, 4, True, True)
    assert (config.grid[0], config.cluster[0], config.block[0], config.shmem_size) == (1, 2, 3, 4)  # type: ignore[index]
    assert config.is_cooperative and config.programmatic_stream_serialization


def test_both_names_of_a_cooperative_launch() -> None:
    for config in (
        LaunchConfig(grid=1, block=1, is_cooperative=True),
        LaunchConfig(grid=1, block=1, cooperative_launch=True),
    ):
        assert config.is_cooperative and config.cooperative_launch


@pytest.mark.parametrize("name", ["grid", "block", "cluster"])
@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (0, ValueError),
        (-1, ValueError),
        (2**32, ValueError),
        ((), ValueError),
        ((1, 2, 3, 4), ValueError),
        ((1, 0), ValueError),
        (1.0, TypeError),
        ("1", TypeError),
        ((1, None), TypeError),
    ],
)
def test_a_wrong_extent_is_named(name, wrong, error) -> None:
    with pytest.raises(error, match=name):
        LaunchConfig(**{"grid": 1, "block": 1, name: wrong})


@pytest.mark.parametrize("missing", [{"grid": 1}, {"block": 1}, {}])
def test_grid_and_block_are_needed(missing) -> None:
    with pytest.raises(TypeError, match=r"grid= .* block="):
        LaunchConfig(**missing)


@pytest.mark.parametrize(("wrong", "error"), [(-1, ValueError), (2**32, ValueError), (1.5, TypeError)])
def test_a_wrong_shared_memory_size(wrong, error) -> None:
    with pytest.raises(error, match=r"shmem_size = .* is not a size of shared memory in bytes$"):
        LaunchConfig(grid=1, block=1, shmem_size=wrong)


def test_the_order_of_a_launch_in_cuda_is_not_that_of_positions() -> None:
    with pytest.raises(ValueError, match=r"block = 0 must be .*; by position block is third.*: write block="):
        LaunchConfig(4, 256, 0)


ASSIGNED = [
    ("grid", (5, 6), (5, 6, 1)),
    ("grid", 5, (5, 1, 1)),
    ("cluster", (2, 1, 1), (2, 1, 1)),
    ("block", (7, 8, 9), (7, 8, 9)),
    ("shmem_size", 10, 10),
    ("is_cooperative", True, True),
    ("cooperative_launch", 1, True),
    ("programmatic_stream_serialization", True, True),
]


@pytest.mark.parametrize("before", [{}, {"cluster": 3, "is_cooperative": True, "shmem_size": 4}])
@pytest.mark.parametrize(("name", "value", "expected"), ASSIGNED)
def test_what_is_assigned_is_there_and_nothing_else_changes(before, name, value, expected) -> None:
    config = LaunchConfig(grid=1, block=1, **before)
    setattr(config, name, value)
    assert getattr(config, name) == expected
    alike = LaunchConfig(**{"grid": 1, "block": 1, **before, name: value})
    assert config == alike and hash(config) == hash(alike)
    assert c_config(config, 8) == c_config(alike, 8)


def test_attributes_can_be_taken_back() -> None:
    config = LaunchConfig(
        grid=2, cluster=3, block=1, is_cooperative=True, programmatic_stream_serialization=True
    )
    config.cluster, config.is_cooperative, config.programmatic_stream_serialization = None, False, False
    assert config == LaunchConfig(grid=2, block=1)
    assert c_config(config, 8) == c_config(LaunchConfig(grid=2, block=1), 8)


@pytest.mark.parametrize(
    ("name", "wrong", "error"),
    [
        ("grid", 0, ValueError),
        ("grid", None, TypeError),
        ("grid", 2**31, ValueError),  # of clusters
        ("block", (1, 2.5), TypeError),
        ("shmem_size", -1, ValueError),
        ("shmem_size", 1.5, TypeError),
        ("other", 1, AttributeError),
    ],
)
def test_what_is_refused_leaves_it_as_it_was(name, wrong, error) -> None:
    config = LaunchConfig(grid=1, cluster=2, block=1)
    before = c_config(config, 0)
    with pytest.raises(error):
        setattr(config, name, wrong)
    assert config == LaunchConfig(grid=1, cluster=2, block=1) and c_config(config, 0) == before


def test_what_c_had_before_stays_where_it_was() -> None:
    """A launch in another thread may be about to read it."""
    config = LaunchConfig(grid=1, cluster=(2, 3, 4), block=1)
    before = c_config(config, 0)
    for size in range(5, 30):
        config.cluster = size
    (cluster,) = driver.CUlaunchConfig.from_buffer_copy(before).attrs
    assert (cluster.value.clusterDim.x, cluster.value.clusterDim.y, cluster.value.clusterDim.z) == (2, 3, 4)


def test_it_can_be_referred_to_weakly() -> None:
    config = LaunchConfig(grid=1, block=1)
    reference = weakref.ref(config)
    assert reference() is config
    del config
    assert reference() is None


def test_equal_configurations_are_equal_keys() -> None:
    one, same = (
        LaunchConfig(grid=1, block=32, shmem_size=4),
        LaunchConfig(grid=(1, 1), block=[32], shmem_size=4),
    )
    assert one == same and hash(one) == hash(same)
    for other in (
        LaunchConfig(grid=2, block=32, shmem_size=4),
        LaunchConfig(grid=1, block=32),
        LaunchConfig(grid=1, block=32, shmem_size=4, cluster=1),
        LaunchConfig(grid=1, block=32, shmem_size=4, is_cooperative=True),
        LaunchConfig(grid=1, block=32, shmem_size=4, programmatic_stream_serialization=True),
    ):
        assert one != other
    assert one != (1, 32)


def test_c_has_the_same_shape() -> None:
    config = LaunchConfig(grid=(2, 3), block=(4, 5, 6), shmem_size=7)
    c = driver.CUlaunchConfig.from_buffer_copy(c_config(config, 8))
    assert (c.gridDimX, c.gridDimY, c.gridDimZ) == (2, 3, 1)
    assert (c.blockDimX, c.blockDimY, c.blockDimZ) == (4, 5, 6)
    assert (c.sharedMemBytes, int(c.hStream), c.attrs, c.numAttrs) == (7, 8, [], 0)


def test_c_has_the_attributes() -> None:
    config = LaunchConfig(
        grid=(2, 3), cluster=(4, 1), block=1, is_cooperative=True, programmatic_stream_serialization=True
    )
    c = driver.CUlaunchConfig.from_buffer_copy(c_config(config, 0))
    assert (c.gridDimX, c.gridDimY) == (8, 3)  # the grid counts clusters
    cluster, cooperative, programmatic = c.attrs
    kind = driver.CUlaunchAttributeID
    assert cluster.id == kind.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    assert (cluster.value.clusterDim.x, cluster.value.clusterDim.y, cluster.value.clusterDim.z) == (4, 1, 1)
    assert cooperative.id == kind.CU_LAUNCH_ATTRIBUTE_COOPERATIVE and cooperative.value.cooperative == 1
    assert programmatic.id == kind.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    assert programmatic.value.programmaticStreamSerializationAllowed == 1


def test_pickle_and_repr_are_complete() -> None:
    config = LaunchConfig(grid=(2, 3), cluster=2, block=64, shmem_size=8, is_cooperative=True)
    assert pickle.loads(pickle.dumps(config)) == config
    assert eval(repr(config)) == config
    assert repr(LaunchConfig(grid=1, block=2)) == "LaunchConfig(grid=(1, 1, 1), block=(2, 1, 1))"
