"""The kinds of parameters, and what a generated function does for each of them.

`INPUTS`, `CHANGED` and `OUTPUTS` have them in order: a parameter is of the first kind that fits it. The kind
writes its part of the function: what becomes of the argument before the call, what C gets, and the result.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, NamedTuple

from . import convert, results
from .enums import Enum
from .handles import Callback, Handle, maker
from .prototypes import CParameter
from .scalars import AGGREGATES, SCALARS

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from .functions import Writer

    _Text: TypeAlias = Callable[[Writer, CParameter, Any], str]
    _Write: TypeAlias = Callable[[Writer, CParameter, Any], None]


class Kind(NamedTuple):
    """One kind. Both are called with a function's writer, a parameter, and the class of its base type."""

    fits: Callable[[Writer, CParameter, Any], bool]
    write: _Write


def write(kinds: tuple[Kind, ...], writer: Writer, parameter: CParameter) -> None:
    """Write a parameter's part of a function. Raises TypeError if it is of none of the kinds."""
    cls = writer.type_of(parameter)
    for kind in kinds:
        if kind.fits(writer, parameter, cls):
            kind.write(writer, parameter, cls)
            return
    name = parameter.name
    raise TypeError(f"{writer.name}: no rule for the output {name!r}; name it and write the rest by hand")


def _is(cls: Any, *bases: Any) -> bool:
    return cls is not None and issubclass(cls, bases)


def _is_char(cls: Any) -> bool:
    return cls is ctypes.c_char


# -- Inputs that C gets by value -----------------------------------------------------------------------


def _handle(writer: Writer, parameter: CParameter, cls: Any) -> None:
    name, convert_ = parameter.name, "_callback" if issubclass(cls, Callback) else "_handle"
    writer.lines.append(_of_class(writer, parameter, cls, convert_))
    writer.arguments.append(f"{name}.value" if ctypes.sizeof(cls) <= 4 else name)


def _of_class(writer: Writer, parameter: CParameter, cls: Any, convert_: str) -> str:
    """The line that makes sure that an argument is of the class of a handle; convert_: what makes it one."""
    name, cls_name, what = parameter.name, writer.put(cls), writer.what(parameter)
    return f"if type({name}) is not {cls_name}: {name} = {convert_}({name}, {cls_name}, {what})"


def _number(writer: Writer, parameter: CParameter, cls: Any) -> None:
    """An integer or an enum."""
    name = parameter.name
    writer.before.append(_check(writer, parameter, cls))
    wide = not issubclass(cls, Enum) and ctypes.sizeof(cls) == 8
    writer.arguments.append(f"_word({name})" if wide else name)


def _check(writer: Writer, parameter: CParameter, cls: Any) -> str:
    """The line that makes sure that an argument is an int that C can hold."""
    name, what = parameter.name, writer.what(parameter)
    if issubclass(cls, Enum):
        return (
            f"if type({name}) is not {writer.put(cls)}: "
            f"{name} = _integer({name}, -2147483648, 4294967295, {what})"
        )
    low, high = convert.limits(cls)
    wrong = f"{name} >> {high.bit_length()}" if low == 0 else f"not {low} <= {name} <= {high}"
    if low and _measures(writer, name):
        low, wrong = 0, f"not 0 <= {name} <= {high}"
    return f"if type({name}) is not int or {wrong}: {name} = _integer({name}, {low}, {high}, {what})"


def _measures(writer: Writer, name: str) -> bool:
    """Whether a parameter is a size, or part of the expression of one."""
    return any(
        size.name == name if isinstance(size, CParameter) else name in str(size).split()
        for size in writer.sizes.values()
    )


# -- Inputs that C gets by address ---------------------------------------------------------------------


def _in_place(writer: Writer, parameter: CParameter, cls: Any) -> None:
    """A handle of the caller that C may change."""
    writer.lines.append(_of_class(writer, parameter, cls, "_handle"))
    writer.arguments.append(f"_byref({parameter.name})")


