"""Writes the Python function that a C prototype describes, the way a person would have written it.

    @libcuda("CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)")
    def cuMemAlloc(bytesize: int) -> tuple[CUresult, CUdeviceptr]: ...

becomes, at the first call,

    def cuMemAlloc(bytesize):
        if type(bytesize) is not int or bytesize >> 64:
            bytesize = _integer(bytesize, 0, 18446744073709551615, 'cuMemAlloc: bytesize')
        dptr = _new_CUdeviceptr()
        err = _c_cuMemAlloc(dptr, _word(bytesize))
        if err:
            return CUresult(err), None
        return _CUresult_ok, dptr

A parameter that the Python signature names is an input; one that it leaves out is an output. A pointer to
one number, handle or enum that is named all the same is both: given by value, returned after the status.
`sizes` says how many items an array has (bytes, for a `void *` or `char *`): a parameter, a number, or an
expression like "tensorRank - 1". `variants` says which attribute decides the type behind a `void *`.
`in_place` names handles that C takes by address and may change: those of the caller, not returned.
`later` names pointers to one number that C follows after the call, too: they are given by their address.
`keeps` names arguments that C uses as long as the handle it returns lives: until a function `frees` that
one. `whole` names the count of an array, the last parameter; None asks how many there are, for all of them.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from . import convert, parameter_kinds, results
from .handles import Handle
from .lazy_types import find
from .prototypes import CParameter, c_name, is_in_out, parse, public_name, type_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .library import Declaration

HELPERS: dict[str, Any] = {
    "_address": convert.address,
    "_array": convert.array,
    "_by_value": convert.by_value,
    "_byref": ctypes.byref,
    "_bytes": bytes,
    "_callback": convert.callback,
    "_copies": results.copies,
    "_handle": convert.handle,
    "_integer": convert.integer,
    "_items": results.items,
    "_keep": results.keep,
    "_map": map,
    "_released": results.released,
    "_new_text": results.room,
    "_needs": results.needs,
    "_new_struct": ctypes.Structure.__new__,
    "_destination": convert.destination,
    "_os_handle": convert.os_handle,
    "_pointer": convert.pointer,
    "_pointers": convert.pointers,
    "_real": convert.real,
    "_reference": convert.reference,
    "_text": convert.text,
    "_texts": convert.texts,
    "_whole": results.whole,
    "_word": convert.word,
}
"""What generated functions call, under the names that they use."""


class Writer:
    """Writes the function of a Declaration; the module's namespace gets the helpers that the body needs."""

    def __init__(self, declaration: Declaration) -> None:
        self.name: str = declaration.stub.__name__
        self.scope: dict[str, Any] = declaration.stub.__globals__
        self.prototype = parse(declaration.prototype)
        missing = set(declaration.inputs) - {p.name for p in self.prototype.parameters}
        if missing:
            raise TypeError(f"{self.name}: the prototype has no parameter {', '.join(sorted(missing))}")
        self.inputs: tuple[str, ...] = tuple(declaration.inputs)
        by_c_name = {p.c_name: p for p in self.prototype.parameters}
        self.sizes: dict[str, Any] = {
            by_c_name[k].name: by_c_name.get(str(v), v) for k, v in declaration.sizes.items()
        }
        self.variants: Mapping[str, tuple[str, str]] = declaration.variants
        self.in_place: tuple[str, ...] = declaration.in_place
        self.keeps = declaration.keeps
        self.frees = declaration.frees
        self.whole = declaration.whole
        self.pending = declaration.library.pending
        self.later: tuple[str, ...] = declaration.later
        self.before: list[str] = []  # numbers first: they measure what follows
        self.lines: list[str] = []
        self.after: list[str] = []  # the call, if it succeeds
        self.arguments: list[str] = []
        self.argtypes: list[Any] = []  # of the first arguments, as far as they are outputs that are objects
        self.results: list[str] = []
        self.addresses = {*self.sizes, *self.in_place, *self.later}
        self.is_owning = False
        self.outputs = sum(p.name not in self.inputs or self.is_in_out(p) for p in self.prototype.parameters)

    def source(self, status: str, raising: bool, short: int | None = None, by_value: bool = False) -> str:
        """The text of the function. `status` is the enum of the library's status codes; `short` is the one
        that says that an array has too little room, and leaves how much it needs in its count. `by_value`:
        the status is a struct, which is true after a failure.
        """
        for parameter in self.prototype.parameters:
            if parameter.name not in self.inputs:
                parameter_kinds.write(parameter_kinds.OUTPUTS, self, parameter)
            elif self.is_in_out(parameter):
                parameter_kinds.write(parameter_kinds.CHANGED, self, parameter)
            else:
                parameter_kinds.write(parameter_kinds.INPUTS, self, parameter)
        returns = self.prototype.returns
        call = f"{self.c_name}({', '.join(self.arguments)})"
        body = self.in_whole(status, raising) + self.combined() + self.lines
        failed, ok = (f"{status}(err)", f"_{status}_ok") if not by_value else ("err", "err")
        results = self.results
        if returns == status:
            body += self.called(call, failed, raising, short)
        else:
            ok = f"{status}()" if by_value else ok
            body += self.called_for_value(call, returns, raising)
            results = [*results, *(["value"] if returns != "void" else [])]
        body += self.after
        if self.keeps:
            (handle,) = self.results
            body.append(f"_keep({handle}, {', '.join(self.keeps)})")
        if raising:
            body.append("return " + (", ".join(results) or "None"))
        elif self.pending is not None and returns == status:
            body.append(f"return {tuple_text([f'{failed} if err else {ok}', *results])}")
        elif results or by_value:
            body.append(f"return {tuple_text([ok, *results])}")
        else:
            body.append(f"return _{status}_only")
        return f"def {self.name}({', '.join(self.inputs)}):\n    " + "\n    ".join(body) + "\n"

    def called(self, call: str, failed: str, raising: bool, short: int | None) -> list[str]:
        """The lines of a call that returns a status, and of its failures; failed: the expression of that."""
        body = [f"kept = _released({self.frees})"] if self.frees else []
        body += [f"err = {call}", f"if {self.failed}:"]
        if self.frees:
            body.append(f"    if kept: _keep({self.frees}, *kept)")
        if raising:
            return [*body, f"    raise _failed({self.said()}, {failed}, {self.passed})"]
        counts = [self.counted(p) for p in self.returned]
        if short is not None and any(counts):
            needed = [value if count else "None" for value, count in zip(self.results, counts, strict=True)]
            body.append(f"    if err == {short}: return {tuple_text([failed, *needed])}")
        return [*body, "    return " + tuple_text([failed] + ["None"] * len(self.results))]

    def called_for_value(self, call: str, returns: str, raising: bool) -> list[str]:
        """The lines of a call that returns something else; ssize_t: how many bytes, or a status below 0."""
        body = [f"_released({self.frees})"] if self.frees else []
        body.append(f"value = {call}" if returns != "void" else call)
        if returns == "ssize_t":
            fail = f"raise _failed({self.said()}, _negative(value), {self.passed})"
            body.append(f"if value < 0: {fail if raising else 'return _negative(value), None'}")
        return body

    @property
    def passed(self) -> str:
        """The expression of the arguments by their names, for messages."""
        return f"{{{', '.join(f'{name!r}: {name}' for name in self.inputs)}}}"

    def owning(self, status: str) -> str:
        """The function for `Owning`: raising, and with a cell first."""
        self.is_owning = True
        makes = [p for p in self.prototype.parameters if p.name not in self.inputs]
        cell = makes[0] if makes else self.prototype.parameters[0]
        for parameter in self.prototype.parameters:
            if parameter is cell:
                self.arguments.append(f"_byref({cell.name})" if makes else cell.name)
            else:
                parameter_kinds.write(parameter_kinds.INPUTS, self, parameter)
        names = [name for name in self.inputs if name != cell.name]
        if makes:  # what C has written is in its cell, whatever comes behind the call
            call = f"err = {self.c_name}({', '.join(self.arguments)})"
        else:
            call = f"(err,) = _map({self.c_name}{''.join(f', ({each},)' for each in self.arguments)})"
        values = ", ".join(f"{name!r}: {name}" for name in [*names, *([] if makes else [cell.name])])
        body = [*self.combined(), *self.lines]
        if self.keeps:  # by the cell as well: see interrupt_safe
            body.append(f"{cell.name}.kept = ({', '.join(self.keeps)},)")
        if self.frees:
            body.append(f"kept = _released({cell.name})")
        body += [call, f"if not ({self.failed}):" if self.pending else "if not err:"]
        if self.keeps:
            body.append(f"    _keep({cell.name}, {', '.join(self.keeps)})")
        body.append("    return" if makes else f"    {cell.name}.value = 0; return")
        if makes:
            body.append(f"{cell.name}.value = 0")
        if self.frees:
            body.append(f"if kept: _keep({cell.name}, *kept)")
        body.append(f"raise _failed({self.said()}, {status}(err), {{{values}}})")
        return f"def {self.name}({', '.join([cell.name, *names])}):\n    " + "\n    ".join(body) + "\n"

    @property
    def failed(self) -> str:
        """The expression that `err`, which C returned, is a failure."""
        return "err" if self.pending is None else f"err and err != {self.pending}"

    @property
    def returned(self) -> list[CParameter]:
        """The parameters that are results."""
        return [p for p in self.prototype.parameters if p.name not in self.inputs or self.is_in_out(p)]

    def counted(self, parameter: CParameter) -> bool:
        """Whether a result is the number of items of another."""
        return self.is_in_out(parameter) and parameter in self.sizes.values()

    def in_whole(self, status: str, raising: bool) -> list[str]:
        """The lines for a count that is not given."""
        if not self.whole:
            return []
        *others, last = self.inputs
        at = 1 + [p.name for p in self.returned].index(last)
        call = f"_whole({self.name}, ({', '.join([*others, ''])}), {at})"
        if not raising:
            return [f"if {last} is None: return {call}"]
        values = ", ".join(f"{name!r}: {name}" for name in others)
        return [
            f"if {last} is None:",
            f"    err, *found = {call}",
            f"    if err: raise _failed({self.said()}, err, {{{values}}})",
            "    return tuple(found)",
        ]

    # -- types ------------------------------------------------------------------------------------

    def type_of(self, parameter: CParameter) -> Any:
        """The class of the parameter's base type."""
        return type_of(parameter, self.scope)

    def put(self, cls: Any) -> str:
        """The name by which generated code reaches `cls`."""
        name: str = cls.__name__
        if self.scope.get(name) is not cls:
            name = "_" + name
            self.scope[name] = cls
        return name

    @property
    def public_name(self) -> str:
        """The name for messages."""
        return public_name(self.name)

    @property
    def c_name(self) -> str:
        """The global that holds the C function.

        That of `owning` is another one, which takes the addresses of cells as they are.
        """
        return f"_o_{self.name}" if self.is_owning else c_name(self.name)

    def said(self, parameter: str = "") -> str:
        """The string that messages begin with: the function, or a parameter of it."""
        return repr(f"{self.public_name}: {parameter}" if parameter else self.public_name)

    def what(self, parameter: CParameter) -> str:
        return self.said(parameter.name)

    def size(self, parameter: CParameter) -> str:
        count = self.sizes.get(parameter.name)
        if isinstance(count, CParameter):
            count = count.name if count.name in self.inputs else "None"
        if str(count).isidentifier():
            return self.as_number(str(count))
        if isinstance(count, int):
            return str(count)
        import re  # which takes longer to import than this module, for a few expressions

        return re.sub(r"[^\W\d]\w*", lambda match: self.as_number(match[0]), str(count))

    def as_number(self, name: str) -> str:
        """`name`, or the number in it where it is a typedef such as cuuint32_t, an object."""
        typedef = any(
            p.name == name and p.stars == 0 and issubclass(self.type_of(p) or int, Handle)
            for p in self.prototype.parameters
        )
        return f"{name}.value" if typedef else name

    def is_in_out(self, parameter: CParameter) -> bool:
        return is_in_out(parameter, self.type_of(parameter), self.addresses)

    def combined(self) -> list[str]:
        """The number checks; many of one width are tested at once, as a launch's are."""
        many = [line for line in self.before if " >> 32: " in line]
        if len(many) < 3:
            return self.before
        names = [line.split("(")[1].split(")")[0] for line in many]
        return [
            *(line for line in self.before if line not in many),
            "try:",
            f"    bits = {' | '.join(names)}",
            "except (TypeError, OverflowError):",  # NumPy raises the latter
            "    bits = None",
            "if type(bits) is not int or bits >> 32:",
            *("    " + line for line in many),
        ]

    def kinds(self, parameter: CParameter) -> str:
        """The expression of what `results.Variants` has for a variant parameter."""
        key, table = self.variants[parameter.name]
        what = f"{self.public_name}: {parameter.name}"
        name = f"_{self.public_name}_types"
        self.scope[name] = results.Variants(find(self.scope, table), what, self.scope)
        return f"{name}[{key}]"


def tuple_text(items: list[str]) -> str:
    """The source of a tuple."""
    return ", ".join(items) if len(items) > 1 else f"({items[0]},)"
