"""Parts of the build: README.md as the package's index shows it, and the wheel as small as it can be."""

from __future__ import annotations

import posixpath
import re
import zipfile
import zlib
from pathlib import Path
from typing import Any

try:
    import deflate
except ImportError:  # where it has no wheel it would need a compiler; zlib's files are 2.5 % larger
    deflate = None
try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
    from hatchling.metadata.plugin.interface import MetadataHookInterface
except ImportError:  # the site uses `absolute`, too
    BuildHookInterface = MetadataHookInterface = object

_LINK = re.compile(r"(!?)(\[(?:[^\[\]]|!\[[^\]]*\]\([^)]*\))*\])\(([^)\s]+)\)")


def absolute(text: str, repository: str, version: str, folder: str = "") -> str:
    """Markdown whose links to files, which are relative to `folder`, lead to them in `repository`."""

    def changed(link: re.Match[str]) -> str:
        is_picture, label, target = link.groups()
        if re.match(r"[a-z]+:|#|//", target):
            return link[0]
        path = posixpath.normpath(posixpath.join(folder, target))
        return f"{is_picture}{label}({repository}/{'raw' if is_picture else 'blob'}/{version}/{path})"

    return _LINK.sub(changed, text)


class ReadmeHook(MetadataHookInterface):
    """Makes `readme` of README.md, for the version that is built: without what is for its developers."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        root = Path(self.root)
        version = re.search(
            r'^__version__ = "(.*)"', (root / "cudapy" / "__init__.py").read_text(), re.MULTILINE
        )
        assert version, "cudapy/__init__.py has no __version__"
        text = (root / "README.md").read_text(encoding="utf-8").partition("\n## Development\n")[0]
        source = metadata["urls"]["Source"]
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": absolute(text, source, f"v{version[1]}"),
        }


class WheelHook(BuildHookInterface):
    """Compresses the wheel again, as small as libdeflate or zlib can, for which hatchling has no option.

    RECORD has the hash of each file, without its size, which would be 0.2 % of the wheel.
    Source: the specification "Recording installed projects", which lets it be left empty.
    """

    PLUGIN_NAME = "custom"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        wheel, fast = Path(artifact_path), Path(f"{artifact_path}.fast")
        wheel.rename(fast)
        with zipfile.ZipFile(fast) as source, wheel.open("w+b") as file, zipfile.ZipFile(file, "w") as target:
            for entry in source.infolist():
                data = source.read(entry)
                if entry.filename.endswith(".dist-info/RECORD"):
                    data = re.sub(rb"(,sha256=[^,]+,)\d+$", rb"\1", data, flags=re.MULTILINE)
                target.writestr(entry, deflated(data), 0)
                entry.compress_type, entry.CRC, entry.file_size = (
                    zipfile.ZIP_DEFLATED,
                    zlib.crc32(data),
                    len(data),
                )
                file.seek(entry.header_offset)
                file.write(entry.FileHeader())
                file.seek(target.start_dir)
        fast.unlink()


def deflated(data: bytes) -> bytes:
    """Compressed as far as possible: by libdeflate, or with the best of zlib's ways to end a block."""
    if deflate and data:
        return bytes(deflate.deflate_compress(data, 12))

    def by_zlib(memory: int) -> bytes:
        compressor = zlib.compressobj(9, zlib.DEFLATED, -15, memory)
        return compressor.compress(data) + compressor.flush()

    return min(map(by_zlib, range(5, 10)), key=len)
