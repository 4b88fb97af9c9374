"""How much a check's run is worth: which runner stands behind the command, and what it says it did."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from santiago.verification.commandline import runners
from santiago.verification.commandline.noop import is_noop
from santiago.verification.commandline.recipes import expanded
from santiago.verification.counting import tally as tallies

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from santiago.verification.counting.tally import Tally

_STRICT_SHEBANG = re.compile(r"#![^\n]*sh[ \t][^\n]*-[a-z]*e")


@dataclass(frozen=True, slots=True)
class Behind:
    """What a command comes to."""

    direct: tuple[str, ...]
    """Runners on the command line itself: each must show its summary."""
    indirect: tuple[str, ...]
    """Runners in the scripts that it runs: at least one must show its summary."""
    idle: bool
    """Whether all that it runs are commands that cannot fail."""

    @property
    def runners(self) -> tuple[str, ...]:
        return self.direct or self.indirect


def behind(command: str, read: Callable[[str], bytes | None]) -> Behind:
    """Return what stands behind a command, given the files of the checkout before it runs."""
    direct = runners.known_runners(command)
    if direct:
        return Behind(direct, (), idle=False)
    lines = expanded(command, read)
    found = dict.fromkeys(runner for line in lines for runner in runners.known_runners(line))
    argvs = runners.programs(command)
    strict = any(_stops_early(argv) for argv in argvs)
    idle = bool(lines) and len(argvs) == 1 and all(_is_idle(line, strict=strict) for line in lines)
    return Behind((), tuple(found), idle=idle)


def _stops_early(argv: Sequence[str]) -> bool:
    """Whether a shell is told to end a script at the first command that fails: `sh -e FILE`."""
    return argv[0].rpartition("/")[2] in runners.SHELLS and any(
        re.match(r"-[a-z]*e|errexit$", word) for word in argv[1:]
    )


def _is_idle(script: str, *, strict: bool) -> bool:
    return is_noop(f"set -e\n{script}" if strict or _STRICT_SHEBANG.match(script) else script)


def tally(known: Behind, output: str, junit: Callable[[], Tally | None]) -> Tally | None:
    """Return what ran; nothing at all where a known runner shows no sign of having run; None where none is known."""
    found = tallies.read(known.direct, output) if known.direct else _any_of(known.indirect, output)
    if found is None and not known.runners:
        found = tallies.recognise(output)
    if found is None or not found.ran:
        found = junit() or found
    return tallies.Tally(0, 0) if found is None and known.runners else found


def _any_of(names: tuple[str, ...], output: str) -> Tally | None:
    found = [one for name in names if (one := tallies.read((name,), output)) is not None]
    return sum(found, tallies.Tally(0, 0)) if found else None
