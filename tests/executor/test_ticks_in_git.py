"""Ticks are written back where that is wished: single bytes, one commit on the run's branch, and never into somebody's tree."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from santiago.app.auditing import Audit
from santiago.app.start.compose import execute
from santiago.app.start.prepare import prepare
from santiago.app.start.request import Request
from santiago.app.start.wishes import Wishes
from santiago.contract.errors import SantiagoError
from santiago.contract.events import Event, EventKind
from santiago.contract.outcomes import AgentEnding
from santiago.contract.phases import RunPhase
from santiago.contract.plan import Plan
from santiago.contract.policy import Agent, Policy, RunInput, Verification
from santiago.contract.ports.agent import Packet
from santiago.contract.ports.run import Stop
from santiago.contract.state import RunState
from santiago.planner.compile import compile_plan
from santiago.planner.source import Source
from santiago.workspace.workspace import GitWorkspace
from tests.executor.parity import repository
from tests.executor.test_endings import Player, ending
from tests.util.each import each

PRD = """\
# Shop

### US-001: Add
As a buyer, I want to add.

**Acceptance Criteria:**
- [ ] It adds
1. [ ] It counts
- It has no box

### US-002: Remove
As a buyer, I want to remove.

**Acceptance Criteria:**
* [x] It is there
* [ ] It removes – for ever

## Notes

