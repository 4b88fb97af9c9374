"""`santiago audit` on a real run: clean as it was left, and every kind of tampering found and named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from santiago.artifacts.frame import GENESIS, encode
from santiago.artifacts.reader import read_log
from santiago.cli.main import main
from santiago.contract.events import Event, EventKind
from tests.cli import greeter

if TYPE_CHECKING:
    from tests.cli.conftest import Done


class Copy:
    """A run and its repository, to be tampered with."""

    def __init__(self, repo: Path) -> None:
        self.repo = repo
        self.out_dir = greeter.out_dir(repo)
        self.log = self.out_dir / "progress.ndjson"
        self.run = self.out_dir.name

    def lines(self) -> list[bytes]:
        return self.log.read_bytes().splitlines(keepends=True)

    def rewrite(self, change: Callable[[Event], Event | None]) -> None:
        """Write the log anew with a chain that fits."""
        events = [changed for event in read_log(self.log) if (changed := change(event)) is not None]
        digest, lines = GENESIS, []
        for number, event in enumerate(events, 1):
            line, digest = encode(replace(event, seq=number), digest)
            lines.append(line)
        self.log.write_bytes(b"".join(lines))

    def edit(self, name: str, change: Callable[[Any], object]) -> None:
        path = self.out_dir / name
        data = json.loads(path.read_text())
        change(data)
        path.write_text(json.dumps(data, indent=2) + "\n")


@pytest.fixture
def copy(success: Done, tmp_path: Path) -> Copy:
    return Copy(shutil.copytree(success.repo, tmp_path / "repo"))


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def _audit(copy: Copy, capsys: pytest.CaptureFixture[str]) -> tuple[int, set[str]]:
    code = main(["audit", str(copy.out_dir), "--repo", str(copy.repo), "--json"])
    told = json.loads(capsys.readouterr().out)
    return code, {f"{finding['level']} {finding['code']}" for finding in told["findings"]}


def test_a_run_as_it_was_left_is_clean(copy: Copy, capsys: pytest.CaptureFixture[str]) -> None:
    assert _audit(copy, capsys) == (0, set())


def test_a_failed_run_is_clean_too(failure: Done, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(failure.out_dir)]) == 0
    assert "clean" in capsys.readouterr().out


def _flip(copy: Copy) -> None:
    content = bytearray(copy.log.read_bytes())
    content[len(content) // 2] ^= 1
    copy.log.write_bytes(bytes(content))


def _cut(copy: Copy) -> None:
    copy.log.write_bytes(b"".join(copy.lines()[:-2]))


def _other_time(copy: Copy) -> None:
    copy.rewrite(lambda event: replace(event, timestamp="2020-01-01T00:00:00.000Z") if event.seq == 3 else event)


def _no_verdict(copy: Copy) -> None:
    """Forge a story's verdict, chain and all."""

    def change(event: Event) -> Event:
        if event.event is EventKind.ATTEMPT_ENDED and event.status == "ok":
            kept: Any = {key: value for key, value in event.context.items() if key != "digest"}
            return replace(event, context=kept)
        return event

    copy.rewrite(change)


def _impossible(copy: Copy) -> None:
    copy.rewrite(lambda event: None if event.event is EventKind.STORY_VERIFIED else event)


def _plan(copy: Copy) -> None:
    copy.edit("plan.json", lambda data: data.update(title="Another"))


def _chunk(copy: Copy) -> None:
    copy.edit("plan.json", lambda data: data["chunks"][0]["stories"].__setitem__(0, "R1"))


def _settings(copy: Copy) -> None:
    copy.edit("run-input.json", lambda data: data["limits"].update(story_max_attempts=99))


def _evidence(copy: Copy) -> None:
    copy.edit("attempts/S2/1/verification.json", lambda data: data["results"][0].update(exit_code=0, seconds=9))


def _no_evidence(copy: Copy) -> None:
    (copy.out_dir / "attempts/S2/1/verification.json").unlink()


def _no_run_evidence(copy: Copy) -> None:
    (copy.out_dir / "evidence/run-1.json").unlink()


def _outcome(copy: Copy) -> None:
    copy.edit("attempts/S1/1/outcome.json", lambda data: data.update(status="ok", reason=None))


def _spaces(copy: Copy) -> None:
    path = copy.out_dir / "result.json"
    path.write_text(path.read_text() + " ")


def _patch(copy: Copy) -> None:
    path = copy.out_dir / "attempts/S1/1/changes.patch"
    path.write_text(path.read_text().replace("helo", "hello"))


def _list_of_files(copy: Copy) -> None:
    copy.edit("attempts/S1/1/files.json", lambda data: data.update({"changes.patch": "0" * 64}))


def _added(copy: Copy) -> None:
    (copy.out_dir / "attempts/S1/1/excuse.md").write_text("It was all fine.\n")


