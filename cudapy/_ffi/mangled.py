"""Names of C++ functions, as compilers write them into code: "_Z5scalePff" is that of `scale`.

Source: Itanium C++ ABI, "Mangling"; its parts that kernels have.
"""

import re

_TYPES = {
    "a": "signed char",
    "b": "bool",
    "c": "char",
    "d": "double",
    "f": "float",
    "h": "unsigned char",
    "i": "int",
    "j": "unsigned int",
    "l": "long",
    "m": "unsigned long",
    "s": "short",
    "t": "unsigned short",
    "v": "void",
    "x": "long long",
    "y": "unsigned long long",
}
_PREFIXES = {"P": "{}*", "R": "{}&", "K": "const {}"}
_IN_TEXT = re.compile(r"(?<![\w$.])_Z[1-9N]\w+")


def readable(name: str) -> str:
    """The name in the source of a mangled one, without parameters: ns::fill<float> of "_ZN2ns4fillIfEEvPT_".

    Other names, and mangled ones of kinds that kernels seldom have, are returned as they are. Arguments of
    templates that are not built-in types, classes, pointers or numbers are shown as "...".
    """
    if not name.startswith("_Z"):
        return name
    try:
        return _Reader(name[2:]).function()
    except (IndexError, ValueError):
        return name


def readable_in(text: str) -> str:
    """`text` with the names of functions in it as in their source."""
    return _IN_TEXT.sub(lambda match: readable(match[0]), text)


class _Unknown(ValueError):
    """An argument of a template that is of no kind known here."""


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def function(self) -> str:
        """The name that the text begins with, which has to be that of a function."""
        name = self._name()
        if self._at == len(self._text):
            raise ValueError("no parameters follow: a variable, or not a name")
        if "_param_" in self._text[self._at :]:
            raise ValueError("a parameter of a kernel, in PTX")
        return name

    def _name(self) -> str:
        if not self._skip("N"):
            return self._part()
        parts = []
        while not self._skip("E"):
            parts.append(self._part())
        return "::".join(parts)

    def _part(self) -> str:
        count = re.compile(r"[1-9]\d*").match(self._text, self._at)
        if count is None:
            raise ValueError("no length of a name")
        start, end = count.end(), count.end() + int(count[0])
        if end > len(self._text):
            raise ValueError("a name is cut off")
        self._at = end
        name = self._text[start:end]
        if name.startswith("_GLOBAL__N_"):
            name = "(anonymous namespace)"
        return name + self._arguments() if self._skip("I") else name

    def _arguments(self) -> str:
        found = []
        try:
            while not self._skip("E"):
                found.append(self._argument())
        except _Unknown:
            self._at = len(self._text) - 1  # where they end is not known
            found.append("...")
        return f"<{', '.join(found)}>"

    def _argument(self) -> str:
        letter = self._text[self._at]
        if letter in _PREFIXES:
            self._at += 1
            return _PREFIXES[letter].format(self._argument())
        if letter in _TYPES:
            self._at += 1
            return _TYPES[letter]
        if letter == "L":
            number = re.compile(r"L([a-z])(n?)(\d+)E").match(self._text, self._at)
            if number is None:
                raise _Unknown
            self._at = number.end()
            value = ("-" if number[2] else "") + number[3]
            return {"0": "false", "1": "true"}[value] if number[1] == "b" else value
        if letter == "N" or letter.isdigit():
            return self._name()
        raise _Unknown

    def _skip(self, letter: str) -> bool:
        is_there = self._text[self._at] == letter
        self._at += is_there
        return is_there
