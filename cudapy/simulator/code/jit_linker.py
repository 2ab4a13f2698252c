"""Has each cubin that nvJitLink makes in this process carry its PTX.

Of PTX that is the PTX, put together; of LTO-IR it is what the same link makes with -ptx; of both, both.
"""

import ctypes
import os
import re
from typing import Any

from ... import nvrtc
from ..._ffi import elf, fatbin
from ...nvjitlink import nvJitLinkInputType as Kind
from ..refused import Refused
from . import device_runtime
from . import images as code
from .merging import PROVIDED, together
from .watched import Watched

ADDRESS = ctypes.c_void_p
LTO = (b"-lto", b"--link-time-opt")


Input = tuple[int, bytes, str]  # its kind, its bytes, its name


class Link:
    """What a link was told."""

    def __init__(self, options: list[bytes]) -> None:
        self.options = options
        self.inputs: list[Input] = []


class WatchedNvJitLink(Watched):
    """A libnvJitLink whose nvJitLinkGetLinkedCubin and ...Size are about cubins with their PTX."""

    def __init__(self, library: Any) -> None:
        number, size = ctypes.c_uint32, ctypes.c_size_t
        self._links: dict[int, Link] = {}
        super().__init__(
            library,
            {
                "nvJitLinkCreate": (self._create, (ADDRESS, number, ADDRESS)),
                "nvJitLinkDestroy": (self._destroy, (ADDRESS,)),
                "nvJitLinkAddData": (self._add_data, (ADDRESS, ctypes.c_int, ADDRESS, size, ctypes.c_char_p)),
                "nvJitLinkAddFile": (self._add_file, (ADDRESS, ctypes.c_int, ctypes.c_char_p)),
                "nvJitLinkGetLinkedCubin": (self._get_cubin, (ADDRESS, ADDRESS)),
                "nvJitLinkGetLinkedCubinSize": (self._get_size, (ADDRESS, ADDRESS)),
            },
        )

    def _call(self, name: str, *arguments: Any) -> int:
        try:
            function = self._library[f"nvJitLink{name}"]
        except AttributeError:
            function = self._library[f"__nvJitLink{name}_12_0"]
        return int(function(*arguments))

    def _create(self, handle: int | None, count: int, options: int | None) -> int:
        status = self._call("Create", ADDRESS(handle), ctypes.c_uint32(count), ADDRESS(options))
        if not status and handle:
            given = ctypes.cast(options or 0, ctypes.POINTER(ctypes.c_char_p))
            number = ADDRESS.from_address(handle).value or 0
            self._links[number] = Link([given[i] or b"" for i in range(count)])
        return status

    def _destroy(self, handle: int | None) -> int:
        if handle:
            self._links.pop(ADDRESS.from_address(handle).value or 0, None)
        return self._call("Destroy", ADDRESS(handle))

    def _add_data(self, handle: int, kind: int, data: int | None, size: int, name: bytes | None) -> int:
        arguments = ADDRESS(handle), kind, ADDRESS(data), ctypes.c_size_t(size), ctypes.c_char_p(name)
        status = self._call("AddData", *arguments)
        if not status and data and handle in self._links:
            self._note(handle, kind, ctypes.string_at(data, size), name)
        return status

    def _add_file(self, handle: int, kind: int, name: bytes | None) -> int:
        status = self._call("AddFile", ADDRESS(handle), kind, ctypes.c_char_p(name))
        if not status and handle in self._links:
            with open(os.fsdecode(name or b""), "rb") as file:
                self._note(handle, kind, file.read(), name)
        return status

    def _note(self, handle: int, kind: int, data: bytes, name: bytes | None) -> None:
        self._links[handle].inputs.append((kind, data, os.fsdecode(name or b"a unit")))

    def _get_cubin(self, handle: int, cubin: int | None) -> int:
        status, code = self._cubin(handle)
        if status or not cubin:
            return status or self._call("GetLinkedCubin", ADDRESS(handle), None)
        ctypes.memmove(cubin, code, len(code))
        return 0

    def _get_size(self, handle: int, size: int | None) -> int:
        status, cubin = self._cubin(handle)
        if status or not size:
            return status or self._call("GetLinkedCubinSize", ADDRESS(handle), None)
        ctypes.c_size_t.from_address(size).value = len(cubin)
        return 0

    def _cubin(self, handle: int) -> tuple[int, bytes]:
        """The status of asking for the cubin of a link, and the cubin, with its PTX where there is any."""
        status, cubin = self._fetch(handle, "Cubin")
        link = self._links.get(handle)
        if status or link is None or not cubin.startswith(elf.MAGIC):
            return status, cubin
        is_lto = any(option in LTO for option in link.options)
        ptx = self._linked(link) if is_lto else _together(link.inputs)
        return 0, code.attach(cubin, ptx) if ptx else cubin

    def _linked(self, link: Link) -> bytes:
        """The PTX of a link with LTO; nothing if it cannot be had."""
        late = [given for given in link.inputs if _text(*given) or device_runtime.is_archive(given[1])]
        early = [given for given in link.inputs if given not in late]
        if not early:
            return _together(late)
        uses = _declared(late)
        ptx = self._keeping(link.options, early, uses) if uses else b""
        ptx = ptx or self._optimized(link.options, early)
        return _together([(Kind.NVJITLINK_INPUT_PTX, ptx, "LTO-IR"), *late]) if ptx else b""

    def _keeping(self, options: list[bytes], inputs: list[Input], names: list[str]) -> bytes:
        """The PTX that nvJitLink makes of LTO-IR, with the functions `names`, which PTX calls.

        It drops those that no LTO-IR uses: one more kernel does, and goes again. Nothing if it cannot be had.
        """
        architecture = next((option for option in options if option.startswith(b"-arch")), b"")
        user = _ltoir(_user(names), [architecture, b"-rdc=true", b"-dlto"])
        if not user:
            return b""
        ptx = self._optimized(options, [*inputs, (Kind.NVJITLINK_INPUT_LTOIR, user, _USER)])
        return _USER_CODE.sub(b"", ptx)

    def _fetch(self, handle: int, what: str) -> tuple[int, bytes]:
        size = ctypes.c_size_t()
        status = self._call(f"GetLinked{what}Size", ADDRESS(handle), ctypes.byref(size))
        if status:
            return status, b""
        buffer = ctypes.create_string_buffer(size.value)
        return self._call(f"GetLinked{what}", ADDRESS(handle), buffer), buffer.raw

    def _optimized(self, options: list[bytes], inputs: list[Input]) -> bytes:
        """The PTX that nvJitLink makes of LTO-IR; nothing if it makes none."""
        options = [*options, b"-ptx"]
        array, handle = (ctypes.c_char_p * len(options))(*options), ADDRESS()
        if self._call("Create", ctypes.byref(handle), ctypes.c_uint32(len(options)), array):
            return b""
        try:
            for kind, data, name in inputs:
                size, label = ctypes.c_size_t(len(data)), ctypes.c_char_p(os.fsencode(name))
                if self._call("AddData", handle, kind, data, size, label):
                    return b""
            if self._call("Complete", handle):
                return b""
            status, ptx = self._fetch(handle.value or 0, "Ptx")
            return b"" if status else ptx
        finally:
            self._call("Destroy", ctypes.byref(handle))