- [ ] nobody's box
"""
BRANCH = "santiago/run-1"
Change = Callable[[Packet], None]


def planned(text: str) -> Plan:
    made = compile_plan(Source(text, path="prd.md"))
    assert made.plan is not None, made.findings
    return made.plan


class World:
    """One repository with a document, and an agent that does what each story wants."""

    def __init__(
        self,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        text: str = PRD,
        change: Change = lambda _: None,
        commit: bool = True,
    ) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))

        def play(packet: Packet, stop: Stop) -> AgentEnding:
            Path(packet.folder, f"{packet.story.id}.txt").write_text("here\n")
            change(packet)
            return ending()

        monkeypatch.setattr("santiago.app.start.agents.playing", lambda *_: Player(play))
        self.folder, self.events = folder, list[Event]()
        self.plan = planned(text)
        self.repo = repository(folder / "repo")
        self.run_input = RunInput(
            contract_version=1, run_id="run-1", repo_path=str(self.repo), prd_path="prd.md",
            verification=Verification(story_commands=("grep -q yes ok.txt",)),
            agent=Agent(mode="scripted", playbook="none"), policy=Policy(sandbox="off", write_back=True),
        )  # fmt: skip
        (self.repo / "prd.md").write_bytes(text.encode())
        (self.repo / "ok.txt").write_text("yes\n")
        self.git("add", "-A" if commit else "ok.txt")
        if commit:
            self.git("update-index", "--chmod=+x", "prd.md")
        self.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "A document")

    def run(self) -> RunState:
        request = Request(
            out_dir=self.folder / "out", run_input=self.run_input, plan=self.plan, jobs=1,
            listeners=[lambda events, _: self.events.extend(events)],
        )  # fmt: skip
        return execute(request)

    def git(self, *arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.repo, check=True, capture_output=True)
        return done.stdout.decode()

    def document(self) -> bytes:
        shown = ["git", "show", f"{BRANCH}:prd.md"]
        return subprocess.run(shown, cwd=self.repo, check=True, capture_output=True).stdout

    def told(self) -> list[tuple[str | None, str]]:
        found = [event for event in self.events if event.event is EventKind.TICKS_WRITTEN]
        return [(event.status, event.context["message"]) for event in found]


@each("end", ["\n", "\r\n"])
def test_line_45_each_tick_is_one_byte_in_one_commit_before_the_run_is_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    text = PRD.replace("\n", end)
    world = World(tmp_path, monkeypatch, text)
    before = world.git("status", "--porcelain"), world.git("rev-parse", "HEAD")
    state = world.run()
    assert state.phase is RunPhase.SUCCESS
    assert world.told() == [("ok", "3 ticks in prd.md")]
    old, new = text.encode(), world.document()
    assert len(old) == len(new)
    changed = [at for at, (one, other) in enumerate(zip(old, new, strict=True)) if one != other]
    assert [old[at - 1 : at + 12].rstrip(b"\r\n")[:9] for at in changed] == [b"[ ] It ad", b"[ ] It co", b"[ ] It re"]
    assert {new[at : at + 1] for at in changed} == {b"x"}
    subjects = world.git("log", "--format=%s", BRANCH).splitlines()
    assert subjects[0] == "Tick what is done in prd.md"
    assert world.git("diff", "--name-status", f"{BRANCH}~1", BRANCH).split() == ["M", "prd.md"]
    assert world.git("diff", "--summary", f"{BRANCH}~1", BRANCH) == "", "it stays a program"
    message = world.git("log", "-1", "--format=%B", BRANCH)
    assert "Santiago-Run: run-1\n" in message
    assert "Santiago-Head: " in message
    kinds = [event.event for event in world.events]
    assert kinds.index(EventKind.TICKS_WRITTEN) < kinds.index(EventKind.RUN_VERIFYING)
    assert state.head == world.git("rev-parse", BRANCH).strip()
    assert (world.git("status", "--porcelain"), world.git("rev-parse", "HEAD")) == before
    assert (world.repo / "prd.md").read_bytes() == old, "nobody's tree is touched"


def test_line_45_without_the_wish_nothing_is_ticked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path, monkeypatch)
    world.run_input = replace(world.run_input, policy=Policy(sandbox="off"))
    assert world.run().phase is RunPhase.SUCCESS
    assert (world.document().decode(), world.told()) == (PRD, [])


def test_line_45_the_wish_is_the_run_s_own_and_a_later_start_may_have_it_for_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path, monkeypatch)
    plain = replace(world.run_input, policy=Policy(sandbox="off"))
    wish = Wishes(write_back=True)
    fresh = prepare(world.folder / "out", plain, world.plan, wish, base=world.repo, compiled=True)
    assert (fresh.run_input.policy.write_back, fresh.policy and fresh.policy.write_back) == (True, True)
    world.run_input = plain
    world.run()
    later = prepare(world.folder / "out", plain, world.plan, wish, base=world.repo)
    assert (later.run_input.policy.write_back, later.policy and later.policy.write_back) == (False, True)


def test_line_45_a_document_that_was_changed_meanwhile_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(packet: Packet) -> None:
        path = Path(packet.folder, "prd.md")
        path.write_text(path.read_text() + "\nAnd more.\n")

    world = World(tmp_path, monkeypatch, change=change)
    assert world.run().phase is RunPhase.SUCCESS
    assert world.told() == [("failed", "prd.md has changed since it was planned, so no ticks were written")]
    assert b"[ ] It adds" in world.document()


def test_line_45_ticks_that_an_agent_set_are_no_change_of_the_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(packet: Packet) -> None:
        path = Path(packet.folder, "prd.md")
        path.write_text(path.read_text().replace("- [ ] It adds", "- [X] It adds"))

    world = World(tmp_path, monkeypatch, change=change)
    assert world.run().phase is RunPhase.SUCCESS
    assert world.told() == [("ok", "2 ticks in prd.md")]
    assert b"- [X] It adds" in world.document()


def test_line_45_a_document_outside_git_is_said_and_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path, monkeypatch, commit=False)
    assert world.run().phase is RunPhase.SUCCESS
    assert world.told() == [("failed", "prd.md is not on the run's branch, so no ticks were written")]
    assert (world.repo / "prd.md").read_text() == PRD


def test_line_45_a_crash_between_commit_and_event_leaves_one_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path, monkeypatch)
    advance = GitWorkspace.advance

    def dies(workspace: GitWorkspace, old: str, new: str) -> str:
        made = advance(workspace, old, new)
        if "Tick" in world.git("log", "-1", "--format=%s", BRANCH):
            raise KeyboardInterrupt
        return made

    with monkeypatch.context() as patch:
        patch.setattr(GitWorkspace, "advance", dies)
        with pytest.raises(KeyboardInterrupt):
            world.run()
    assert world.told() == []
    landed = world.git("rev-parse", BRANCH).strip()
    state = world.run()
    assert (state.phase, state.head) == (RunPhase.SUCCESS, landed)
    assert world.told() == [("ok", "3 ticks in prd.md")]
    assert world.git("log", "--format=%s", BRANCH).count("Tick what is done") == 1
    audit = Audit(tmp_path / "out")
    audit.run()
    assert audit.clean, audit.faults


def test_line_45_a_plan_whose_ticks_alone_changed_is_the_plan_that_the_run_began_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path, monkeypatch)
    state = world.run()
    ticked = planned(world.document().decode())
    assert ticked.source.sha256 == world.plan.source.sha256
    assert [story.claimed_done for story in ticked.stories] == [True, True]
    again = prepare(world.folder / "out", world.run_input, ticked, Wishes(), base=world.repo, compiled=True)
    assert again.plan == world.plan
    assert execute(again).phase is state.phase


def test_line_45_a_plan_that_says_something_else_is_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path, monkeypatch)
    world.run()
    other = planned(PRD.replace("It adds", "It multiplies"))
    again = prepare(world.folder / "out", world.run_input, other, Wishes(), base=world.repo, compiled=True)
    with pytest.raises(SantiagoError, match="the run began with"):
        execute(again)
