"""Secrets in what is kept as it is: a plan and its input are frozen byte by byte, so a secret in them is refused, not hidden."""

from __future__ import annotations

import os

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.process.redact import Redactor, secrets_in


def refuse_secrets(content: bytes, where: str) -> None:
    """Raise where a text holds the value of a variable whose name marks it as secret, in whatever form."""
    found = secrets_in(os.environ)
    place = Redactor(found).first(content) if found else None
    if place is None:
        return
    holding = (secret for secret in found if Redactor((secret,)).first(content) is not None)
    value = next(holding, found[0])
    name = next(name for name in sorted(os.environ) if os.environ[name] == value and secrets_in({name: value}))
    raise SantiagoError(
        Kind.INPUT,
        f"this holds the value of the variable {name}; plans and inputs are kept as they are, and no secret is",
        where=where,
        line=content.count(b"\n", 0, place) + 1,
        hint=f"Take it out; an agent or a program reads it from its environment. If it is no secret, unset {name}.",
        reason=Reason.INVALID_INPUT,
    )


def without_secrets(text: str) -> str:
    """Return a person's words as they may be kept."""
    return Redactor(secrets_in(os.environ)).text(text)
