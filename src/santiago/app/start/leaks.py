"""Secrets in a plan, its input, or work for the branch. These are stored unchanged, so secrets in them are refused."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.ports.workspace import PATCH_CUT
from santiago.contract.reasons import Reason
from santiago.process.redact import Redactor, secrets_in

if TYPE_CHECKING:
    from santiago.contract.ports.workspace import Snapshot
    from santiago.workspace.workspace import GitWorkspace

SHORTEST = 12
"""Shortest secret that is looked for in work, in characters. Shorter ones are words like `postgres`, which tests may use."""
_ELSEWHERE = ("\nBinary files ", "\n+oid sha256:")
"""Lines by which a patch says that it does not show the content: a binary file, or a pointer of LFS."""


def refuse_secrets(content: bytes, where: str) -> None:
    """Raise if a text holds, in any encoding, the value of a variable whose name marks it as secret."""
    found = secrets_in(os.environ)
    place = Redactor(found).first(content) if found else None
    if place is None:
        return
    holding = (secret for secret in found if Redactor((secret,)).first(content) is not None)
    value = next(holding, found[0])
    name = next(name for name in sorted(os.environ) if os.environ[name] == value and secrets_in({name: value}))
    raise SantiagoError(
        Kind.INPUT,
        f"this holds the value of the variable {name}, which may be a secret; plans and run inputs are stored unchanged",
        where=where,
        line=content.count(b"\n", 0, place) + 1,
        hint=f"Remove it: an agent or a program can read it from its environment. If it is not a secret, unset {name}.",
        reason=Reason.INVALID_INPUT,
    )


def without_secrets(text: str) -> str:
    """Return a person's text without secrets."""
    return Redactor(secrets_in(os.environ)).text(text)


class SecretsInWork:
    """Finds known secrets that an attempt adds, in the same encodings that are redacted from logs."""

    def __init__(self, secrets: tuple[str, ...], workspace: GitWorkspace) -> None:
        self._secrets = tuple(secret for secret in secrets if len(secret) >= SHORTEST)
        self._any = Redactor(self._secrets)
        self._workspace = workspace

    def __call__(self, snapshot: Snapshot, base: str) -> str:
        """Return which file and line of the work holds a secret that its base does not hold; empty if there is none."""
        patch = snapshot.patch
        is_whole = not patch.endswith(PATCH_CUT) and not any(sign in patch for sign in _ELSEWHERE)
        if not self._secrets or (is_whole and self._any.first(patch.encode("utf-8", "backslashreplace")) is None):
            return ""
        for path in (change.path for change in snapshot.changes if change.status != "D"):
            content = self._workspace.content(snapshot.commit, path)
            place = self._any.first(content)
            if place is not None and self._is_new(content, base, path):
                line = content.count(b"\n", 0, place) + 1
                return (
                    f"{path}:{line} holds a secret of this machine (from a variable, or from a file with credentials)"
                )
        return ""

    def _is_new(self, content: bytes, base: str, path: str) -> bool:
        """Tell whether a file holds a secret that it did not hold before, and that is nowhere else in the base."""
        before = self._workspace.content(base, path)
        for secret in self._secrets:
            one = Redactor((secret,))
            if one.first(content) is not None and one.first(before) is None:
                return not self._workspace.mentions(base, secret)
        return False
