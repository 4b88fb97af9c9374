"""`santiago tick`: tick in the document what is done on evidence."""

from __future__ import annotations

from difflib import unified_diff

from santiago.app.finding import find_run
from santiago.app.loading import load
from santiago.app.ticking import Ticking, Ticks
from santiago.cli.view.terminal import say, show_data
from santiago.util.text import flat, harmless


def tick(run: str | None, yes: bool, here: bool, as_json: bool) -> None:
    """Show the ticks, and write them if a person says where."""
    found = load(find_run(run))
    ticking = Ticking(found, here=here)
    ticks = ticking.found()
    is_new = ticks.before != ticks.after
    head = ticking.keep(ticks) if is_new and (yes or here) else ""
    if as_json:
        show_data({
            "run_id": found.run_id, "document": ticks.name, "difference": "".join(_difference(ticks)),
            "written": bool(is_new and (yes or here)), "head": head or None,
            "left": [{"story": name, "why": why} for name, why in ticks.left],
        })  # fmt: skip
        return
    for line in _difference(ticks):
        say(harmless(line.rstrip("\r\n")), verbatim=True)
    for name, why in ticks.left:
        say(f"left alone: {flat(name)}: {why}")
    if not is_new:
        say(f"{ticks.name} has every tick that the evidence allows")
    elif here:
        say(f"wrote {ticks.name}")
    elif yes:
        say(f"committed {head[:12]} on {found.state.branch}")
    else:
        say("Nothing was written. `--yes` commits this on the run's branch, `--here` writes your file.")


def _difference(ticks: Ticks) -> list[str]:
    before, after = (side.decode("utf-8", "replace").splitlines(keepends=True) for side in (ticks.before, ticks.after))
    return list(unified_diff(before, after, f"a/{ticks.name}", f"b/{ticks.name}", n=1))