def _variant(writer: Writer, parameter: CParameter, _: Any) -> None:
    """What an attribute decides the type of."""
    name = parameter.name
    writer.arguments.append(name)
    writer.lines += [
        f"*_, put = {writer.kinds(parameter)}",
        f"{name} = _byref(put({name}, {writer.what(parameter)}))",
    ]


def _converted(call: _Text) -> _Write:
    """An input that one of the HELPERS makes into what ctypes takes."""

    def write(writer: Writer, parameter: CParameter, cls: Any) -> None:
        writer.arguments.append(parameter.name)
        writer.lines.append(f"{parameter.name} = {call(writer, parameter, cls)}")

    return write


def _address_or(call: _Text) -> _Write:
    """An address, or what `_converted` takes."""

    def write(writer: Writer, parameter: CParameter, cls: Any) -> None:
        name = parameter.name
        writer.arguments.append(name)
        writer.lines += [
            f"if type({name}) is int and not {name} >> 64: {name} = _word({name}) if {name} else None",
            f"else: {name} = {call(writer, parameter, cls)}",
        ]

    return write


def _pointer(w: Writer, p: CParameter, _: Any) -> str:
    return f"_pointer({p.name}, {w.size(p)}, {p.const}, {w.what(p)})"


def _array(w: Writer, p: CParameter, cls: Any) -> str:
    return f"_array({p.name}, {w.put(results.storage(cls))}, {w.size(p)}, {w.what(p)})"


def _text(writer: Writer, parameter: CParameter, _: Any) -> None:
    """A text that ends in a null character."""
    name = parameter.name
    writer.arguments.append(name)
    writer.lines.append(f"if type({name}) is not bytes: {name} = _text({name}, {writer.what(parameter)})")


def _struct_at(writer: Writer, parameter: CParameter, cls: Any) -> None:
    """A struct, or its address."""
    name, cls_name = parameter.name, writer.put(cls)
    writer.arguments.append(f"{name}_at")
    writer.lines += [
        "try:",
        f"    {name}_at = {name}._at_ if type({name}) is {cls_name} else "
        f"_reference({name}, {cls_name}, {writer.what(parameter)})",
        "except AttributeError:",
        f"    {name}_at = _address({name})",
    ]


def _is_os_handle(writer: Writer, _: CParameter, cls: Any) -> bool:
    return cls is None and writer.public_name.endswith("ImportFromShareableHandle")


def _is_destination(_: Writer, parameter: CParameter, cls: Any) -> bool:
    return cls is None and not parameter.const and parameter.c_name in convert.DESTINATIONS


# -- Inputs that are results as well -------------------------------------------------------------------


def _changed_handle(writer: Writer, parameter: CParameter, cls: Any) -> None:
    name, what = parameter.name, writer.what(parameter)
    writer.lines += [
        f"if {name} is None: {name}_ = None",  # the null pointer, which is not a handle that is 0
        f"else: {name}_ = {writer.put(cls)}(_handle({name}, {writer.put(cls)}, {what}))",
    ]
    writer.arguments.append(f"{name} if {name} is None else _byref({name}_)")
    writer.results.append(f"{name}_")


def _changed_number(writer: Writer, parameter: CParameter, cls: Any) -> None:
    name = parameter.name
    writer.before.append(_check(writer, parameter, cls))
    writer.lines.append(f"{name}_ = {writer.put(results.one(results.storage(cls)))}({name})")
    writer.arguments.append(f"{name}_")
    writer.results.append(_value(writer, cls, f"{name}_[0]"))


# -- Outputs -------------------------------------------------------------------------------------------


def _value(writer: Writer, cls: Any, value: str) -> str:
    """The expression of a number that C wrote: of an enum, of the member that has it."""
    if not issubclass(cls, Enum):
        return value
    writer.scope[f"_{cls.__name__}_of"] = cls._by_value
    return f"_{cls.__name__}_of[{value}]"