def _table(copy: Copy) -> None:
    path = copy.out_dir / "evidence/verification-results.tsv"
    path.write_text(path.read_text().replace("PASS", "FAIL", 1))


def _session(copy: Copy) -> None:
    copy.edit("planning/session.json", lambda data: data.update(status="failed"))


def _base(copy: Copy) -> None:
    copy.edit("evidence/base.json", lambda data: data.update(passed=True))


def _attempt(copy: Copy) -> None:
    shutil.copytree(copy.out_dir / "attempts/S2/1", copy.out_dir / "attempts/S2/2")


def _unknown_ref(copy: Copy) -> None:
    greeter.git(copy.repo, "update-ref", f"refs/santiago/{copy.run}/S2/2", "main")


def _result(copy: Copy) -> None:
    copy.edit("result.json", lambda data: data["stories"][0].update(attempts=1))


def _no_result(copy: Copy) -> None:
    (copy.out_dir / "result.json").unlink()


def _no_ref(copy: Copy) -> None:
    greeter.git(copy.repo, "update-ref", "-d", f"refs/santiago/{copy.run}/S1/1")


def _moved_ref(copy: Copy) -> None:
    greeter.git(copy.repo, "update-ref", f"refs/santiago/{copy.run}/S1/1", "main")


def _moved_branch(copy: Copy) -> None:
    greeter.git(copy.repo, "update-ref", f"refs/heads/santiago/{copy.run}", "main")


def _broken_ref(copy: Copy) -> None:
    """As a clean-up left it that did not know of the ref: the ref stands, what it leads to is gone."""
    ref = f"refs/santiago/{copy.run}/S1/1"
    lost = greeter.git(copy.repo, "rev-parse", f"{ref}^{{tree}}")
    greeter.lose(copy.repo, lost)


def _no_repository(copy: Copy) -> None:
    shutil.rmtree(copy.repo / ".git")


TAMPERED: dict[str, tuple[Callable[[Copy], None], str]] = {
    "a bit of the log is flipped": (_flip, "log_damaged"),
    "the log is cut": (_cut, "log_cut"),
    "the log is written anew with a chain that fits": (_other_time, "log_rewritten"),
    "a verdict is forged in the log": (_no_verdict, "evidence_missing"),
    "the log tells what cannot have happened": (_impossible, "log_impossible"),
    "the plan is changed": (_plan, "frozen_changed"),
    "a chunk names a story that is none": (_chunk, "frozen_unreadable"),
    "a limit is changed": (_settings, "frozen_changed"),
    "a record of checks is changed": (_evidence, "evidence_changed"),
    "a record of checks is removed": (_no_evidence, "evidence_missing"),
    "the record of the run's checks is removed": (_no_run_evidence, "evidence_missing"),
    "an outcome is made to look good": (_outcome, "file_changed"),
    "the list of an attempt's files is changed": (_list_of_files, "file_changed"),
    "a patch is changed": (_patch, "file_changed"),
    "a file is put beside those of an attempt": (_added, "file_unknown"),
    "the table of verdicts is changed": (_table, "projection_wrong"),
    "the session is changed": (_session, "projection_wrong"),
    "what the base showed is changed": (_base, "evidence_changed"),
    "there are files of an attempt that the log does not know": (_attempt, "attempt_unknown"),
    "there is work of an attempt that the log does not know": (_unknown_ref, "ref_unknown"),
    "the result is written otherwise": (_spaces, "result_wrong"),
    "the result is changed": (_result, "result_wrong"),
    "the result is removed": (_no_result, "result_missing"),
    "the work of a failed attempt is let go": (_no_ref, "commit_unreachable"),
    "an attempt's ref points elsewhere": (_moved_ref, "ref_moved"),
    "an attempt's ref leads to something that is gone": (_broken_ref, "ref_broken"),
    "the branch points elsewhere": (_moved_branch, "branch_moved"),
    "the repository is gone": (_no_repository, "repository_unusable"),
}


@pytest.mark.parametrize("how", TAMPERED)
def test_tampering_is_found_and_named(how: str, copy: Copy, capsys: pytest.CaptureFixture[str]) -> None:
    tamper, wanted = TAMPERED[how]
    tamper(copy)
    code, found = _audit(copy, capsys)
    assert code == 30
    assert f"error {wanted}" in found


def test_a_branch_that_a_person_took_over_is_a_note_only(copy: Copy, capsys: pytest.CaptureFixture[str]) -> None:
    greeter.git(copy.repo, "merge", "-q", f"santiago/{copy.run}")
    greeter.git(copy.repo, "branch", "-q", "-D", f"santiago/{copy.run}")
    assert _audit(copy, capsys) == (0, {"note branch_gone"})
