"""`santiago audit` on a real run: clean as it was left, and every kind of tampering found and named."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from santiago.artifacts.frame import GENESIS, encode
from santiago.artifacts.reader import read_log
from santiago.cli.main import main
from santiago.contract.events import Event, EventKind
from tests.cli import greeter
from tests.cli.conftest import Done


class Copy:
    def __init__(self, repo: Path) -> None:
        self.repo = repo
        self.out_dir = greeter.out_dir(repo)
        self.log = self.out_dir / "progress.ndjson"
        self.run = self.out_dir.name

    def lines(self) -> list[bytes]:
        return self.log.read_bytes().splitlines(keepends=True)

    def rewrite(self, change: Callable[[Event], Event | None]) -> None:
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


def test_runs_as_left_are_clean_a_merged_branch_is_a_note(
    copy: Copy, capsys: pytest.CaptureFixture[str], failure: Done
) -> None:
    assert _audit(copy, capsys) == (0, set())
    assert main(["audit", str(failure.out_dir)]) == 0
    assert "clean" in capsys.readouterr().out
    greeter.git(copy.repo, "merge", "-q", f"santiago/{copy.run}")
    greeter.git(copy.repo, "branch", "-q", "-D", f"santiago/{copy.run}")
    assert _audit(copy, capsys) == (0, {"note branch_gone"})


def _flip(copy: Copy) -> None:
    content = bytearray(copy.log.read_bytes())
    content[len(content) // 2] ^= 1
    copy.log.write_bytes(bytes(content))


def _no_verdict(copy: Copy) -> None:
    def change(event: Event) -> Event:
        if event.event is EventKind.ATTEMPT_ENDED and event.status == "ok":
            kept: Any = {key: value for key, value in event.context.items() if key != "digest"}
            return replace(event, context=kept)
        return event

    copy.rewrite(change)


def _broken_ref(copy: Copy) -> None:
    """As a clean-up left it that did not know of the ref: the ref stands, what it leads to is gone."""
    greeter.lose(copy.repo, greeter.git(copy.repo, "rev-parse", f"refs/santiago/{copy.run}/S1/1^{{tree}}"))


def _edits(name: str, change: Callable[[Any], object]) -> Callable[[Copy], object]:
    return lambda copy: copy.edit(name, change)


def _says(name: str, before: str, after: str) -> Callable[[Copy], object]:
    """Put other words into a file; what is added to an empty one is all that it says."""

    def tamper(copy: Copy) -> None:
        path = copy.out_dir / name
        text = path.read_text() if path.exists() else ""
        path.write_text(text.replace(before, after, 1) if before else text + after)

    return tamper


def _lacks(name: str) -> Callable[[Copy], object]:
    return lambda copy: (copy.out_dir / name).unlink()


def _ref(*words: str) -> Callable[[Copy], object]:
    return lambda copy: greeter.git(copy.repo, "update-ref", *(word.format(run=copy.run) for word in words))


TAMPERED: dict[str, tuple[Callable[[Copy], object], str]] = {
    "a bit of the log is flipped": (_flip, "log_damaged"),
    "the log is cut": (lambda copy: copy.log.write_bytes(b"".join(copy.lines()[:-2])), "log_cut"),
    "the log is written anew with a chain that fits": (
        lambda copy: copy.rewrite(lambda one: replace(one, timestamp="2020-01-01T00:00:00.000Z") if one.seq == 3 else one),
        "log_rewritten",
    ),
    "a verdict is forged in the log": (_no_verdict, "evidence_missing"),
    "the log tells what cannot have happened": (
        lambda copy: copy.rewrite(lambda one: None if one.event is EventKind.STORY_VERIFIED else one),
        "log_impossible",
    ),
    "the plan is changed": (_edits("plan.json", lambda data: data.update(title="Another")), "frozen_changed"),
    "a chunk names a story that is none": (
        _edits("plan.json", lambda data: data["chunks"][0]["stories"].__setitem__(0, "R1")), "frozen_unreadable",
    ),
    "a setting is changed": (_edits("settings.json", lambda data: data.update({"policy.jobs": 99})), "frozen_changed"),
    "the settings are gone": (lambda copy: (copy.out_dir / "settings.json").unlink(), "frozen_changed"),
    "a limit is changed": (_edits("run-input.json", lambda data: data["limits"].update(story_max_attempts=99)), "frozen_changed"),
    "a record of checks is changed": (
        _edits("attempts/S2/1/verification.json", lambda data: data["results"][0].update(exit_code=0, seconds=9)),
        "evidence_changed",
    ),
    "a record of checks is removed": (_lacks("attempts/S2/1/verification.json"), "evidence_missing"),
    "the record of the run's checks is removed": (_lacks("evidence/run-1.json"), "evidence_missing"),
    "an outcome is made to look good": (
        _edits("attempts/S1/1/outcome.json", lambda data: data.update(status="ok", reason=None)), "file_changed",
    ),
    "the list of an attempt's files is changed": (
        _edits("attempts/S1/1/files.json", lambda data: data.update({"changes.patch": "0" * 64})), "file_changed",
    ),
    "a patch is changed": (_says("attempts/S1/1/changes.patch", "helo", "hello"), "file_changed"),
    "a file is put beside those of an attempt": (_says("attempts/S1/1/excuse.md", "", "It was all fine.\n"), "file_unknown"),
    "the table of verdicts is changed": (_says("evidence/verification-results.tsv", "PASS", "FAIL"), "projection_wrong"),
    "the session is changed": (_edits("planning/session.json", lambda data: data.update(status="failed")), "projection_wrong"),
    "what the base showed is changed": (_edits("evidence/base.json", lambda data: data.update(passed=True)), "evidence_changed"),
    "there are files of an attempt that the log does not know": (
        lambda copy: shutil.copytree(copy.out_dir / "attempts/S2/1", copy.out_dir / "attempts/S2/2"), "attempt_unknown",
    ),
    "there is work of an attempt that the log does not know": (_ref("refs/santiago/{run}/S2/2", "main"), "ref_unknown"),
    "the result is written otherwise": (_says("result.json", "", " "), "result_wrong"),
    "the result is changed": (_edits("result.json", lambda data: data["stories"][0].update(attempts=1)), "result_wrong"),
    "the result is removed": (_lacks("result.json"), "result_missing"),
    "the work of a failed attempt is let go": (_ref("-d", "refs/santiago/{run}/S1/1"), "commit_unreachable"),
    "an attempt's ref points elsewhere": (_ref("refs/santiago/{run}/S1/1", "main"), "ref_moved"),
    "an attempt's ref leads to something that is gone": (_broken_ref, "ref_broken"),
    "the branch points elsewhere": (_ref("refs/heads/santiago/{run}", "main"), "branch_moved"),
    "the repository is gone": (lambda copy: shutil.rmtree(copy.repo / ".git"), "repository_unusable"),
}  # fmt: skip


@pytest.mark.parametrize("how", TAMPERED)
def test_tampering_is_found_and_named(how: str, copy: Copy, capsys: pytest.CaptureFixture[str]) -> None:
    tamper, wanted = TAMPERED[how]
    tamper(copy)
    code, found = _audit(copy, capsys)
    assert code == 30
    assert f"error {wanted}" in found


def test_an_earlier_versions_result_is_compared_by_what_it_has(copy: Copy, capsys: pytest.CaptureFixture[str]) -> None:
    """An earlier version counted less, and said it in other words; what it says must still follow from the log."""

    def told_less(data: dict[str, Any]) -> None:
        data["summary"] = {key: data["summary"][key] for key in ("blocked", "completed", "failed", "skipped")}
        data["message"] = "2 of 2 stories are done."

    _edits("result.json", told_less)(copy)
    code, found = _audit(copy, capsys)
    assert (code, "note result_older" in found) == (0, True), found
    _edits("result.json", lambda data: data["summary"].update(completed=9))(copy)
    code, found = _audit(copy, capsys)
    assert (code, "error result_wrong" in found) == (30, True)
