"""cudapy.alias: programs for cuda.bindings and cuda.core, run as they are, and as python itself runs them."""

from __future__ import annotations

import json
import os
import py_compile
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import cudapy
from cudapy._commands.alias.finder import Finder

ROOT = Path(__file__).parents[1]
SITE = ROOT / "cudapy" / "_commands" / "launcher" / "site"


LAUNCHER = f"""
import sys
sys.path.append({str(ROOT)!r})
from cudapy._commands.alias.command import main
main(sys.argv[1:])
"""
"""`python -m cudapy.alias` with a cudapy that PYTHONPATH does not lead to."""


def start(*arguments: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python, without a cuda package in its way but those of `cwd`/site."""
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "CUDAPY_ALIAS", "CUDAPY_DRIVER")}
    environ = {**clean, "PYTHONPATH": f"{ROOT}{os.pathsep}{cwd / 'site'}", **environment}
    command = [sys.executable, "-B", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, timeout=60)


def alias(*arguments: object, cwd: Path, **environment: str) -> str:
    """What a program under the alias prints."""
    done = start("-m", "cudapy.alias", *arguments, cwd=cwd, **environment)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def answers(code: str, cwd: Path, *options: str, **environment: str) -> Any:
    """The JSON that code prints under the alias."""
    return json.loads(alias(*options, "-c", code, cwd=cwd, **environment))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site-packages with real packages in the namespace `cuda`: cuda.tile, and another cuda.bindings."""
    files = {
        "cuda/tile/__init__.py": "name = 'tile'",
        "cuda/bindings/__init__.py": "__version__ = '11.8.0'",
        "cuda/bindings/nothing.py": "",
        "cuda/bindings/driver.py": "real = True",
        "cuda/core/__init__.py": "from cuda.bindings import driver\nreal = True",
    }
    for name, text in files.items():
        file = tmp_path / "site" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


# -- what is aliased --------------------------------------------------------------------------------------

SAME = """
import json
import cuda.bindings.driver, cuda.bindings.runtime, cuda.bindings.nvrtc, cuda.bindings.nvvm
import cuda.bindings.nvjitlink, cuda.bindings.nvfatbin, cuda.bindings.utils, cuda.core.graph, cuda.core.typing
import cuda.bindings.cufile
import cuda.core.utils, cuda.core.experimental.utils as old_utils, cuda.core.texture, cuda.pathfinder
from cuda import cuda as old_driver, cudart as old_runtime, nvrtc as old_nvrtc
from cuda.core.experimental import Device, GraphBuilder
from cuda.bindings.driver import CUstream
import cudapy.alias
from cudapy import core, cufile, driver, nvfatbin, nvjitlink, nvrtc, nvvm, pathfinder, runtime, utils
pairs = [
    (cuda.bindings.driver, driver), (cuda.bindings.runtime, runtime), (cuda.bindings.nvrtc, nvrtc),
    (cuda.bindings.nvvm, nvvm), (cuda.bindings.nvjitlink, nvjitlink), (cuda.bindings.nvfatbin, nvfatbin),
    (cuda.bindings.cufile, cufile),
    (cuda.bindings.utils, utils), (cuda.core.graph, core.graph), (cuda.core.typing, core.typing),
    (cuda.core.utils, core.utils), (old_utils, core.utils), (old_driver, driver), (old_runtime, runtime),
    (old_nvrtc, nvrtc), (Device, core.Device), (cuda.core.Device, core.Device), (CUstream, driver.CUstream),
    (cuda.core.texture.OpaqueArray, core.texture.OpaqueArray), (cuda.core.texture, core.texture),
    (cuda.core.Program, core.Program), (GraphBuilder, core.graph.GraphBuilder),
    (cuda.core.graph.GraphBuilder, core.graph.GraphBuilder), (cuda.pathfinder.load, pathfinder.load),
    (driver.__spec__.name, "cudapy.driver"), (driver.__name__, "cudapy.driver"),
]
print(json.dumps([[str(a), str(b)] for a, b in pairs if a is not b and a != b]))
"""


@pytest.mark.parametrize("installed", [False, True], ids=["nothing installed", "others installed"])
def test_names_are_those_of_cudapy(request: pytest.FixtureRequest, tmp_path: Path, installed: bool) -> None:
    if installed:
        request.getfixturevalue("site")
    assert answers(SAME, tmp_path) == []


def test_packages_look_like_packages(tmp_path: Path) -> None:
    """Versions, `dir`, stars, attributes that nobody imported, and importlib.metadata."""
    code = """
import json
from importlib import metadata, util
import cuda.bindings, cuda.core, cuda.core.experimental, cuda.pathfinder
scope = {}
exec("from cuda.core import *", scope)
exec("from cuda.pathfinder import *", scope)
names = ["cuda-bindings", "cuda_bindings", "cuda.core", "Cuda-PathFinder", "cuda-python"]
print(json.dumps([
    [module.__version__ for module in (cuda.bindings, cuda.core, cuda.core.experimental, cuda.pathfinder)],
    [metadata.version(name) for name in names],
    metadata.distribution("cuda-core").metadata["Name"],
    sorted({d.metadata["Name"] for d in metadata.distributions()} & {"cuda-bindings", "cuda-core"}),
    ["Device" in dir(cuda.core), "utils" in dir(cuda.bindings), {"Device", "find_static_lib"} <= set(scope)],
    [cuda.bindings.nvvm.__name__, cuda.bindings.utils.__name__, cuda.core.utils.__name__],
    [util.find_spec(f"cuda.{name}") is not None for name in ("bindings.nvml", "bindings.no", "core.no")],
]))
"""
    bindings, core, pathfinder = cudapy.bindings_version, "1.2.2", "1.9.1"
    assert answers(code, tmp_path) == [
        [bindings, core, core, pathfinder],
        [bindings, bindings, core, pathfinder, bindings],
        "cuda-core",
        ["cuda-bindings", "cuda-core"],
        [True, True, True],
        ["cudapy.nvvm", "cudapy.utils", "cudapy._core.modules.utils"],
        [True, False, False],
    ]


MISSING = {
    "import cuda.bindings._internal.nvvm": "cuda.bindings._internal is private to NVIDIA's cuda.bindings",
    "from cuda.bindings import _version": "cuda.bindings._version is private to NVIDIA's cuda.bindings",
    "from cuda.core._utils.cuda_utils import CUDAError": "cuda.core._utils is private to NVIDIA's cuda.core",
    "from cuda.core.experimental import _device": "cuda.core.experimental._device is private",
    "import cuda.pathfinder._dynamic_libs": "cuda.pathfinder._dynamic_libs is private",
    "import cuda.bindings.nothing": "No module named 'cuda.bindings.nothing'",
    "from cuda.bindings import nothing": "cannot import name 'nothing' from 'cuda.bindings'",
    "import cuda.core.nothing": "No module named 'cuda.core.nothing'",
    "import cuda.nothing": "No module named 'cuda.nothing'",
    "import cuda.bindings; cuda.bindings.nothing": "module 'cuda.bindings', which is cudapy's, has no",
}


def test_what_is_not_there(site: Path) -> None:
    """Neither of cudapy nor, though they are installed, of another package of that name."""
    code = f"""
import json
errors = []
for statement in {list(MISSING)!r}:
    try: exec(statement)
    except (ImportError, AttributeError) as error: errors.append([type(error).__name__, str(error)])
print(json.dumps(errors))
"""
    errors = answers(code, site)
    for (_, message), expected in zip(errors, MISSING.values(), strict=True):
        assert message.startswith(expected)
    kinds = 5 * ["ImportError"] + ["ModuleNotFoundError", "ImportError", *2 * ["ModuleNotFoundError"]]
    assert [kind for kind, _ in errors] == [*kinds, "AttributeError"]


def test_other_packages_of_the_namespace(site: Path) -> None:
    """Also those that come onto sys.path later."""
    (site / "later/cuda/late").mkdir(parents=True)
    (site / "later/cuda/late/__init__.py").write_text("name = 'late'")
    code = """
import json, sys
from cuda.bindings import driver
import cuda.tile
sys.path.append("later")
import cuda.late
print(json.dumps([driver.__name__, cuda.tile.name, cuda.late.name]))
"""
    assert answers(code, site) == ["cudapy.driver", "tile", "late"]
    code = code.replace("import cuda.tile\n", "").replace("cuda.tile.name, ", "")
    assert answers(code, site, PYTHONPATH=str(ROOT)) == ["cudapy.driver", "late"]


def test_a_cuda_package_with_code_of_its_own(site: Path) -> None:
    """As CUDA Python 11 has it."""
    (site / "site/cuda/__init__.py").write_text("own = __name__")
    code = """
import json, cuda.tile
from cuda import cuda as old, own
print(json.dumps([own, cuda.tile.name, old.__name__]))
"""
    assert answers(code, site) == ["cuda", "tile", "cudapy.driver"]


def test_some_packages_alone(site: Path) -> None:
    """A cuda.core that is installed runs on cudapy's driver."""
    code = """
import json, cuda.core, cuda.bindings
print(json.dumps([cuda.core.real, cuda.core.driver.__name__, cuda.bindings.__version__]))
"""
    expected = [True, "cudapy.driver", cudapy.bindings_version]
    assert answers(code, site, "--only", "cuda.bindings") == expected
    code = "import cuda.core as c, cuda.bindings as b, json; print(json.dumps([b.__version__, c.__name__]))"
    assert answers(code, site, "--only", "cuda.core", "--only", "cuda.pathfinder") == ["11.8.0", "cuda.core"]


# -- install() --------------------------------------------------------------------------------------------


def test_install(site: Path) -> None:
    code = """
import json, os, sys
before = dict(os.environ)
import cudapy.alias
import cuda, cuda.tile
cudapy.alias.install()
cudapy.alias.install()
from cuda.bindings import driver
finders = [type(finder).__name__ for finder in sys.meta_path].count("Finder")
failures = []
for packages in (["cuda.bindings"], ["cuda.tile"]):
    try: cudapy.alias.install(*packages)
    except (RuntimeError, ValueError) as error: failures.append([type(error).__name__, str(error)])
print(json.dumps([driver.__name__, finders, before == dict(os.environ), failures]))
"""
    done = start("-c", code, cwd=site)
    name, finders, unchanged, failures = json.loads(done.stdout or done.stderr)
    assert (name, finders, unchanged) == ("cudapy.driver", 1, True)
    (first, again), (second, unknown) = failures
    assert first == "RuntimeError" and "cuda.core" in again and "are aliased in this process already" in again
    assert (second, unknown) == (
        *(
            "ValueError",
            "no package 'cuda.tile' to alias: there are cuda.bindings, cuda.core, cuda.pathfinder",
        ),
    )


@pytest.mark.parametrize("first", ["cuda.bindings.driver", "cuda.core"])
def test_installed_too_late(site: Path, first: str) -> None:
    code = f"import {first}, cudapy.alias; cudapy.alias.install()"
    done = start("-c", code, cwd=site)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("RuntimeError: cuda.bindings was imported before cudapy.alias.install()")
    code = f"import {first}, cudapy.alias; cudapy.alias.install('cuda.pathfinder')"
    assert start("-c", f"{code}; import cuda.pathfinder as p; p.load", cwd=site).returncode == 0


def test_importing_the_alias_is_light(tmp_path: Path) -> None:
    code = """
import sys; before = set(sys.modules)
import cudapy.alias; cudapy.alias.install()
new = sorted(name for name in set(sys.modules) - before if name.startswith("cudapy"))
import json; print(json.dumps(new))
"""
    done = start("-c", code, cwd=tmp_path)
    assert json.loads(done.stdout) == [
        "cudapy",
        "cudapy._commands",
        "cudapy._commands.alias",
        "cudapy._commands.alias.finder",
        "cudapy._commands.alias.install",
        "cudapy.alias",
    ]


def test_every_module_of_the_table_is_there() -> None:
    from cudapy.alias import PACKAGES

    finder = Finder(tuple(PACKAGES.values()), "cudapy")
    for package in PACKAGES.values():
        assert isinstance(finder.read(*package.release), str)
        for name in (*package.modules, *package.folders):
            spec = finder.find_spec(name, None)
            assert spec is not None and spec.name == name
            assert (spec.submodule_search_locations is not None) == (name in package.folders)
    assert finder.find_spec("cuda.tile", None) is None and finder.find_spec("cudart", None) is None


# -- as python runs them ----------------------------------------------------------------------------------

SHOW = """
import json, sys, os
main = sys.modules["__main__"]
spec = main.__spec__
print(json.dumps([
    sys.argv, sys.path[0], main is not None and vars(main) is globals(), __name__,
    globals().get("__file__"), __package__, spec and spec.name, __doc__,
    type(__loader__).__name__ if __loader__ and "Builtin" not in str(__loader__) else None,
    "annotations" in globals() or hasattr(main, "annotations"), __import__("cuda.bindings").__name__,
]))
sys.exit(int(sys.argv[1]))
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A folder with programs of all kinds, and a cuda.bindings for a Python without the alias."""
    (tmp_path / "site/cuda/bindings").mkdir(parents=True)
    (tmp_path / "site/cuda/bindings/__init__.py").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "package/inner").mkdir(parents=True)
    for name in ("program.py", "folder/__main__.py", "package/__init__.py", "package/__main__.py"):
        (tmp_path / name).write_text("" if "__init__" in name else f'"""Text."""{SHOW}')
    (tmp_path / "package/module.py").write_text(
        f"from . import __main__ as other\n{SHOW}".replace("from .", "#")
    )
    py_compile.compile(str(tmp_path / "program.py"), str(tmp_path / "compiled.pyc"))
    (tmp_path / "link.py").symlink_to(tmp_path / "folder" / "__main__.py")
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as file:
        file.writestr("__main__.py", SHOW)
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ["program.py"], ["./program.py"], ["{}/program.py"], ["link.py"], ["compiled.pyc"], ["folder"],
        ["packed.zip"],
        ["-m", "program"], ["-m", "package"], ["-m", "package.module"], ["-mpackage"], ["-c", SHOW],
        [f"-c{SHOW}"],
    ],
    ids=lambda arguments: " ".join(arguments)[:20].strip(),
)  # fmt: skip
def test_programs_see_what_python_shows_them(program: Path, arguments: list[str]) -> None:
    arguments = [
        *(part.format(program) if part[0] == "{" else part for part in arguments),
        *("7", "-c", "x y"),
    ]
    plain = start(*arguments, cwd=program)
    aliased = start("-m", "cudapy.alias", *arguments, cwd=program)
    assert plain.stdout and (aliased.stdout, aliased.stderr) == (plain.stdout, plain.stderr)
    assert aliased.returncode == plain.returncode == 7