def _variant_output(writer: Writer, parameter: CParameter, _: Any) -> None:
    name = parameter.name
    writer.lines.append(f"take, give, new, get, _ = {writer.kinds(parameter)}")
    writer.results.append(_take(writer, name, "take", "give", "new", f"get({name})"))


def _list_of_c(writer: Writer, parameter: CParameter, cls: Any) -> None:
    """An array that C owns, of items or of texts, whose address it writes."""
    counter = writer.sizes[parameter.name]
    value = _cell(writer, parameter.name, ctypes.c_void_p)
    item = cls if parameter.stars == 2 else ctypes.c_char_p
    writer.results.append(f"_copies({value}, {writer.put(item)}, {counter.name}[0])")


def _array_output(writer: Writer, parameter: CParameter, cls: Any) -> None:
    """An array that C fills, with as many items as a parameter, a number or an expression says."""
    name, counter = parameter.name, writer.sizes[parameter.name]
    count = counter.name if isinstance(counter, CParameter) else str(counter)
    if not count.isalnum():  # an expression
        writer.lines.append(f"{name}_count = {count}")
        count = f"{name}_count"
    new = f"_new_text({count})" if _is_char(cls) else f"({writer.put(results.storage(cls))} * {count})()"
    writer.lines.append(f"{name} = {new} if {count} else None")
    writer.arguments.append(name)
    in_out = isinstance(counter, CParameter) and counter.stars
    have = f"min({count}_[0], {count})" if in_out else count
    if _is_char(cls):
        writer.results.append(f"_bytes({name} or b''){f'[:{have}]' if in_out else ''}")
    else:
        writer.results.append(f"_items({name}, {have}, {writer.put(cls)})")


def _text_output(writer: Writer, parameter: CParameter, _: Any) -> None:
    """A text that C owns."""
    writer.results.append(_cell(writer, parameter.name, ctypes.c_char_p))


def _address_output(writer: Writer, parameter: CParameter, _: Any) -> None:
    writer.results.append(f"{_cell(writer, parameter.name, ctypes.c_void_p)} or 0")


def _struct_output(writer: Writer, parameter: CParameter, cls: Any) -> None:
    name = parameter.name
    slow = issubclass(cls, ctypes.Union) or cls._alignment_ or cls._version_
    cls_name = writer.put(cls)
    writer.lines.append(f"{name} = {cls_name}()" if slow else f"{name} = _new_struct({cls_name})")
    _by_reference(writer, name, cls)


def _handle_output(writer: Writer, parameter: CParameter, cls: Any) -> None:
    """A handle; of `T **`, where T is an alias for the handle, the struct that the handle points to."""
    name = parameter.name
    writer.scope[f"_new_{cls.__name__}"] = maker(cls)
    writer.lines.append(f"{name} = _new_{cls.__name__}()")
    _by_reference(writer, name, cls)


def _number_output(writer: Writer, parameter: CParameter, cls: Any) -> None:
    value = _cell(writer, parameter.name, results.storage(cls))
    writer.results.append(_value(writer, cls, value))


def _by_reference(writer: Writer, name: str, cls: Any) -> None:
    """A new object that C fills: ctypes takes the address itself where it knows the type, and faster."""
    if len(writer.arguments) == len(writer.argtypes):
        writer.argtypes.append(ctypes.POINTER(cls))
        writer.arguments.append(name)
    else:
        writer.arguments.append(f"_byref({name})")
    writer.results.append(name)


def _cell(writer: Writer, name: str, storage: Any) -> str:
    """Storage for one scalar, and the expression of what C wrote there.

    The only output of a function, which C writes whenever it succeeds, is a cell that calls take turns
    with. One of several may stay as it is, so that it has to be new, and zero: an array of one, as ctypes
    passes the address of an array without being asked.
    """
    if writer.outputs > 1:
        writer.lines.append(f"{name} = {writer.put(results.one(storage))}()")
        writer.arguments.append(name)
        return f"{name}[0]"
    take, give, new = (f"_{verb}_{storage.__name__}" for verb in ("take", "give", "new"))
    writer.scope.update(zip((take, give, new), results.output_slots(storage, storage), strict=True))
    return _take(writer, name, take, give, new, f"{name}.value")


