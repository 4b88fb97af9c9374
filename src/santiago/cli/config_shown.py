"""`santiago config`: each setting with its value and its origin."""

from __future__ import annotations

import json
from pathlib import Path

from santiago.app.config import load, run_input_defaults
from santiago.artifacts import run_locations
from santiago.cli.view.terminal import paint, say, show_data
from santiago.util.text import harmless


def show_settings(as_json: bool) -> None:
    """Print each setting with its value and its origin."""
    root = run_locations.find_root(Path.cwd()) or Path.cwd()
    settings = load(root)
    run_input_defaults(root)
    if as_json:
        show_data({name: setting._asdict() for name, setting in settings.items()})
        return
    size = max(map(len, settings))
    for name, setting in settings.items():
        origin = setting.origin if setting.origin == "default" else setting.origin.replace(f"{root}/", "")
        shown = harmless(json.dumps(setting.value, ensure_ascii=False))
        line = f"{name:{size}}  {shown:24}  {origin}"
        say(line if setting.origin == "default" else paint(line, "good", stderr=False))
