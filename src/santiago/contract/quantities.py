"""Quantities: exact integers in the program, readable numbers in files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema


class _Scaled(int):
    """An integer count of small parts that files write in whole units; the codec calls the hooks below."""

    SCALE: ClassVar[int]
    POSITIVE: ClassVar[bool]
    MOST: ClassVar[float] = 1e9
    """The largest number that a file may write."""

    @classmethod
    def of(cls, written: float) -> Self:
        """Return the value that a file writes as this number. A tiny number becomes the smallest part."""
        parts = round(written * cls.SCALE)
        return cls(max(parts, 1) if written > 0 else parts)

    @classmethod
    def takes(cls, written: object) -> bool:
        """Tell whether this value from a file is valid. A text or a truth value is not a number."""
        return (
            type(written) in {int, float}
            and 0 <= cast("float", written) <= cls.MOST
            and (written != 0 or not cls.POSITIVE)
        )

    @property
    def written(self) -> int | float:
        """The number that stands in a file."""
        whole, rest = divmod(int(self), self.SCALE)
        return whole if rest == 0 else int(self) / self.SCALE

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        from pydantic_core import core_schema  # the codec's library; the core itself never loads it

        bound: dict[str, Any] = {"gt": 0} if cls.POSITIVE else {"ge": 0}
        return core_schema.no_info_after_validator_function(
            cls.of,
            core_schema.float_schema(allow_inf_nan=False, le=cls.MOST, strict=True, **bound),
            serialization=core_schema.plain_serializer_function_ser_schema(lambda value: value.written),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        bound: dict[str, Any] = {"exclusiveMinimum": 0} if cls.POSITIVE else {"minimum": 0}
        return {"type": "number", "maximum": cls.MOST, **bound}


class Minutes(_Scaled):
    """A span of time: milliseconds inside, minutes in files."""

    SCALE = 60_000
    POSITIVE = True


class Seconds(_Scaled):
    """A span of time: milliseconds inside, seconds in files."""

    SCALE = 1000
    POSITIVE = False


class Usd(_Scaled):
    """An amount of money: millionths of a dollar inside, dollars in files."""

    SCALE = 1_000_000
    POSITIVE = False
