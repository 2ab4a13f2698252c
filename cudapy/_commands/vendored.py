"""What a copy that `vendor` made was made without, for error messages.

Read when something is missing: a copy has a record of the modules that were selected for it.
"""


def left_out(module: str) -> str:
    """What to do about a module that this copy was made without; "" if it is here, or this is not a copy."""
    import json
    import os
    from importlib.util import find_spec

    package = str(__package__).rpartition(".")[0]
    if find_spec(f"{package}.{module}") is not None:
        return ""
    try:
        folder = os.path.dirname(os.path.dirname(__file__))
        with open(os.path.join(folder, "vendored.json"), encoding="utf-8") as file:
            modules = json.load(file)["modules"]
    except (OSError, ValueError, LookupError, TypeError):
        return ""
    name = "its simulator" if module == "simulator" else module
    return f"this copy was made without {name}: vendor it with --only {','.join([*modules, module])}"
