"""The errors with which the board's rules refuse something, by kind."""

from __future__ import annotations

from santiago.contract.errors import Kind, SantiagoError


def bad_usage(message: str, hint: str) -> SantiagoError:
    return SantiagoError(Kind.USAGE, message, hint=hint)


def bad_input(message: str, hint: str) -> SantiagoError:
    return SantiagoError(Kind.INPUT, message, hint=hint)


def blocked(message: str, hint: str) -> SantiagoError:
    return SantiagoError(Kind.BLOCKED, message, hint=hint)
