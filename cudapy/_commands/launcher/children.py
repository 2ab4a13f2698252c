"""What Python processes are told that this one starts."""

import os


def tell(variable: str, module: str, *arguments: str) -> None:
    """Have Python processes that inherit the environment call `module.install(*arguments, children=True)`.

    They run site/sitecustomize.py when they start, which looks at `variable`.
    """
    os.environ[variable] = " ".join([module, *arguments])
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "site")
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [folder, *(path for path in paths if path not in ("", folder))]
    )