def _take(writer: Writer, name: str, take: str, give: str, new: str, value: str) -> str:
    """A cell that calls take turns with, and the expression of its value after the call."""
    writer.lines += [
        "try:",
        f"    {name}, {name}_at = cell = {take}()",
        "except IndexError:",
        f"    {name}, {name}_at = cell = {new}()",
    ]
    writer.arguments.append(f"{name}_at")
    writer.after += [f"result = {value}", f"{give}(cell)"]
    return "result"


# -- All kinds -----------------------------------------------------------------------------------------

INPUTS = (
    Kind(lambda w, p, cls: p.name in w.in_place, _in_place),
    Kind(
        lambda w, p, cls: not p.stars and issubclass(cls, AGGREGATES),
        _converted(lambda w, p, cls: f"_by_value({p.name}, {w.put(cls)}, {w.what(p)})"),
    ),
    Kind(lambda w, p, cls: not p.stars and issubclass(cls, Handle), _handle),
    Kind(
        lambda w, p, cls: not p.stars and cls in (ctypes.c_float, ctypes.c_double),
        _converted(lambda w, p, cls: f"_real({p.name}, {cls._type_!r}, {w.what(p)})"),
    ),
    Kind(lambda w, p, cls: not p.stars, _number),
    Kind(lambda w, p, cls: p.name in w.variants, _variant),
    Kind(
        lambda w, p, cls: p.stars == 2 and _is_char(cls),
        _converted(lambda w, p, cls: f"_texts({p.name}, {w.size(p)}, {w.what(p)})"),
    ),
    Kind(
        lambda w, p, cls: p.stars == 2,
        _address_or(lambda w, p, cls: f"_pointers({p.name}, {w.size(p)}, {w.what(p)})"),
    ),
    Kind(
        lambda w, p, cls: p.name in w.later,
        _address_or(lambda w, p, cls: f"_pointer({p.name}, {ctypes.sizeof(cls)}, False, {w.what(p)})"),
    ),
    Kind(_is_os_handle, _converted(lambda w, p, cls: f"_os_handle({p.name}, {w.what(p)})")),
    Kind(
        _is_destination,
        _address_or(lambda w, p, cls: f"_destination({p.name}, {w.size(p)}, {w.what(p)})"),
    ),
    Kind(lambda w, p, cls: cls is None, _address_or(_pointer)),
    Kind(lambda w, p, cls: _is_char(cls) and p.const and p.name not in w.sizes, _text),
    Kind(lambda w, p, cls: _is_char(cls), _converted(_pointer)),
    Kind(lambda w, p, cls: issubclass(cls, AGGREGATES) and p.name not in w.sizes, _struct_at),
    Kind(lambda w, p, cls: True, _converted(_array)),
)
"""What Python passes."""
CHANGED = (
    Kind(lambda w, p, cls: issubclass(cls, Handle), _changed_handle),
    Kind(lambda w, p, cls: True, _changed_number),
)
"""What Python passes and C changes: one number, enum or handle."""
OUTPUTS = (
    Kind(lambda w, p, cls: p.name in w.variants, _variant_output),
    Kind(lambda w, p, cls: p.name in w.sizes and p.stars in (2, 3), _list_of_c),
    Kind(lambda w, p, cls: p.name in w.sizes, _array_output),
    Kind(lambda w, p, cls: p.stars == 2 and _is_char(cls), _text_output),
    Kind(lambda w, p, cls: p.stars == 2 and (p.type == "void" or p.type in SCALARS), _address_output),
    Kind(lambda w, p, cls: p.stars == 1 and _is(cls, *AGGREGATES), _struct_output),
    Kind(lambda w, p, cls: _is(cls, Handle) and (p.stars == 1 or p.type != cls.__name__), _handle_output),
    Kind(lambda w, p, cls: p.stars == 1 and cls is not None and not _is_char(cls), _number_output),
)
"""What C makes."""