_USER = "cudapy_uses"
_USER_CODE = re.compile(rb"(?:\.visible\s+)?\.entry\s+%s\(.*?\n}" % _USER.encode(), re.S)
_DECLARED = re.compile(r"\.extern\s+\.func\s*(?:\([^)]*\)\s*)?([\w$]+)")


def _declared(inputs: list[Input]) -> list[str]:
    """The functions that the PTX of inputs has from elsewhere."""
    texts = [_text(*given).decode(errors="replace") for given in inputs]
    return sorted({name for text in texts for name in _DECLARED.findall(text)} - set(PROVIDED))


def _user(names: list[str]) -> str:
    """CUDA C++ of a kernel that uses functions."""
    declared = "".join(f'extern "C" __device__ void {name}();\n' for name in names)
    uses = "".join(f" p[{i}] = {name};" for i, name in enumerate(names))
    return f'{declared}extern "C" __global__ void {_USER}(void (**p)()) {{{uses} }}\n'


def _ltoir(code: str, options: list[bytes]) -> bytes:
    """What NVRTC makes of CUDA C++; nothing if there is none, or it does not compile."""
    try:
        status, program = nvrtc.nvrtcCreateProgram(code.encode(), b"", 0, [], [])
    except (OSError, RuntimeError):
        return b""
    if status:
        return b""
    try:
        if nvrtc.nvrtcCompileProgram(program, len(options), options)[0]:
            return b""
        status, size = nvrtc.nvrtcGetLTOIRSize(program)
        ltoir = bytearray(0 if status else size)
        return b"" if status or nvrtc.nvrtcGetLTOIR(program, ltoir)[0] else bytes(ltoir)
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _text(kind: int, data: bytes, name: str) -> bytes:
    """The PTX in an input; nothing if there is none."""
    try:
        if kind == Kind.NVJITLINK_INPUT_PTX or (kind == Kind.NVJITLINK_INPUT_ANY and b".version" in data):
            return data
        if data.startswith((elf.MAGIC, fatbin.MAGIC)):
            return code.of_image(data)
    except Refused:
        pass
    return b""


def _together(inputs: list[Input]) -> bytes:
    """The PTX of all inputs as one; nothing if one of them has none."""
    units = [(_text(*given), given[2]) for given in inputs if not device_runtime.is_archive(given[1])]
    if not all(text for text, _ in units):
        return b""
    try:
        return together(units, len(units) < len(inputs))
    except Refused:
        return b""
