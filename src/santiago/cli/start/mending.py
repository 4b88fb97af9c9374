"""Settings that were seen to help a check: a person is asked, and they are written."""

from __future__ import annotations

from pathlib import Path

import click

from santiago.app.finding import newest_of
from santiago.app.loading import load
from santiago.app.settings_file import with_settings
from santiago.artifacts.files import write_whole
from santiago.cli.start.trust import trust_own
from santiago.cli.view.terminal import say
from santiago.util import regular
from santiago.util.text import harmless

_LARGEST = 2**20


def mended(document: Path) -> bool:
    """Offer to write the settings that the newest run of a document ended without; tell whether that was done."""
    newest = newest_of(document)
    run = load(newest.out_dir) if newest else None
    changed = run.history.end.get("settings", []) if run else []
    if run is None or not changed:
        return False
    root = Path(run.run_input.repo_path)
    target = root / "santiago.toml"
    text = (regular.content(target, _LARGEST) or b"").decode("utf-8", "replace")
    new = with_settings(text, changed)
    if new is None or "[tool.santiago" in (regular.content(root / "pyproject.toml", _LARGEST) or b"").decode(
        "utf-8", "replace"
    ):
        return False
    lines = [line for line in new.splitlines() if line not in text.splitlines() and line.strip()]
    say("", err=True)
    for line in lines:
        say(f"    {harmless(line)}", err=True)
    if not click.confirm("Write this to santiago.toml, and begin again?", default=True, err=True):
        return False
    write_whole(target, new.encode())
    trust_own(root)
    return True
