"""The detailed plan of one story, which an agent writes before it is carried out; `details/<story>/<n>.json` is this."""

from __future__ import annotations

from typing import Literal

from santiago.contract.record import record

LONGEST = 256 * 1024
"""Bytes of a detailed plan as an agent writes it."""


@record
class Substep:
    """A part of a story that is carried out and judged by itself, before the story as a whole."""

    title: str
    """In a few words, on one line."""
    actions: tuple[str, ...]
    """What is to be done, in order."""
    files: tuple[str, ...] = ()
    """Where, by paths in the repository."""
    checks: tuple[str, ...] = ()
    """Shell commands that judge it; it needs at least one."""


@record
class Detail:
    """How a story is to be carried out."""

    contract_version: Literal[1]
    """Of this document: 1."""
    objective: str
    """What holds when the story is done."""
    create: tuple[str, ...] = ()
    """New files, by their paths in the repository."""
    modify: tuple[str, ...] = ()
    """Files that are there and will be changed."""
    delete: tuple[str, ...] = ()
    """Files that are there and will be removed."""
    actions: tuple[str, ...]
    """What is to be done, in order."""
    checks: tuple[str, ...] = ()
    """Shell commands that judge the story beside those that it has already."""
    substeps: tuple[Substep, ...] = ()
    """Parts that are carried out one by one, in order; none where the story is small enough to be done at once."""
