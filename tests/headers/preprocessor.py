"""Tokens, constant expressions and the preprocessor of C, as far as headers need them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

SIZES = {  # in bytes; the first that occurs in a type decides
    1: re.compile(r"\b(char|bool|u?int8_t)\b"),
    2: re.compile(r"\b(short|u?int16_t)\b"),
    8: re.compile(r"\b(long|double|u?int64_t|s?size_t|off_t)\b"),
    4: re.compile(r"\b(int|unsigned|float|u?int32_t)\b"),
}
STRING = r'"(?:\\.|[^"\\\n])*"'
COMMENT = re.compile(rf"{STRING}|//[^\n]*|/\*.*?\*/", re.DOTALL)
DOXYGEN = re.compile(r"[\\@](?:((?:def|addto|in)group)[ \t]+(\w+)[ \t]*([^\n*]*)|([{}]))")
DIRECTIVE = re.compile(r"\s*#\s*(\w+)\s*(.*)")
DEFINED = re.compile(r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))")
MACRO = re.compile(r"(\w+)(?:\(([^)]*)\))?(.*)", re.DOTALL)
OPENING = re.compile(r"\s*\(")
WORD = re.compile(rf"{STRING}|\b[A-Za-z_]\w*")
TOKEN = re.compile(rf"{STRING}|@\d+@|\w[\w.]*|\.\.\.|<<|>>|&&|\|\||[<>=!]=|\S")
CAST = re.compile(r"\(\s*([A-Za-z_][\w\s]*?)[\s*]*\)(?=\s*[\w(~-])")
SIZEOF = re.compile(r"\bsizeof\s*\(([^()]*)\)")
ARITHMETIC = re.compile(r"(?:[\d\s()+*%<>=!&|^~-]|//|\band\b|\bor\b|\bnot\b)+")


def spell(tokens: Sequence[str]) -> str:
    """Normalised C text of tokens: "const char **p"."""
    text, before = "", "("
    kept = [token for token in tokens if token not in ("struct", "union", "enum")]
    for token, after in zip(kept, [*kept[1:], ""], strict=False):
        called = token == "(" and after != "*"
        glued = called or before in ("(", "[", "*") or token in (")", "[", "]", ",")
        text += token if glued else " " + token
        before = token
    return text


def closing(text: Sequence[str], start: int) -> int:
    """Where the bracket that opens at `start` closes."""
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] in ("(", "{", "[")) - (text[index] in (")", "}", "]"))
        if depth == 0:
            return index
    raise ValueError(f"unbalanced bracket: {' '.join(text[start : start + 20])}")


def split(tokens: Sequence[str], separator: str) -> Iterator[list[str]]:
    """The non-empty parts between separators that stand outside of brackets."""
    part: list[str] = []
    depth = 0
    for token in [*tokens, separator]:
        depth += (token in ("(", "{", "[")) - (token in (")", "}", "]"))
        if depth or token != separator:
            part.append(token)
        elif part:
            yield part
            part = []


def evaluate(text: str, constant: Callable[[str], int | None]) -> int:
    """The value that a C integer expression has on this platform, or ValueError. Casts are ignored."""
    text = CAST.sub(lambda cast: "" if constant(cast[1]) is None else cast[0], text)
    source = ""
    wide = unsigned = False  # C's arithmetic conversions, as if all of the expression had one type
    for token in TOKEN.findall(text):
        number = constant(token)
        if token[0].isdigit():
            digits = token.rstrip("uUlL")
            number = int(digits, 8 if re.fullmatch("0[0-7]+", digits) else 0)
            wide |= "l" in token.lower()
            unsigned |= "u" in token.lower()
        if number is None:
            source += " " + {"&&": "and", "||": "or", "!": "not", "/": "//"}.get(token, token)
        else:
            source += f" ({number})"
            wide |= number.bit_length() > 32
            unsigned |= number > 0 and number.bit_length() in (32, 64)
    if not ARITHMETIC.fullmatch(source):
        raise ValueError(f"not an integer expression: {text}")
    try:
        value = int(eval(source))  # numbers and operators alone: ARITHMETIC has seen to that
    except (SyntaxError, TypeError, ZeroDivisionError) as error:
        raise ValueError(f"not an integer expression: {text}") from error
    bits = 64 if wide else 32
    value %= 1 << bits
    return value if unsigned or value < 1 << (bits - 1) else value - (1 << bits)


class Preprocessor:
    """Macros, and what a text becomes under them."""

    def __init__(self, defines: Mapping[str, str]) -> None:
        self.macros: dict[str, tuple[list[str] | None, str]] = {}  # name -> parameters, body
        self.comments: list[str] = []  # those that form Doxygen groups; `@n@` marks their places
        for name, body in defines.items():
            self._define(f"{name} {body}")

    def run(self, text: str) -> str:
        """The text without comments and directives, macros expanded."""
        output, chunk = "", ""
        branches: list[tuple[bool, bool]] = []  # for each open #if: is this branch read; is one taken
        for line in COMMENT.sub(self._comment, text.replace("\\\n", " ")).split("\n"):
            live = all(now for now, _ in branches)
            directive = DIRECTIVE.match(line)
            if directive is None:
                chunk += line + "\n" if live else ""
                continue
            word, rest = directive.groups()
            if word in ("if", "ifdef", "ifndef"):
                now = live and self._holds(word, rest)
                branches.append((now, now or not live))
            elif word in ("elif", "else"):
                _, taken = branches.pop()
                now = not taken and (word == "else" or self._holds("if", rest))
                branches.append((now, now or taken))
            elif word == "endif":
                branches.pop()
            elif live and word in ("define", "undef"):
                output, chunk = output + self.expand(chunk), ""
                if word == "define":
                    self._define(rest)
                else:
                    self.macros.pop(rest.strip(), None)
            elif live and word == "error":
                raise ValueError(f"#error {rest}")
        return output + self.expand(chunk)

    def expand(self, text: str, hidden: frozenset[str] = frozenset()) -> str:
        """The text with its macros replaced, but for the `hidden`: those that are being replaced."""
        output, at = "", 0
        while word := WORD.search(text, at):
            output += text[at : word.start()]
            replacement, at = self._replacement(word[0], text, word.end(), hidden)
            output += replacement
        return output + text[at:]

    def _replacement(self, name: str, text: str, at: int, hidden: frozenset[str]) -> tuple[str, int]:
        """What `name`, with its arguments at `at` if it takes any, becomes; where the text goes on."""
        if name in hidden or name not in self.macros:
            return name, at
        parameters, body = self.macros[name]
        hidden_inside = hidden | {name}
        if parameters is not None:
            start = OPENING.match(text, at)
            if start is None:
                return name, at
            end = closing(text, start.end() - 1)
            arguments = ["".join(part).strip() for part in split(text[start.end() : end], ",")]
            if "##" not in body:
                arguments = [self.expand(argument, hidden) for argument in arguments]
                hidden_inside |= {word for argument in arguments for word in WORD.findall(argument)}
            values = dict(zip(parameters, arguments, strict=False))
            body = re.sub(r"\s*##\s*", "", WORD.sub(lambda word: values.get(word[0], word[0]), body))
            at = end + 1
        return f" {self.expand(body, hidden_inside)} ", at

    def _define(self, text: str) -> None:
        if match := MACRO.match(text):
            name, parameters, body = match.groups()
            words = None if parameters is None else [word.strip() for word in parameters.split(",")]
            self.macros[name] = words, body.strip()

    def _comment(self, match: re.Match[str]) -> str:
        if match[0].startswith('"'):
            return match[0]
        if not DOXYGEN.search(match[0]):
            return " "
        self.comments.append(match[0])
        return f"\n@{len(self.comments) - 1}@\n"

    def _holds(self, word: str, condition: str) -> bool:
        if word != "if":
            return (condition.strip() in self.macros) == (word == "ifdef")
        condition = DEFINED.sub(lambda match: str(int((match[1] or match[2]) in self.macros)), condition)
        return evaluate(self.expand(condition), lambda name: 0 if WORD.fullmatch(name) else None) != 0


class Groups:
    """The Doxygen group that the comments so far put a declaration in."""

    def __init__(self) -> None:
        self.titles: dict[str, str] = {}
        self.open: list[str] = []  # titles, innermost last
        self.coming = ""  # the title of the group that `@{` will open
        self.own = ""  # the title that `\ingroup` gives the next declaration alone

    def comment(self, text: str) -> None:
        defines = re.search(r"[\\@](def|addto)group", text)
        for word, label, title, brace in DOXYGEN.findall(text):
            if brace == "{":
                self.open.append(self.coming or self.title())
                self.coming = ""
            elif brace:
                del self.open[-1:]
            elif word != "ingroup":
                self.titles[label] = self.coming = title.strip() or self.titles.get(label, "")
            elif not defines:
                self.own = self.titles.get(label, "")

    def title(self) -> str:
        return self.own or (self.open[-1] if self.open else "")
