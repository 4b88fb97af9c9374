"""Where attempts go out to: the engine's address, the git remote, and the terms. A password is in no argument and no file of a run."""

from __future__ import annotations

import os
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from santiago.artifacts.files import read_text
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.record import lean

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "SANTIAGO_ENGINE"
"""The variable that holds the engine's address, with its password."""
_IN_FILE = "file:"
_SECRET = frozenset({"password", "sslpassword", "passfile", "api_key", "apikey", "token"})
"""Parameters of an address that hold a secret."""
_MOST = 2**16

Trust = Literal["coordinator", "workers"]


@lean(frozen=True, kw_only=True)
class Terms:
    """An engine and a git remote, and how they are used."""

    url: str = field(repr=False)
    """With its password."""
    remote: str
    lease_ms: int = 60_000
    trust: Trust = "coordinator"
    """Whose verdict counts: only the coordinator's and that of judge workers, or that of the workers which run agents too."""
    insecure: bool = False
    """Plain text may leave this machine."""

    @property
    def shown(self) -> str:
        """The address without anything secret: what log and views have."""
        parts = urlsplit(self.url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must reach no file: the address if it holds a password, and the password by itself."""
        found = passwords(self.url)
        return (self.url, *found) if found else ()


def passwords(url: str) -> list[str]:
    """Return the secrets inside an address, as they are written and as they are meant."""
    parts = urlsplit(url)
    written = [parts.netloc.rpartition("@")[0].partition(":")[2]]
    written += [one.partition("=")[2] for one in parts.query.split("&") if one.partition("=")[0].lower() in _SECRET]
    meant = [value for name, value in parse_qsl(parts.query) if name.lower() in _SECRET]
    return [*dict.fromkeys(one for one in (*written, *map(unquote, written), *meant) if one)]


def terms(
    options: tuple[str | None, str | None], settings: Mapping[str, object], *, insecure: bool = False
) -> Terms | None:
    """Return where attempts go out to, by the options --engine and --remote, else by the settings; None if nowhere."""
    url = _address(options[0]) or _address(os.environ.get(VARIABLE), secret=True) or _address(settings["engine.url"])
    remote = options[1] or settings["engine.remote"]
    if not url:
        if options[1]:
            hint = f"Name it with --engine, or in ${VARIABLE}."
            raise SantiagoError(Kind.USAGE, "--remote is named, and no engine", hint=hint)
        return None
    if not remote:
        hint = (
            "Name one with --remote GIT-URL, or as `remote` under [engine] in santiago.toml; workers fetch from there."
        )
        raise SantiagoError(Kind.USAGE, "an engine is named, and no git remote", hint=hint)
    if passwords(str(remote)):
        hint = "Leave it out: git asks its credential helper, or uses a key."
        raise SantiagoError(Kind.USAGE, "the git remote's address holds a password", hint=hint)
    here = Path(str(remote)).expanduser()
    return Terms(
        url=url,
        remote=str(here.resolve()) if here.exists() else str(remote),
        lease_ms=int(str(settings["engine.lease_seconds"])) * 1000,
        trust="workers" if settings["engine.trust"] == "workers" else "coordinator",
        insecure=insecure,
    )


def _address(given: object, *, secret: bool = False) -> str:
    """Return an engine's address. Only a variable or a file may hold a password: arguments are seen by everybody."""
    if not given:
        return ""
    url = str(given)
    if url.startswith(_IN_FILE):
        path = Path(url.removeprefix(_IN_FILE)).expanduser()
        return read_text(path, _MOST).strip()
    if not secret and passwords(url):
        hint = f"Put the address into ${VARIABLE}, or into a file that only you can read: --engine file:PATH."
        raise SantiagoError(Kind.USAGE, "the engine's address holds a password", hint=hint)
    return url
