"""How a rule of the board refuses: what is wrong, and what to do instead."""

from __future__ import annotations

from santiago.contract.errors import Kind, SantiagoError


def misused(message: str, hint: str) -> SantiagoError:
    return SantiagoError(Kind.USAGE, message, hint=hint)


def unfit(message: str, hint: str) -> SantiagoError:
    return SantiagoError(Kind.INPUT, message, hint=hint)


def blocked(message: str, hint: str) -> SantiagoError:
    return SantiagoError(Kind.BLOCKED, message, hint=hint)
