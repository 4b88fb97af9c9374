"""Ticks are written back where that is wished: single bytes, one commit on the run's branch, and never into somebody's tree."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from santiago.app.auditing import Audit
from santiago.app.start.compose import execute
from santiago.app.start.request import prepare
from santiago.app.start.start_options import StartOptions
from santiago.contract.errors import SantiagoError
from santiago.contract.events import EventKind
from santiago.contract.outcomes import AgentEnding
from santiago.contract.phases import RunPhase
from santiago.contract.plan import Plan
from santiago.contract.policy import Policy
from santiago.contract.ports.agent import Packet
from santiago.contract.ports.run import Stop
from santiago.planner.compile import compile_plan
from santiago.planner.source import Source
from santiago.workspace.workspace import GitWorkspace
from tests.executor.test_endings import World as AnyWorld
from tests.executor.test_endings import ending
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


class World(AnyWorld):
    """One repository with a document, and an agent that does what each story wants."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, text: str = PRD, change: Change = lambda _: None, commit: bool = True
    ) -> None:  # fmt: skip
        def play(packet: Packet, stop: Stop) -> AgentEnding:
            Path(packet.folder, f"{packet.story.id}.txt").write_text("here\n")
            change(packet)
            return ending()

        files = {"ok.txt": "yes\n", **({"prd.md": text} if commit else {})}
        policy, check = Policy(sandbox="off", unproven="accept", write_back=True), "grep -q yes ok.txt"
        super().__init__(folder, monkeypatch, play, planned(text), check=check, policy=policy, files=files)
        if commit:
            (self.repo / "prd.md").chmod(0o755)
            self.git("commit", "-qam", "A program")
        else:
            (self.repo / "prd.md").write_text(text)

    def document(self) -> bytes:
        return self.git("show", f"{BRANCH}:prd.md").encode()

    def told(self) -> list[tuple[str | None, str]]:
        return [(event.status, event.context["message"]) for event in self.of(EventKind.TICKS_WRITTEN)]


def edited(old: str, new: str) -> Change:
    def change(packet: Packet) -> None:
        path = Path(packet.folder, "prd.md")
        path.write_text(path.read_text().replace(old, new))

    return change


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


def test_line_45_without_the_wish_nothing_is_ticked_and_a_later_start_may_have_it_for_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path, monkeypatch)
    plain = replace(world.run_input, policy=Policy(sandbox="off", unproven="accept"))
    wish = StartOptions(write_back=True)
    fresh = prepare(world.out_dir, plain, world.plan, wish, base=world.repo, compiled=True)
    assert (fresh.run_input.policy.write_back, fresh.policy and fresh.policy.write_back) == (True, True)
    world.run_input = plain
    assert world.run().phase is RunPhase.SUCCESS
    assert (world.document().decode(), world.told()) == (PRD, [])
    later = prepare(world.out_dir, plain, world.plan, wish, base=world.repo)
    assert (later.run_input.policy.write_back, later.policy and later.policy.write_back) == (False, True)


@each(
    ("change", "told", "kept"),
    [
        (edited("## Notes\n", "## Notes\n\nMore.\n"), ("failed", "prd.md has changed since it was planned"), "[ ] It adds"),
        (edited("- [ ] It adds", "- [X] It adds"), ("ok", "2 ticks in prd.md"), "- [X] It adds"),
        (None, ("failed", "prd.md is not on the run's branch"), None),
    ],
)  # fmt: skip
def test_line_45_a_document_changed_meanwhile_or_outside_git_is_left_alone_and_ticks_of_an_agent_are_no_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Change | None, told: tuple[str, str], kept: str | None
) -> None:
    world = World(tmp_path, monkeypatch, change=change or (lambda _: None), commit=change is not None)
    assert world.run().phase is RunPhase.SUCCESS
    assert world.told() == [(told[0], told[1] + ("" if told[0] == "ok" else ", so no ticks were written"))]
    assert (world.repo / "prd.md").read_text() == PRD
    if kept:
        assert kept in world.document().decode()


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


def test_line_45_a_plan_whose_ticks_alone_changed_is_the_plan_that_the_run_began_with_and_no_other_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path, monkeypatch)
    state = world.run()
    ticked = planned(world.document().decode())
    assert ticked.source.sha256 == world.plan.source.sha256
    assert [story.claimed_done for story in ticked.stories] == [True, True]
    again = prepare(world.out_dir, world.run_input, ticked, StartOptions(), base=world.repo, compiled=True)
    assert again.plan == world.plan
    assert execute(again).phase is state.phase
    other = planned(PRD.replace("It adds", "It multiplies"))
    again = prepare(world.out_dir, world.run_input, other, StartOptions(), base=world.repo, compiled=True)
    with pytest.raises(SantiagoError, match="the run began with"):
        execute(again)
