"""PTX text, cut into variables, functions and instructions.

Source: PTX ISA, "Syntax", "State Spaces", "Directives".
"""

import re

from .body import BodyReader
from .declarations import FUNCTION_HEAD, alias, function_head, variable
from .syntax import FunctionText, ModuleText, PTXError, Variable

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
_BLANK = re.compile(r"\s+")
_VERSION = re.compile(r"^[ \t]*\.version\b", re.MULTILINE)
_LINE = re.compile(r"\.(version|target|address_size|file)\b([^\n]*)")
_FILE = re.compile(r'\s*(\d+)\s+"([^"]*)"')
_SECTION = re.compile(r"\.(?:section|nv_intermediate_source_section)\b[^{;]*\{")
"""What is for debuggers alone: DWARF, and the source that a compiler of tile kernels made PTX of."""
_IN_SECTION = re.compile(r'\.source_begin\b.*?(?:\.source_end\b|\Z)|"[^"\n]*"|[{}]', re.DOTALL)


def parse(ptx: bytes | str) -> ModuleText:
    """A module. Raises PTXError, which says the line."""
    text = ptx.decode("utf-8", "replace") if isinstance(ptx, bytes) else ptx
    text = text.rstrip("\0")
    text = _COMMENT.sub(lambda match: "\n" * match.group().count("\n") or " ", text)
    if not _VERSION.search(text):
        raise PTXError("this is not PTX: it has no .version")
    return _Reader(text).module()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0
        self._line = 1
        files = re.findall(r'\.file\s+(\d{1,18})\s+"([^"]*)"', text)
        self._files = {int(number): name for number, name in files}

    def module(self) -> ModuleText:
        head = {"version": "", "target": ""}
        variables: dict[str, Variable] = {}
        functions: dict[str, FunctionText] = {}
        aliases: dict[str, tuple[str, int]] = {}  # with their lines
        while self._skip_blanks():
            line = self._line
            try:
                self._declaration(head, variables, functions, aliases)
            except PTXError as error:
                if str(error).startswith("line "):
                    raise
                raise PTXError(f"line {line}: {error}") from None
        for new, (old, line) in aliases.items():
            if old not in functions or not functions[old].has_body:
                raise PTXError(f"line {line}: {new} is an alias of {old}, which the module does not have")
        names = {new: old for new, (old, _) in aliases.items()}
        return ModuleText(head["target"], head["version"], variables, functions, names)

    def _declaration(
        self,
        head: dict[str, str],
        variables: dict[str, Variable],
        functions: dict[str, FunctionText],
        aliases: dict[str, tuple[str, int]],
    ) -> None:
        match = _LINE.match(self._text, self._place)
        if match is not None:
            head[match.group(1)] = match.group(2).strip()
            self._to(match.end())
            return
        match = _SECTION.match(self._text, self._place)
        if match is not None:
            self._to(self._end_of_section(match.end()))
            return
        if FUNCTION_HEAD.match(self._text, self._place):
            function = self._function()
            known = functions.get(function.name)
            if known is None or function.has_body:
                functions[function.name] = function
            return
        line, statement = self._line, self._statement()
        if statement.startswith(".alias"):
            new, old = alias(statement, line)
            aliases[new] = old, line
        elif not statement.startswith(".pragma"):
            declared = variable(statement, line)
            known_variable = variables.get(declared.name)
            if known_variable is None or known_variable.is_external:
                variables[declared.name] = declared

    def _end_of_section(self, start: int) -> int:
        depth = 1
        for match in _IN_SECTION.finditer(self._text, start):
            depth += {"{": 1, "}": -1}.get(match.group(), 0)
            if not depth:
                return match.end()
        raise PTXError(f"line {self._line}: the section has no end")

    def _function(self) -> FunctionText:
        line = self._line
        semicolon = self._find(";")
        brace = self._text.find("{", self._place, semicolon)
        brace = len(self._text) if brace < 0 else brace
        function = function_head(self._text[self._place : min(brace, semicolon)], line)
        self._to(min(brace, semicolon) + 1)
        if brace < semicolon:
            function.has_body = True
            end = BodyReader(function, self._files).read(self._text, self._place, self._line)
            self._to(end)
        return function

    def _statement(self) -> str:
        end = self._find(";")
        if end == len(self._text):
            begin = self._text[self._place :].split(maxsplit=1)[0]
            raise PTXError(f"line {self._line}: the statement that begins with {begin!r} has no end")
        statement = self._text[self._place : end].strip()
        self._to(end + 1)
        return statement

    def _find(self, mark: str) -> int:
        place = self._text.find(mark, self._place)
        return len(self._text) if place < 0 else place

    def _skip_blanks(self) -> bool:
        match = _BLANK.match(self._text, self._place)
        if match is not None:
            self._to(match.end())
        return self._place < len(self._text)

    def _to(self, place: int) -> None:
        self._line += self._text.count("\n", self._place, place)
        self._place = place
