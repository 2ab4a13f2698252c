"""The gallery: every sample, with its picture where it makes one."""

from __future__ import annotations

from pathlib import Path

from samples.__main__ import Sample, samples

from .docstrings import escaped

TITLES = {
    "": "Running a kernel",
    "introduction": "Introduction",
    "concepts_and_techniques": "Concepts and techniques",
    "cuda_features": "CUDA features",
    "libraries_and_applications": "Libraries and applications",
    "interop": "Other libraries, several devices",
}
PICTURES = {"mandelbrot": "mandelbrot", "iso_fd_modelling": "wave"}
"""Samples whose picture is in docs/ itself, and its name; the others are in docs/gallery/ under their own."""


def picture(docs: Path, sample: Sample) -> str | None:
    """The path of a sample's picture in docs/."""
    named = PICTURES.get(sample.name)
    path = f"{named}.png" if named else f"gallery/{sample.name}.png"
    return path if (docs / path).is_file() else None


def page(docs: Path, repository: str) -> str:
    """The page. `repository`: where the files of samples/ are."""
    lines = [
        "# Gallery",
        "",
        "Every sample runs alone, with a GPU or without, and checks its own result.",
        "",
    ]
    lines += [
        "`python -m samples` lists them, and [Samples](samples.md) says what each one needs and prints.",
        "",
    ]
    category = None
    for sample in samples():
        if sample.category != category:
            if category is not None:
                lines += [":::::", ""]
            category = sample.category
            lines += [f"## {TITLES[category]}", "", ":::::{grid} 1 2 2 3", ":gutter: 3", ""]
        lines += _card(docs, repository, sample)
    return "\n".join([*lines, ":::::", ""])


def _card(docs: Path, repository: str, sample: Sample) -> list[str]:
    path = (
        f"samples/{sample.category}/{sample.path.name}" if sample.category else f"samples/{sample.path.name}"
    )
    name, _, what = sample.title.partition(": ")
    image = picture(docs, sample)
    title = sample.name.replace("_", "_<wbr>")
    lines = ["::::{grid-item-card} " + title, f":link: {repository}/{path}"]
    if image:
        lines += [f":img-top: ../{image}", f":img-alt: {name}"]
    return [
        *lines,
        "",
        escaped(what[:1].upper() + what[1:]),
        "::::",
        "",
    ]
