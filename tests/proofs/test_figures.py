"""Figures that cannot go stale: the page shows what is recorded, and the record is what a program measured."""

import re
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from benchmarks.measure import verdict
from proofs.figures import (
    BY_ROW,
    NOT_YET,
    PAGE,
    RECORDS,
    ROOT,
    Figure,
    Measured,
    Record,
    Skipped,
    before_release,
    read,
    stale,
    told,
    with_tables,
    write,
)
from proofs.rows import MEASUREMENTS

from proofs import __main__ as proofs_command
from proofs import running

LINK = re.compile(r"\bproofs\.md#([\w-]+)")
RECORD = Record(
    row="kills", figure="600 deaths", target="0 violations", missed=False, command="python -m proofs kills",
    commit="0123456", date="2026-11-18", load="quiet", machine="2 cores",
)  # fmt: skip
MARKS = (
    "<!-- figures: proofs -->\n<!-- end of figures -->\nwords\n<!-- figures: benchmarks -->\n<!-- end of figures -->\n"
)


def shown(page: str) -> list[str]:
    """Return the rows of a page, in their order."""
    return re.findall(r'<a id="([\w-]+)">', page)


def line(page: str, row: str) -> str:
    return next(line for line in page.splitlines() if f'<a id="{row}">' in line)


