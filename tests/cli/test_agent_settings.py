"""A fenced agent plants a command in its settings, which the user's next session would run: it lands in a copy (issue 11)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli import fakes, greeter
from tests.process.test_sandbox import KINDS, needs_landlock

PLANTS = """
import os, pathlib, sys
sys.stdin.read()
home = pathlib.Path(os.environ["HOME"])
for folder in (home, pathlib.Path(HOME)):
    for name in (".claude/settings.json", ".claude.json", ".claude/commands/evil.md", ".claude/projects/p/memory.md"):
        try:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("PLANTED")
        except OSError:
            pass
(home / ".claude/.credentials.json").write_text("RENEWED")
pathlib.Path("hello.txt").write_text("hello")
"""


@pytest.mark.parametrize("kind", [*KINDS, pytest.param("landlock", marks=needs_landlock)])
def test_a_hook_in_an_agents_settings_never_reaches_the_user(tmp_path: Path, kind: str) -> None:
    place = fakes.Place(tmp_path)
    (place.repo / "santiago.toml").write_text('[policy]\nsandbox = "required"\n')
    settings = {"settings.json": "{}", ".credentials.json": '{"token": "OLD"}', "CLAUDE.md": "Be kind."}
    for name, text in settings.items():
        (place.home / ".claude" / name).parent.mkdir(exist_ok=True)
        (place.home / ".claude" / name).write_text(text)
    (place.home / ".claude.json").write_text("{}")
    program = place.bin / "claude"
    end = f"print({json.dumps(fakes.ends()['print'])!r})\n"
    program.write_text(f"#!{sys.executable}\nHOME = {str(place.home)!r}\n{PLANTS}{end}")
    program.chmod(0o755)
    ran = subprocess.run(
        [sys.executable, "-P", str(Path(__file__).with_name("fenced.py")), kind, "run", "prd.md", "--trust-commands",
         "--plain", "--no-input", "--agent", "claude"],
        cwd=place.repo, capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, **place.env, "PATH": f"{place.env['PATH']}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    own = place.home / ".claude"
    found = {str(path.relative_to(own)): path.read_text() for path in own.rglob("*") if path.is_file()}
    assert found == {**settings, ".credentials.json": "RENEWED"}
    assert (place.home / ".claude.json").read_text() == "{}"
    assert "copy of its settings" in ran.stderr
    left = json.loads((greeter.out_dir(place.repo) / "attempts/S1/1/ending.json").read_text())["left"]
    assert left == ["~/.claude.json", "~/.claude/commands/evil.md", "~/.claude/settings.json"]
    assert "~/.claude/settings.json" in place.look("show", "S1")