@pytest.mark.parametrize(
    "arguments",
    [
        ["missing.py"], ["-m", "missing"], ["-m", "package.missing"], ["-m", "missing.module"], ["-m", "sys"],
        ["package/inner"], ["-m", "package.inner"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_what_cannot_be_run(program: Path, arguments: list[str]) -> None:
    plain = start(*arguments, cwd=program)
    aliased = start("-m", "cudapy.alias", *arguments, cwd=program)
    assert aliased.returncode == plain.returncode != 0
    assert arguments[-1].split("/")[-1].split(".")[0] in aliased.stderr
    assert "Traceback" not in aliased.stderr and len(aliased.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "there is no program to run"),
        (["-m"], "there is no program to run"),
        (["--only", "cuda.core"], "there is no program to run"),
        (["-x", "program.py"], "unknown option -x"),
        (["--only", "cuda.tile", "program.py"], "no package 'cuda.tile' to alias"),
    ],
)
def test_usage(program: Path, arguments: list[str], message: str) -> None:
    done = start("-m", "cudapy.alias", *arguments, cwd=program)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("usage: python -m cudapy.alias") and message in done.stderr.splitlines()[-1]
    assert alias("--help", cwd=program).startswith("usage: python -m cudapy.alias")


def test_exceptions_and_late_work(program: Path) -> None:
    """A traceback has the program's lines; threads and functions for the exit find __main__ as it was."""
    (program / "late.py").write_text("""
import atexit, pickle, threading, time
class Thing: pass
def work():
    time.sleep(0.2)
    print("thread", pickle.loads(pickle.dumps(Thing())).__class__ is Thing)
threading.Thread(target=work).start()
atexit.register(lambda: print("exit", pickle.loads(pickle.dumps(Thing())).__class__ is Thing))
raise KeyError("the end")
""")
    done = start("-m", "cudapy.alias", "late.py", cwd=program)
    assert done.returncode == 1 and done.stdout == "thread True\nexit True\n"
    assert 'late.py", line 9, in <module>\n    raise KeyError' in done.stderr
    assert done.stderr.endswith("KeyError: 'the end'\n")


@pytest.mark.parametrize("option", ["-I", "-P"])
def test_safe_paths(program: Path, option: str) -> None:
    """Options that keep the program's folder off sys.path keep it off here, too."""
    if option == "-P" and sys.version_info < (3, 11):
        pytest.skip("python -P is new in 3.11")
    code = "import json, sys; print(json.dumps(sys.path))"
    (program / "path.py").write_text(code)
    done = start(option, "-c", LAUNCHER, "path.py", cwd=program)
    assert json.loads(done.stdout or done.stderr)[:-1] == json.loads(
        start(option, "path.py", cwd=program).stdout
    )


# -- processes that a program starts ----------------------------------------------------------------------

CHILDREN = """
import json, multiprocessing, subprocess, sys
from cuda.bindings import driver

def work(queue, value):
    import cuda.core
    queue.put([driver.__name__, cuda.core.Device.__module__.split(".")[0], type(value).__module__])

class Value: pass

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    queue = context.Queue()
    process = context.Process(target=work, args=(queue, Value()))
    process.start()
    result = queue.get(timeout=50)
    process.join()
    code = "import cuda.bindings.driver as d; print(d.__name__)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    print(json.dumps([result, out.stdout + out.stderr]))
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_children(tmp_path: Path, method: str) -> None:
    """With a cudapy that they would not find on their own."""
    (tmp_path / "program.py").write_text(CHILDREN)
    done = start("-c", LAUNCHER, "program.py", method, cwd=tmp_path, PYTHONPATH="")
    module = "__main__" if method == "fork" else "__mp_main__"
    assert json.loads(done.stdout or done.stderr) == [["cudapy.driver", "cudapy", module], "cudapy.driver\n"]


def test_children_keep_the_choice_and_the_next_sitecustomize(site: Path) -> None:
    (site / "site/sitecustomize.py").write_text("import sys; sys.mine = __file__")
    code = """
import json, os, subprocess, sys
show = '''
import json, os, sys, cuda.bindings, cuda.core
own = sys.modules["sitecustomize"].__file__
print(json.dumps([cuda.bindings.__version__, hasattr(cuda.core, "real"), sys.mine, own]))
'''
def run(**more):
    environ = {**os.environ, **more}
    done = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, env=environ)
    return json.loads(done.stdout or done.stderr)