def git(repo: Path, *words: str) -> str:
    user = ("-c", "user.name=U", "-c", "user.email=u@example.org")
    return subprocess.run(["git", *user, *words], cwd=repo, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository with one file of the compiler, an empty page and no figures."""
    for name, text in {"src/santiago/planner/a.py": "", str(RECORDS): "[]", str(PAGE): MARKS}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "Begin")
    return tmp_path


@pytest.fixture(autouse=True)
def quiet_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test waits to see what the machine does."""
    monkeypatch.setattr(running, "machine_is_busy", lambda: False)


def test_the_page_shows_what_is_recorded() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    records = read()
    assert page == with_tables(page, records), "write the tables anew: python -m proofs page"
    assert sorted(shown(page)) == sorted(BY_ROW)
    assert [row for row in BY_ROW if (NOT_YET in line(page, row)) != (row not in records)] == []
    assert set(records) <= set(BY_ROW)


def test_every_link_to_a_figure_leads_to_one() -> None:
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    linked = {row for page in pages for row in LINK.findall(page.read_text(encoding="utf-8"))}
    assert linked - set(BY_ROW) == set()


def test_no_figure_is_older_than_the_latest_release() -> None:
    assert before_release(read(), (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")) == []


def test_a_figure_older_than_the_latest_release_is_named_with_its_command() -> None:
    changelog = "# Changelog\n\n## Unreleased\n\n## 1.2.3 (2026-11-19)\n\n## 1.2.2 (2026-10-01)\n"
    records = {"kills": RECORD, "flood": replace(RECORD, row="flood", date="2026-11-19")}
    (old,) = before_release(records, changelog)
    assert old.startswith("kills was measured on 2026-11-18")
    assert old.endswith(": python -m proofs kills")
    assert before_release(records, "## Unreleased\n") == []


def test_missed_figures_come_first_and_then_those_that_nobody_measured() -> None:
    records = {"ports": RECORD, "flood": replace(RECORD, row="flood", missed=True)}
    page = with_tables(MARKS, records)
    rows = shown(page.partition("words")[0])
    assert rows[0] == "flood"
    assert rows[-1] == "ports"
    assert "**missed**: 600 deaths" in line(page, "flood")
    assert "missed" not in line(page, "ports")
    assert page.count(NOT_YET) == len(BY_ROW) - 2
    assert with_tables(page, records) == page


def test_the_machine_stands_once_above_a_table_if_all_rows_share_it() -> None:
    page = with_tables(MARKS, {"kills": RECORD, "flood": RECORD})
    assert page.count("2 cores") == 1
    page = with_tables(MARKS, {"kills": RECORD, "flood": replace(RECORD, machine="4 cores")})
    assert "quiet; 2 cores |" in line(page, "kills")
    assert "quiet; 4 cores |" in line(page, "flood")


def test_every_measurement_names_code_that_there_is_and_a_command_that_is_known() -> None:
    assert [path for one in MEASUREMENTS for path in one.paths if not (ROOT / path).exists()] == []
    modules = [
        f"benchmarks.bench_{one.words[0]}" if one.part == "benchmarks" else f"proofs.{one.words[0].replace('-', '_')}"
        for one in MEASUREMENTS
    ]
    assert [name for name in modules if find_spec(name) is None] == []
    assert [one.command for one in MEASUREMENTS if one.part == "proofs" and not one.short] == []


def test_what_is_printed_is_what_is_recorded(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The terminal, the record and the page never show different digits."""
    figures: list[Measured] = [
        verdict("compile-parser", 2.3449, 3, among=[2.2, 2.4]),
        verdict("compile-time", 2.5, 2.3),
        Skipped(row="compile-memory", reason="no memory"),
    ]
    assert running.one("./dev bench compile", lambda: figures, root=repo) == 1
    printed = capsys.readouterr().out
    assert "ok      compile-parser: 2.34x (2.20 to 2.40) (target: at most 3x)" in printed
    assert "MISSED  compile-time: 2.50x" in printed
    assert "skipped compile-memory: no memory" in printed
    records = read(repo)
    assert list(records) == ["compile-parser", "compile-time"]
    assert [told(record) in printed for record in records.values()] == [True, True]
    record = records["compile-parser"]
    assert (record.commit, record.load) == (git(repo, "rev-parse", "--short=7", "HEAD"), "quiet")
    assert "| 2.34x (2.20 to 2.40) | at most 3x | `./dev bench compile` |" in (repo / PAGE).read_text()


def test_figures_of_code_without_a_commit_are_not_written(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repo / "src/santiago/planner/b.py").write_text("")
    running.one("./dev bench compile", lambda: [verdict("compile-parser", 2, 3)], root=repo)
    assert read(repo) == {}
    assert "src/santiago/planner/b.py has changes without a commit" in capsys.readouterr().out


def test_figures_are_not_written_if_the_code_changes_meanwhile(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def commit() -> list[Measured]:
        git(repo, "commit", "-q", "--allow-empty", "-m", "Meanwhile")
        return [verdict("compile-parser", 2, 3)]

    running.one("./dev bench compile", commit, root=repo)
    assert read(repo) == {}
    assert "when the measurement began" in capsys.readouterr().out


def test_a_row_whose_code_changed_is_stale(repo: Path) -> None:
    head = git(repo, "rev-parse", "--short=7", "HEAD")
    records = {row: replace(RECORD, row=row, commit=head) for row in BY_ROW}
    assert list(stale(records, repo)) == []
    (repo / "src/santiago/planner/a.py").write_text("new = 1\n")
    git(repo, "commit", "-q", "-a", "-m", "Change")
    found = {words.partition(":")[0]: words for words in stale(records, repo)}
    assert found["compile-time"].startswith("compile-time: src/santiago/planner/a.py changed since ")
    assert found["compile-time"].endswith(": ./dev bench compile")
    assert "log-replay" not in found
    records |= {"log-replay": replace(RECORD, commit="fedcba9")}
    del records["flood"]
    found = {words.partition(":")[0]: words for words in stale(records, repo)}
    assert "its commit fedcba9 is not known here" in found["log-replay"]
    assert NOT_YET in found["flood"]


def test_a_record_of_a_row_that_there_is_no_longer_is_dropped(repo: Path) -> None:
    write({"weather": replace(RECORD, row="weather"), "kills": RECORD}, repo)
    assert list(read(repo)) == ["kills"]


def test_several_programs_run_whatever_becomes_of_each(capsys: pytest.CaptureFixture[str]) -> None:
    good = told(Figure(row="kills", figure="1 death", target="0 violations", missed=False))
    missed = told(Figure(row="flood", figure="99 MiB", target="64 MiB", missed=True))
    programs = [f"print({missed!r}); exit(1)", "raise SystemError", f"print({good!r})"]
    assert running.each([["-c", program] for program in programs]) == 1
    end = capsys.readouterr().out.split("\n")[-4:-1]
    assert end == [missed, "  FAILED  raise SystemError: ended with 1", good]
    assert running.each([["-c", f"print({good!r})"]]) == 0


@pytest.mark.parametrize("words", [[], ["weather"], ["all", "--quickly"], ["stale", "now"], ["kills", "--what"]])
def test_wrong_usage_has_an_exit_code_of_its_own(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        sys.exit(proofs_command.main(words))
    assert ended.value.code == 2


def test_other_sizes_are_only_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small figure must not take the place of a large one."""
    whys: list[str] = []
    monkeypatch.setattr(proofs_command, "one", lambda *_, why_not: whys.append(why_not))
    for words in ([], ["--count", "5"], ["--count", "5", "--write"], ["--no-write"]):
        proofs_command.main(["kills", *words])
    assert [bool(why) for why in whys] == [False, True, False, True]
