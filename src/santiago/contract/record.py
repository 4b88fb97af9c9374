"""How the contract's types are made: plain frozen dataclasses, with the few marks that the codec needs on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

T = TypeVar("T")

CONFIG: dict[str, Any] = {"extra": "forbid", "strict": True}
"""Read by the codec; one for all types, so that a schema can ask for their fields' docstrings, which costs time."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
def record(cls: type[T]) -> type[T]:
    """Make a frozen, slotted, keyword-only dataclass that the codec reads strictly and without unknown fields."""
    made = dataclass(frozen=True, slots=True, kw_only=True)(cls)
    made.__pydantic_config__ = CONFIG  # type: ignore[attr-defined]  # read by the codec
    return made


class AtLeast:
    """Marks a whole number with its smallest value."""

    def __init__(self, least: int) -> None:
        self.least = least

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        from pydantic_core import core_schema  # the codec's library; the core itself never loads it

        return core_schema.int_schema(ge=self.least, le=2**53, strict=True)


class Matching:
    """Marks a text with the pattern that it must match as a whole."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        from pydantic_core import core_schema  # the codec's library; the core itself never loads it

        return core_schema.str_schema(pattern=f"^{self.pattern}$", strict=True)
