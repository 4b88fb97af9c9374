"""The known agents: the profiles that ship with santiago and the user's own, and which of them can work here."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.agent.profile import FOR_ANY, Profile, parse
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.record import lean
from santiago.process.toolchains import is_private
from santiago.util import regular

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFERRED = ("claude", "codex", "opencode", "gemini", "aider", "mini-swe-agent")
"""The order in which an agent is chosen if none was named. Other agents follow by name."""
MOST_BYTES = 256 * 1024
_BUILT_IN = Path(__file__).parent / "profiles"
_SHARED = frozenset({".local", ".config", ".cache", "home", "root"})
"""In these folders, what is beside `bin` is private to the user, such as credentials of other agents."""


@lean(frozen=True)
class Availability:
    """What is known of an agent without starting it."""

    profile: Profile
    program: str | None
    """Where it is installed."""
    signed_in: bool | None
    """Whether it is signed in; None if the profile cannot tell."""

    @property
    def ready(self) -> bool:
        return self.program is not None and self.signed_in is not False


@lean(frozen=True)
class Broken:
    """A profile of the user's that cannot be read."""

    name: str
    error: SantiagoError

    def __str__(self) -> str:
        return f"{self.error.where}: {self.error.message}"


class Catalog:
    """All profiles. A user's profile replaces a built-in one of the same name."""

    def __init__(self, own: Path | None = None) -> None:
        self.own = own
        """Folder of the user's profiles, `NAME.toml`."""

    def names(self) -> list[str]:
        found = {path.stem for path in _BUILT_IN.glob("*.toml")}
        if self.own is not None and self.own.is_dir():
            found |= {path.stem for path in self.own.glob("*.toml")}
        return [name for name in PREFERRED if name in found] + sorted(found - set(PREFERRED))

    def get(self, name: str) -> Profile:
        """Return a profile; raise if there is none of that name, or if it is invalid."""
        own = self.own / f"{name}.toml" if self.own is not None else None
        if own is not None and os.path.lexists(own):
            return _with_rules(_named(parse(_read(own), str(own)), name, str(own)))
        known = self.names()
        if name not in known:
            from difflib import get_close_matches  # loaded here, since most names are spelled right

            close = get_close_matches(name, known, 1)
            meant = f"Did you mean {close[0]}? " if close else ""
            listed = ", ".join(one for one in known if one not in FOR_ANY)
            raise SantiagoError(
                Kind.USAGE,
                f"no agent is called {name}",
                hint=f"{meant}Known agents: {listed}. Any program on PATH can be used as well: --agent 'prog arg'.",
            )
        return _shipped(name)

    def availabilities(self, environment: Mapping[str, str]) -> list[Availability]:
        """Return every agent with what is known of it here, in the order of preference."""
        broken = {one.name for one in self.broken()}
        names = [name for name in self.names() if name not in FOR_ANY and name not in broken]
        return [availability(self.get(name), environment) for name in names]

    def broken(self) -> list[Broken]:
        """Return the user's invalid profiles. They do not keep the others from working."""
        found = []
        for path in sorted(self.own.glob("*.toml")) if self.own is not None else ():
            try:
                self.get(path.stem)
            except SantiagoError as error:
                found.append(Broken(path.stem, error))
        return found

    def first_ready(self, environment: Mapping[str, str]) -> Availability | None:
        """Return the agent to use if none was named: the first that is installed and signed in."""
        return next((one for one in self.availabilities(environment) if one.ready and one.signed_in), None)


def availability(profile: Profile, environment: Mapping[str, str]) -> Availability:
    program = program_of(profile.start.argv[0], environment) if profile.start.argv else None
    return Availability(profile, program, _signed_in(profile, environment))


def program_of(name: str, environment: Mapping[str, str]) -> str | None:
    """Return the path of a program; None if it is not on PATH. Relative entries of PATH are skipped: they lead into the checkout."""
    entries = environment.get("PATH", os.defpath).split(":")
    return shutil.which(name, path=":".join(entry for entry in entries if entry.startswith("/")))


def _signed_in(profile: Profile, environment: Mapping[str, str]) -> bool | None:
    signs = profile.sign_in
    if not signs.env and not signs.files:
        return None
    by_variable = any(environment.get(name) for name in signs.env)
    return by_variable or any(path.exists() for path in expanded(signs.files, environment))


def expanded(places: tuple[str, ...], environment: Mapping[str, str]) -> list[Path]:
    """Return paths in the user's home. `$NAME/…` counts only if that variable is set."""
    found = []
    for place in places:
        head, _, rest = place.partition("/")
        start = environment.get("HOME") if head == "~" else environment.get(head[1:]) if head.startswith("$") else None
        path = Path(start, rest) if start else Path(place)
        if path.is_absolute():
            found.append(path)
    return found


def variables(profile: Profile, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of variables that the agent may see even if they are secret."""
    wanted = (*profile.needs.env, *profile.sign_in.env)
    return tuple(sorted(name for name in environment if any(fnmatchcase(name, pattern) for pattern in wanted)))


@cache
def installation(program: str) -> tuple[str, ...]:
    """Return the folders that belong to a program: its own, the one its link leads to, and its package's."""
    paths = dict.fromkeys((Path(program), Path(os.path.realpath(program))))
    return tuple(dict.fromkeys(str(_whole(path)) for path in paths if len(path.parts) > 2))


def _whole(path: Path) -> Path:
    """Return the folder of a program's installation; if others share that folder, only the programs in it.

    A program directly in a home folder is returned alone, since the user's keys are beside it.
    """
    parts = path.parts
    if "node_modules" in parts:
        return Path(*parts[: parts.index("node_modules") + 1])
    above = path.parent.parent
    shared = above.name in _SHARED or above == Path.home()
    folder = above if path.parent.name == "bin" and not shared else path.parent
    return path if is_private(str(folder)) else folder


def _with_rules(profile: Profile) -> Profile:
    """Return a profile of an agent that speaks ACP with the rules for what its bridge prints, unless it has its own."""
    if not profile.protocol or profile.on:
        return profile
    known = _shipped("acp")
    return replace(profile, on=known.on, fault=profile.fault + known.fault, closes=True, reports=known.reports)


@cache
def _shipped(name: str) -> Profile:
    return parse((_BUILT_IN / f"{name}.toml").read_text("utf-8"), f"built-in profile {name}")


def _read(path: Path) -> str:
    try:
        with regular.opened(path) as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise SantiagoError(
                Kind.USAGE, "too large for a profile", where=str(path), hint="A profile is a few lines."
            )
        return content.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SantiagoError(Kind.USAGE, f"cannot be read: {error}", where=str(path), hint="Correct the file.") from None


def _named(profile: Profile, name: str, where: str) -> Profile:
    if profile.name != name:
        raise SantiagoError(
            Kind.USAGE,
            f"the file is called {name}, the profile in it {profile.name}",
            where=where,
            hint="Use one name.",
        )
    return profile
