"""Every lying or hostile agent of docs/adversaries.md; the tests have one of each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.adversaries.__main__ import endings
from tests.adversaries.arena import wrong_with

from proofs.telling import options, outcome

if TYPE_CHECKING:
    from proofs.figures import Measured


def run(arguments: list[str]) -> list[Measured]:
    parser = options("adversaries")
    parser.add_argument("--only", default="", help="names, with commas between them")
    chosen = parser.parse_args(arguments)
    names = set(filter(None, chosen.only.split(",")))
    ended = list(endings(names, chosen.places))
    faults = [(f"{one.name}-{fence}", wrong_with(one, fence, ending)) for one, fence, ending in ended]
    wrong = [f"{name}: {', '.join(found)}" for name, found in faults if found]
    return [outcome("adversaries", f"{len(ended)} trials", wrong, reached=bool(ended))]
