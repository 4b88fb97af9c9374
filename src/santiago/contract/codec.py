"""Between types and bytes: canonical JSON out, strict validation in, versions brought up to date on the way.

The types are the contract's own dataclasses. The validating library reads the same types, so nothing is declared twice.
The library is fast with large documents but slow to load. So short documents are written and read without it, with the
same bytes and values as result. Where a short document is wrong, the library is loaded to say what is wrong.
"""

from __future__ import annotations

import json
import re
import sys
from codecs import BOM_UTF8
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache
from hashlib import sha256
from json.encoder import encode_basestring
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.plan import ACCOUNT, CONTRACT_VERSION, Plan
from santiago.contract.quantities import _Scaled
from santiago.contract.reasons import Reason

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import ErrorDetails


T = TypeVar("T")

MAX_BYTES = 64 * 1024 * 1024
"""Size of any JSON document of ours; a plan of 100,000 stories stays below."""

SHORT = 1 << 17
"""Documents below this many bytes are written without loading the library."""
LOADED = 1 << 22
"""Documents below this many bytes are read faster without the library than with it, counting the time to load it."""
_PIECES = SHORT // 8
"""About how many pieces of text a document of `SHORT` bytes is written in."""

UPCASTS: dict[tuple[str, int], Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""(type name, old version) → function that makes the next version of it. Empty while there is one version."""


def to_data(value: object) -> Any:
    """Return a value as plain JSON data, keys sorted; tuples become lists, quantities their written numbers."""
    if value is None or value.__class__ in _PLAIN:
        return value
    data = _level(value)
    if data.__class__ is list:
        return [to_data(item) for item in data]
    return {key: to_data(item) for key, item in data.items()} if data.__class__ is dict else data


def _level(value: object) -> Any:
    """Return the same for the outermost level alone."""
    if isinstance(value, bytes):  # of a record, which is JSON itself
        return value.decode()
    if isinstance(value, tuple | list):
        return list(value)
    if isinstance(value, dict):
        return {key: value[key] for key in sorted(value)}
    if is_dataclass(value):
        names = _names(value.__class__)
        if value.__class__ is Plan and value.is_older:  # it keeps the digest that it had without these fields
            names = tuple(name for name in names if name not in ACCOUNT)
        return {name: getattr(value, name) for name in names}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, _Scaled):
        return value.written
    raise TypeError(f"no JSON form for {type(value).__name__}")


_PLAIN = frozenset({str, int, bool, float})


@cache
def _names(cls: type) -> tuple[str, ...]:
    return tuple(sorted(field.name for field in fields(cls)))


def canonical(value: object) -> bytes:
    """Return canonical JSON: sorted keys, two-space indent, UTF-8, a newline at the end."""
    pieces: list[str] = []
    _write(value, "\n", pieces)
    text = "".join(pieces)
    if len(pieces) < _PIECES and not _has_exponent(text):
        return (text + "\n").encode()
    from pydantic_core import to_json

    return to_json(to_data(value), indent=2) + b"\n"


def _write(value: Any, margin: str, pieces: list[str]) -> None:
    """Append the JSON text of a value to `pieces`, until there are too many. The standard writer takes twice as long."""
    if leaf := _LEAVES.get(value.__class__):
        pieces.append(leaf(value))
    elif len(pieces) < _PIECES:
        data = _level(value)
        if data.__class__ is not list and data.__class__ is not dict:
            pieces.append(_LEAVES[data.__class__](data))
            return
        is_list = data.__class__ is list
        between = inner = f"{margin}  "
        pieces.append("[" if is_list else "{")
        for one in data:
            pieces.append(between if is_list else f"{between}{encode_basestring(one)}: ")
            _write(one if is_list else data[one], inner, pieces)
            between = f",{inner}"
        pieces.append((margin if data else "") + ("]" if is_list else "}"))


_LEAVES: dict[type, Callable[[Any], str]] = {
    str: encode_basestring, int: repr, float: json.dumps, bool: {True: "true", False: "false"}.__getitem__, type(None): lambda _: "null",
}  # fmt: skip
_has_exponent = re.compile(r"[0-9]e[-+][0-9]").search
"""Very small and very large numbers, which the two writers spell differently, and texts that look like such a number."""


def digest(value: object) -> str:
    """Return the SHA-256 of a value's canonical JSON."""
    return sha256(canonical(value)).hexdigest()


def decode(cls: type[T], raw: bytes, where: str) -> T:
    """Return the validated value that these bytes hold; raise one error that names every fault."""
    data = parse_json(raw, where)
    if not isinstance(data, dict):
        raise _invalid(where, "a JSON object is expected", "Write an object: { … }.")
    version = data.get("contract_version", CONTRACT_VERSION)
    if not _is_current(version):
        data = _upcast(cls.__name__, version, data, where)
        raw = json.dumps(data).encode()
    short = SHORT if "pydantic" in sys.modules else LOADED
    if len(raw) < short and b"\\ud" not in raw.lower():  # the plain reader would let half a surrogate pair pass
        with suppress(NotPlainError):
            return cast("T", read_plain(cls, data))
    from pydantic import ValidationError

    kind: Any = cls
    try:
        return cast("T", _adapter(kind).validate_json(raw))
    except ValidationError as error:
        faults = [_fault(detail, cls) for detail in error.errors(include_url=False)]
        raise _invalid(
            where, "; ".join(faults), f"`santiago schema {_schema_name(cls)}` shows what is expected."
        ) from None


def parse_json(raw: bytes, where: str) -> Any:
    """Return strictly parsed JSON: UTF-8 only, no duplicate keys, no NaN, no absurd numbers or depth."""
    if len(raw) > MAX_BYTES:
        raise _invalid(where, f"larger than {MAX_BYTES // 2**20} MiB", "This is no file that santiago wrote.")
    if raw.startswith(BOM_UTF8):
        raise _invalid(where, "starts with a byte order mark", "Save the file as UTF-8 without a byte order mark.")
    try:
        return json.loads(raw.decode("utf-8"), object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise _invalid(where, f"not UTF-8 (byte {error.start})", "Save the file as UTF-8.") from None
    except json.JSONDecodeError as error:
        raise _invalid(where, f"not valid JSON: {error.msg}", "Correct the JSON at that line.", error.lineno) from None
    except RecursionError:
        raise _invalid(where, "nested too deeply", "No document of santiago's nests like this.") from None
    except _NotJsonError as error:
        raise _invalid(where, str(error), "Correct the file.") from None
    except ValueError:
        raise _invalid(where, "a number has too many digits", "No number of santiago's is that long.") from None


class _NotJsonError(ValueError):
    """Something that the parser would let through."""


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise _NotJsonError(f"the key {', '.join(twice)} stands twice in one object")
    return found


def _no_constant(name: str) -> Any:
    raise _NotJsonError(f"{name} is not a JSON number")


def _is_current(version: object) -> bool:
    """Tell whether a version is the present one. The type is compared too, since in Python `True` and `1.0` equal 1."""
    return type(version) is int and version == CONTRACT_VERSION


def _upcast(name: str, version: object, data: dict[str, Any], where: str) -> dict[str, Any]:
    """Bring an older document up to the present version, one version at a time."""
    while not _is_current(version):
        step = UPCASTS.get((name, version)) if isinstance(version, int) else None
        if step is None:
            raise _invalid(
                where,
                f"contract_version {version!r} is not known here; this santiago reads up to version {CONTRACT_VERSION}",
                "Use the santiago that wrote it, or a newer one.",
            )
        data = step(data)
        version = data["contract_version"]
    return data


@cache
def _adapter(cls: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(cls)


def _fault(detail: ErrorDetails, cls: type) -> str:
    """Say one validation fault in words, with the path of its field."""
    path = _path(detail["loc"])
    match detail["type"]:
        case "unexpected_keyword_argument" | "extra_forbidden":
            return f"unknown field {path}{_did_you_mean(detail['loc'], cls)}"
        case "missing" | "missing_keyword_only_argument" | "missing_argument":
            return f"{path} is missing"
        case _:
            message = detail["msg"][:1].lower() + detail["msg"][1:]
            return f"{path}: {message}"


def _path(loc: tuple[int | str, ...]) -> str:
    text = ""
    for part in loc:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "the document"


def _did_you_mean(loc: tuple[int | str, ...], cls: type) -> str:
    owner: Any = cls
    for part in loc[:-1]:
        owner = _inner(owner, part)
    from difflib import get_close_matches

    names = _names(owner) if isinstance(owner, type) and is_dataclass(owner) else ()
    close = get_close_matches(str(loc[-1]), names, 1)
    return f" (did you mean {close[0]}?)" if close else ""


def _inner(owner: Any, part: int | str) -> Any:
    """Return the record type of a field of another type, if it has one; for a list, the type of its elements."""
    if isinstance(part, int) or not is_dataclass(owner):
        return owner
    inner = get_type_hints(owner).get(part)
    return next((kind for kind in (inner, *get_args(inner)) if is_dataclass(kind)), inner)


def _schema_name(cls: type) -> str:
    return {"RunInput": "run-input", "LogLine": "event"}.get(cls.__name__, cls.__name__.lower())


def _invalid(where: str, message: str, hint: str, line: int = 0) -> SantiagoError:
    return SantiagoError(Kind.INPUT, message, hint=hint, where=where, line=line, reason=Reason.INVALID_INPUT)


# Reading short documents without the library. The same types with the same marks say what is valid; only what is plainly
# valid is accepted, and everything else is left to the library, which decides for itself and says what is wrong.


class NotPlainError(ValueError):
    """The data is invalid, or of a kind that only the library reads."""


def read_plain(cls: Any, data: object) -> Any:
    """Return parsed JSON as a value of a record type; raise NotPlainError where anything is unusual."""
    return _reader(cls)(data)


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated and hasattr(inner[1], "takes"):
        return _that(inner[1].takes)
    if origin is Literal:
        words = {(type(one), one) for one in inner}
        return _that(lambda value: type(value) in {str, int, bool} and (type(value), value) in words)
    if kind in {str, int, bool}:
        return _that(lambda value: type(value) is kind)
    if origin in {Union, UnionType} and len(inner) == 2 and inner[1] is NoneType:
        one = _reader(inner[0])
        return lambda value: None if value is None else one(value)
    if origin is tuple and inner[1:] == (...,):
        each = _reader(inner[0])
        return lambda value: tuple([each(one) for one in value]) if type(value) is list else _refuse(value)
    if is_dataclass(kind):
        return _record(kind)
    if isinstance(kind, type) and issubclass(kind, _Scaled):
        return lambda value: kind.of(value) if kind.takes(value) else _refuse(value)
    if isinstance(kind, type) and issubclass(kind, Enum):
        members = {member.value: member for member in kind}
        return lambda value: members[value] if type(value) is str and value in members else _refuse(value)
    return _refuse


def _refuse(_: Any) -> Any:
    raise NotPlainError


def _that(fits: Callable[[Any], bool]) -> Callable[[Any], Any]:
    return lambda value: value if fits(value) else _refuse(value)


def _record(cls: Any) -> Callable[[Any], Any]:
    hints = get_type_hints(cls, include_extras=True)
    readers = {field.name: _reader(hints[field.name]) for field in fields(cls)}

    def read_record(data: Any) -> Any:
        if type(data) is not dict:
            raise NotPlainError
        try:
            return cls(**{name: readers[name](value) for name, value in data.items()})
        except (KeyError, TypeError):  # a field that is not known, or one that is missing
            raise NotPlainError from None

    return read_record


def sealed(plan: Plan) -> Plan:
    """Return the plan with the digest of all its other fields."""
    return replace(plan, digest=plan_digest(plan))


def plan_digest(plan: Plan) -> str:
    data = to_data(plan)
    del data["digest"]
    return digest(data)
