"""Where attempts go out to: the engine's address, the git remote, and the terms. A password is in no argument and no file of a run."""

from __future__ import annotations

import os
from dataclasses import field
from itertools import chain
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Literal
from urllib.parse import parse_qs, unquote, urlsplit

from santiago.artifacts.files import read_text
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.record import lean
from santiago.engine.connect import has_password, shown
from santiago.process.redact import to_hide

if TYPE_CHECKING:
    from collections.abc import Mapping

ENGINE, REMOTE = "SANTIAGO_ENGINE", "SANTIAGO_REMOTE"
"""Variables that hold the addresses, with their passwords."""
_IN_FILE = "file:"
_MOST = 2**16

Trust = Literal["coordinator", "workers"]


@lean(frozen=True, kw_only=True)
class Terms:
    """An engine and a git remote, and how they are used."""

    url: str = field(repr=False)
    """With its password."""
    remote: str = field(repr=False)
    lease_ms: int = 60_000
    trust: Trust = "coordinator"
    """Whose verdict counts: only the coordinator's and that of judge workers, or that of the workers which run agents too."""
    insecure: bool = False
    """Plain text may leave this machine."""
    options: str = ""
    """The options that named all this, as they are typed; none of them holds a password."""

    @property
    def shown(self) -> str:
        """The engine's address as log and views have it."""
        return shown(self.url)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must reach no file: an address that holds a password, and the password by itself."""
        held = [one for one in (self.url, self.remote) if has_password(one)]
        named = [parse_qs(urlsplit(one).query).get("password", []) for one in held]
        found = [*held, *to_hide({one: one for one in held}), *chain.from_iterable(named)]
        return tuple(dict.fromkeys((*found, *map(unquote, found))))


def terms(
    options: tuple[str | None, str | None], settings: Mapping[str, object], *, insecure: bool = False
) -> Terms | None:
    """Return where attempts go out to, by the options --engine and --remote, else by the settings; None if nowhere."""
    url = engine_url(options[0], settings)
    remote = remote_url(options[1], settings)
    if not url:
        if options[1]:
            hint = f"Name it with --engine, or in ${ENGINE}."
            raise SantiagoError(Kind.USAGE, "--remote is named, and no engine", hint=hint)
        return None
    if not remote:
        hint = (
            "Name one with --remote GIT-URL, or as `remote` under [engine] in santiago.toml; workers fetch from there."
        )
        raise SantiagoError(Kind.USAGE, "an engine is named, and no git remote", hint=hint)
    return Terms(
        url=url,
        remote=remote,
        lease_ms=int(str(settings["engine.lease_seconds"])) * 1000,
        trust="workers" if settings["engine.trust"] == "workers" else "coordinator",
        insecure=insecure,
        options=" ".join([*_typed(options), *(["--insecure"] if insecure else [])]),
    )


def _typed(options: tuple[str | None, str | None]) -> list[str]:
    return [f"{name} {quote(said)}" for name, said in zip(("--engine", "--remote"), options, strict=True) if said]


def engine_url(option: str | None, settings: Mapping[str, object]) -> str:
    """Return the engine's address, with its password; empty if none is named."""
    return _address(option, ENGINE) or _address(settings["engine.url"])


def remote_url(option: str | None, settings: Mapping[str, object]) -> str:
    remote = _address(option, REMOTE) or _address(settings["engine.remote"])
    here = Path(remote).expanduser()
    return str(here.resolve()) if remote and here.exists() else remote


def no_engine() -> SantiagoError:
    return SantiagoError(Kind.USAGE, "no engine is named", hint=f"Name it with --engine URL, or in ${ENGINE}.")


def _address(given: object, variable: str = "") -> str:
    """Return an address. Only a variable or a file may hold a password: everybody can read the arguments of a command."""
    url = str(given or "")
    if url.startswith(_IN_FILE) and not url.startswith(f"{_IN_FILE}//"):
        return read_text(Path(url.removeprefix(_IN_FILE)).expanduser(), _MOST).strip()
    if has_password(url):
        hint = f"Put it into ${ENGINE} or ${REMOTE}, or into a file that only you can read: file:PATH."
        raise SantiagoError(Kind.USAGE, "an address holds a password", where=shown(url), hint=hint)
    return url or os.environ.get(variable, "")
