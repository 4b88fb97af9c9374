"""An agent's settings in the home folder: a copy, in every fence; only what its profile names is written back (issue 11)."""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from santiago.process import homes
from santiago.process.command import Command, Report
from santiago.process.homes import Home
from santiago.process.server import ProcessServer
from tests.process.test_sandbox import KINDS, found, needs_landlock

ROOT = Path(__file__).parents[2]
FILES = {
    ".robo/settings.json": "{}",
    ".robo/token": "old",
    ".robo/scripts/hook.sh": "true",
    ".robo/plugins/large.bin": "x" * 5_000,
    ".robo/sessions/yesterday": "private",
    ".robo.json": "{}",
    ".config/robo/robo.toml": "a = 1",
    ".config/other": "of another program",
    ".gitconfig": "[user]",
}


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home folder; not below /tmp, which is hidden anyway."""
    monkeypatch.setattr(homes, "MOST_BYTES", 4_000)
    with tempfile.TemporaryDirectory(prefix=".home-", dir=ROOT) as folder:
        for name, text in FILES.items():
            Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, name).write_text(text)
        yield Path(folder)


def copy_of(home: Path, side: Path) -> Home:
    own = [f"{home}/{name}" for name in (".robo", ".robo.json", ".config/robo", ".absent")]
    writable = [f"{home}/.robo/token", f"{home}/.robo/no-such-token"]
    return homes.copied(str(side), str(home), own=own, writable=writable, fresh=[f"{home}/.robo/sess*"])


@pytest.fixture(params=[*KINDS, pytest.param("landlock", marks=needs_landlock)])
def run(
    server: ProcessServer, home: Path, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], tuple[Report, Home]]:
    """Run a script in a fence, with its part of the home folder; `$REAL` is the path of the user's own."""
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(home), "XDG_CONFIG_HOME": f"{home}/.config", "REAL": f"{home}/",
    }  # fmt: skip
    box = found(request.param, environment, monkeypatch)
    work, side = tmp_path / "work", tmp_path / "side"
    work.mkdir()
    (side / "tmp").mkdir(parents=True)

    def run(script: str) -> tuple[Report, Home]:
        own = copy_of(home, side)
        plain = Command(argv=("/bin/sh", "-c", script), cwd=str(work), env=environment, timeout_ms=60_000)
        fenced = box.wrap(plain, writable=(str(work), str(side)), temporary=f"{side}/tmp", home=own)
        return server.run(fenced), own

    return run


def content(home: Path) -> dict[str, str]:
    return {str(path.relative_to(home)): path.read_text() for path in home.rglob("*") if path.is_file()}


def test_settings_that_an_agent_writes_stay_in_a_copy(run: Callable[[str], tuple[Report, Home]], home: Path) -> None:
    """By the home folder's own path as well, and also where that cannot be hidden."""
    report, own = run(
        "cd && echo hook >.robo/settings.json && echo x >.robo/scripts/new.sh && rm .robo/scripts/hook.sh && echo x >>.robo.json"
        ' && echo x >"$XDG_CONFIG_HOME/robo/robo.toml" && mkdir -p .robo/sessions && echo x >.robo/sessions/today'
        ' && (echo x >"$REAL.robo/settings.json"; echo x >"$REAL.gitconfig"; ln -sf /etc/passwd "$REAL.robo/scripts/link"; true)'
    )
    assert report.exit_code == 0, report
    assert content(home) == FILES
    assert set(own.left()) - {"~/.robo/scripts/link"} == {
        "~/.robo/settings.json", "~/.robo/scripts/new.sh", "~/.robo/scripts/hook.sh", "~/.robo.json", "~/.config/robo/robo.toml",
    }  # fmt: skip


@pytest.mark.parametrize("linked", [False, True])
def test_a_copied_file_can_be_replaced_whole_so_that_no_other_program_reads_half_of_it(
    run: Callable[[str], tuple[Report, Home]], home: Path, linked: bool
) -> None:
    """Claude Code's processes read each other's half-written ~/.claude.json where it was mounted and no rename was possible."""
    if linked:  # as people do who keep such files in a repository
        (home / "dotfiles").mkdir()
        (home / ".robo.json").rename(home / "dotfiles/robo.json")
        (home / ".robo.json").symlink_to("dotfiles/robo.json")
    before = content(home)
    report, own = run(
        'file=$(readlink -f ~/.robo.json) && echo new >"$file.new" && mv "$file.new" "$file" && grep new ~/.robo.json'
    )
    assert report.exit_code == 0, report
    assert (content(home), own.left()) == (before, ("~/.robo.json",))


def test_only_what_the_profile_names_is_written_back_what_is_too_large_is_only_read_and_sessions_begin_empty(
    run: Callable[[str], tuple[Report, Home]], home: Path
) -> None:
    report, own = run(
        "test $(wc -c <~/.robo/plugins/large.bin) = 5000 && ! echo x >~/.robo/plugins/large.bin && ! touch ~/.robo/plugins/new"
        " && test ! -e ~/.robo/sessions/yesterday && cat ~/.robo/token && echo && echo new >~/.robo/token && cat ~/.robo/token"
    )
    assert (report.exit_code, report.head.split()[-2:]) == (0, ["old", "new"]), report
    assert content(home) == {**FILES, ".robo/token": "new\n"}
    assert own.left() == ()


def test_links_lead_to_what_is_not_copied(run: Callable[[str], tuple[Report, Home]], home: Path) -> None:
    (home / "dotfiles").mkdir()
    for name in ("token", "plugins"):
        (home / ".robo" / name).rename(home / "dotfiles" / name)
        (home / ".robo" / name).symlink_to(f"../dotfiles/{name}")
    report, own = run("echo new >~/.robo/token && test -e ~/.robo/plugins/large.bin && ! touch ~/.robo/plugins/new")
    assert report.exit_code == 0, report
    assert (home / "dotfiles/token").read_text() == "new\n"
    assert own.left() == ()


def test_what_is_no_file_is_neither_waited_for_nor_copied(home: Path, tmp_path: Path) -> None:
    os.mkfifo(home / ".robo/pipe")
    (home / ".robo/scripts/around").symlink_to("..")
    (home / ".robo/scripts/zero").symlink_to("/dev/zero")
    own = copy_of(home, tmp_path)
    assert not (tmp_path / "home/.robo/pipe").exists()
    assert not (tmp_path / "home/.robo/scripts/zero").exists()
    assert (tmp_path / "home/.robo/settings.json").read_text() == "{}"
    assert own.left() == ()


def test_a_linked_setting_is_copied_and_a_link_that_an_agent_leaves_is_not_followed(home: Path, tmp_path: Path) -> None:
    (home / "dotfiles.json").write_text("mine")
    (home / ".robo/settings.json").unlink()
    (home / ".robo/settings.json").symlink_to("../dotfiles.json")
    own = copy_of(home, tmp_path)
    copied = tmp_path / "home/.robo/settings.json"
    assert (copied.read_text(), copied.is_symlink()) == ("mine", False)
    copied.unlink()
    copied.symlink_to(home / "dotfiles.json")
    (tmp_path / "home/.robo/more").symlink_to(home)
    assert own.left() == ("~/.robo/more", "~/.robo/settings.json")
