"""What signs an agent in and what it plants stay where they are: in no file of a run, and in a copy of its settings (P19, issue 11)."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from santiago.process import sandbox
from santiago.process.redact import secrets_of
from tests.cli import fakes, greeter
from tests.process.test_sandbox import KINDS, needs_landlock

OPAQUE = "ya29.a0-opaque_VALUE/that+nobody=knows"
OTHER = "1//0g-another-that-renews-it"
STEALS = """
import json, os, pathlib
found = {}
for name in (".claude/.credentials.json", ".ssh/id_rsa", "notes.txt"):
    try:
        found[name] = (pathlib.Path(os.environ["HOME"]) / name).read_text()
    except OSError:
        found[name] = ""
seen = {name: len(text) for name, text in found.items()}  # work that holds a secret does not come onto the branch
pathlib.Path("hello.txt").write_text("hello " + json.dumps(seen))
print(json.dumps(found), flush=True)
"""
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


def _files(out_dir: Path) -> Iterator[tuple[Path, bytes]]:
    return ((path, path.read_bytes()) for path in out_dir.rglob("*") if path.is_file())


def _steal(place: fakes.Place, program: Path) -> dict[str, int]:
    head = fakes.PROGRAM.partition("\n")[0]
    program.write_text(f"{head}\n{STEALS}{_closing()}")
    program.chmod(0o755)
    for name in (".claude/.credentials.json", ".ssh/id_rsa", "notes.txt"):
        (place.home / name).parent.mkdir(exist_ok=True)
        (place.home / name).write_text(json.dumps({"claudeAiOauth": {"accessToken": OPAQUE, "refreshToken": OTHER}}))
    place.run("--agent", "claude" if program.name == "claude" else str(program), code=0)
    told = greeter.git(place.repo, "show", f"santiago/{greeter.out_dir(place.repo).name}:hello.txt")
    seen: dict[str, int] = json.loads(told.partition(" ")[2])
    return seen


def _closing() -> str:
    return f"print({json.dumps(fakes.ends()['print'])!r})\n"


def test_what_stands_in_an_agents_credential_file_reaches_no_file_of_the_run(tmp_path: Path) -> None:
    place = fakes.Place(tmp_path)
    assert _steal(place, place.bin / "claude")[".claude/.credentials.json"]
    found = [
        path
        for path, content in _files(greeter.out_dir(place.repo))
        if OPAQUE.encode() in content or OTHER.encode() in content
    ]
    assert found == []
    log = (greeter.out_dir(place.repo) / "attempts" / "S1" / "1" / "agent.log").read_text()
    assert "accessToken" in log


@pytest.mark.skipif(sandbox.detect("auto").kind != "bubblewrap", reason="needs bubblewrap")
def test_a_program_in_the_home_folder_sees_nothing_else_of_it(tmp_path: Path) -> None:
    place = fakes.Place(tmp_path)
    (place.repo / "santiago.toml").write_text('[policy]\nsandbox = "required"\n')
    (place.folder / "tools" / "bwrap").symlink_to(shutil.which("bwrap") or "")
    assert _steal(place, place.home / "agent.py") == {".claude/.credentials.json": 0, ".ssh/id_rsa": 0, "notes.txt": 0}


def test_the_secrets_of_a_credential_file_are_found_in_every_format_and_none_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "auth"
    for text in (
        f'{{"tokens": {{"access_token": "{OPAQUE}", "refresh_token": "{OTHER}"}}, "last_refresh": "2026-11-15T10:00:00Z"}}',
        f'{{"x":{{"type":"oauth","refresh":"{OTHER}","access":"{OPAQUE}","expires":1790000000000}}}}',
        f"OPENAI_API_KEY={OPAQUE}\nMODEL=a-long-name-of-a-model\nexport OTHER_TOKEN='{OTHER}'\n",
        f'api-key: {OPAQUE}\nsecret: "{OTHER}"\n',
    ):
        path.write_text(text)
        assert secrets_of(path) == sorted([OPAQUE, OTHER]), text
    assert secrets_of(tmp_path) == secrets_of(tmp_path / "none") == secrets_of(Path("/dev/zero")) == []


@pytest.mark.skipif(sandbox.detect("auto").kind != "bubblewrap", reason="needs bubblewrap")
def test_an_agent_finds_its_folder_where_a_link_leads_to_it(tmp_path: Path) -> None:
    """Settings are often kept in one folder and linked to; a home folder seldom lies where temporary files do."""
    place = fakes.Place(tmp_path)
    (place.repo / "santiago.toml").write_text('[policy]\nsandbox = "required"\n')
    (place.folder / "tools" / "bwrap").symlink_to(shutil.which("bwrap") or "")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as home:  # hidden like a home, but not the sandbox's own
        place.home = Path(home)
        place.env["HOME"] = home
        (place.home / "dotfiles" / "claude").mkdir(parents=True)
        (place.home / ".claude").symlink_to("dotfiles/claude")
        found = _steal(place, place.bin / "claude")
    assert found[".claude/.credentials.json"]
    assert found[".ssh/id_rsa"] == found["notes.txt"] == 0


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
    assert "settings" not in ran.stderr, "every agent writes there; who wants to know asks for the attempt"
    left = json.loads((greeter.out_dir(place.repo) / "attempts/S1/1/ending.json").read_text())["left"]
    assert left == ["~/.claude.json", "~/.claude/commands/evil.md", "~/.claude/settings.json"]
    assert "~/.claude/settings.json" in place.look("show", "S1")
