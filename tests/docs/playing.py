"""Typing a page from top to bottom: every command is run, and what it prints is held against what the page shows."""

from collections.abc import Iterator
from pathlib import Path

from santiago.contract.record import record
from tests.docs.matching import RUN, as_on_page, fits, same_runs
from tests.docs.pages import Command, Fence, read
from tests.docs.user_worlds import USER_WORLDS
from tests.docs.world import World
from tests.docs.worlds import WORLDS
from tests.programs import works

SUCCEEDS = frozenset({0, 10})
"""How a command ends whose output is not shown: well, or waiting for the reader's word."""


@record
class Typed:
    """A command of a page, and what came of it."""

    place: str
    line: int
    command: str
    shown: list[str] | None
    """None where the page shows the command alone."""
    printed: list[str]
    is_right: bool

    def __str__(self) -> str:
        return "\n".join(
            [f"{self.place}: $ {self.command}", "the page shows:", *(self.shown or ()), "it prints:", *self.printed]
        )


def play(page: Path, folder: Path) -> Iterator[Typed]:
    """Run the page; worlds are made in the folder, each when the page first names it."""
    worlds: dict[str, World] = {}
    world: World | None = None
    for part in read(page):
        place = f"{page.name}:{part.line}"
        if not isinstance(part, Fence):
            if part.kind == "world":
                world = worlds.get(part.text) or _made(part.text, folder / f"w{len(worlds)}", place)
                worlds[part.text] = world
            else:
                _world(world, place).unseen(part.text)
        elif "file" in part.marks:
            _world(world, place).write(part.marks["file"], "".join(f"{line}\n" for line in part.body))
        elif part.language in ("console", "sh") and "not run" not in part.marks and _can_run(part):
            for command in part.commands:
                yield _typed(_world(world, place), page, part, command)


def _can_run(fence: Fence) -> bool:
    """Whether the program that a fence needs, beside those of every machine, works here."""
    return "needs" not in fence.marks or works(fence.marks["needs"])


def _typed(world: World, page: Path, fence: Fence, command: Command) -> Typed:
    place, shown = f"{page.name}:{command.line}", list(command.shown)
    if "typed" in fence.marks:
        printed = world.type(command.text, _answers(shown, fence.marks["typed"].split(" | ")))
        is_right = fits(shown, printed)
    elif "live" in fence.marks:
        printed = world.watch(command.text, lambda picture: fits(shown, picture))
        is_right = fits(shown, printed)
    else:
        code, printed = world.run(RUN.sub(lambda found: world.runs.get(found[0], found[0]), command.text))
        world.runs = same_runs(world.runs, shown, printed)
        printed = as_on_page(world.runs, printed)
        if fence.language == "sh":
            return Typed(
                place=place,
                line=command.line,
                command=command.text,
                shown=None,
                printed=printed,
                is_right=code in SUCCEEDS,
            )
        is_right = _any_order(shown, printed) if "in any order" in fence.marks else fits(shown, printed)
    return Typed(place=place, line=command.line, command=command.text, shown=shown, printed=printed, is_right=is_right)


def _any_order(shown: list[str], printed: list[str]) -> bool:
    """Compare what happens side by side, where who comes first is a matter of luck."""
    left = [line for line in printed if not fits([], [line])]
    for line in shown:
        found = next((one for one in left if fits([line], [one])), None)
        if line.strip() and line != "…" and found is None:
            return False
        left.remove(found) if found is not None and line != "…" else None
    return not left or "…" in shown


def _answers(shown: list[str], typed: list[str]) -> list[tuple[str, str]]:
    """Return each answer with what stands before it: on its line of the page, and before Ctrl-C on the last one."""
    found, lines = [], iter(shown)
    for answer in typed:
        line = (
            [one for one in shown if one != "…"][-1] + answer
            if answer == "^C"
            else next(one for one in lines if one.endswith(answer))
        )
        found.append((line.removesuffix(answer), answer))
    return found


def _made(name: str, folder: Path, place: str) -> World:
    worlds = WORLDS | USER_WORLDS
    assert name in worlds, f"{place}: there is no world {name!r} in tests/docs/worlds.py"
    world = World(folder)
    worlds[name](world)
    return world


def _world(world: World | None, place: str) -> World:
    assert world is not None, f"{place}: say where this runs, with a line <!-- world: NAME --> above it"
    return world