print(json.dumps([run(), run(CUDAPY_ALIAS=""), os.environ["CUDAPY_ALIAS"], os.environ["PYTHONPATH"]]))
"""
    own = str(site / "site/sitecustomize.py")
    aliased, plain, variable, paths = answers(code, site, "--only", "cuda.bindings")
    assert aliased == [cudapy.bindings_version, True, own, own]
    assert plain == ["11.8.0", True, own, own], "without the variable nothing is aliased"
    assert variable == "cudapy.alias cuda.bindings"
    assert paths.split(os.pathsep) == [str(SITE), str(ROOT), str(site / "site")]


def test_a_vendored_copy(tmp_path: Path) -> None:
    """Under another name, in a folder that its children would not look in."""
    vendor = tmp_path / "host/vendor"
    vendor.mkdir(parents=True)
    (vendor / "cuda_copy").symlink_to(ROOT / "cudapy")
    code = """
import json, subprocess, sys
from cuda.bindings import driver
out = subprocess.run([sys.executable, "-c", "import cuda.bindings.driver as d; print(d.__name__)"],
                     capture_output=True, text=True, cwd="/")
print(json.dumps([driver.__name__, out.stdout + out.stderr]))
"""
    done = start("-m", "host.vendor.cuda_copy.alias", "-c", code, cwd=tmp_path, PYTHONPATH="")
    assert done.stderr == ""
    assert json.loads(done.stdout) == ["host.vendor.cuda_copy.driver", "host.vendor.cuda_copy.driver\n"]


# -- on the simulator -------------------------------------------------------------------------------------

SAXPY = '''
import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
from cuda.bindings import driver, runtime

code = """
extern "C" __global__ void saxpy(float a, const float *x, float *y) { y[threadIdx.x] += a * x[threadIdx.x]; }
"""
dev = Device()
dev.set_current()
stream = dev.create_stream()
program = Program(code, code_type="c++", options=ProgramOptions(arch=f"sm_{dev.arch}"))
kernel = program.compile("cubin").get_kernel("saxpy")
x, y = np.arange(64, dtype=np.float32), np.ones(64, dtype=np.float32)
err, pointer = runtime.cudaMalloc(2 * x.nbytes)
assert err == runtime.cudaError_t.cudaSuccess
dx, dy = int(pointer), int(pointer) + x.nbytes
for address, array in ((dx, x), (dy, y)):
    (err,) = driver.cuMemcpyHtoD(address, array.ctypes.data, array.nbytes)
    assert err == driver.CUresult.CUDA_SUCCESS
launch(stream, LaunchConfig(grid=1, block=64), kernel, np.float32(2), dx, dy)
stream.sync()
(err,) = driver.cuMemcpyDtoH(y.ctypes.data, dy, y.nbytes)
print(err.name, np.array_equal(y, 2 * x + 1))
'''


def test_a_program_for_nvidias_packages(tmp_path: Path, nvrtc: Any) -> None:
    (tmp_path / "saxpy.py").write_text(SAXPY)
    output = alias("saxpy.py", cwd=tmp_path, CUDAPY_DRIVER="simulator")
    assert output == "CUDA_SUCCESS True\n"
