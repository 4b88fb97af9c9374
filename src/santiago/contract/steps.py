"""Steps, which `decide` wants done next, and orders. An order is a step with what it needs of the state.

In JSON, `kind` tells which step it is: two of them have the same other fields.
"""

from __future__ import annotations

from typing import Literal
from zlib import crc32

from santiago.contract.record import record


@record
class Attempt:
    """Have an agent try a story, and judge what it left."""

    kind: Literal["attempt"] = "attempt"
    story: str
    number: int
    base: tuple[str, ...]
    """The run's head, then the verified commits of what it waits for, in plan order."""
    timeout_ms: int
    tests: bool = False
    """The attempt only writes the story's tests. They must fail, since the work is still missing."""
    shows: bool = False
    """The attempt begins on work of the story that passes its checks, and is asked only for the test that shows it."""
    work: str = ""
    """That work, where it is not on the branch: a snapshot that is put into the folder, not committed."""

    @property
    def id(self) -> str:
        return f"attempt/{self.story}/{self.number}"


@record
class Propose:
    """Have an agent write the detailed plan of a story, for a person to approve."""

    kind: Literal["propose"] = "propose"
    story: str
    number: int
    timeout_ms: int

    @property
    def id(self) -> str:
        return f"propose/{self.story}/{self.number}"


@record
class Adopt:
    """Judge an attempt of an earlier start whose agent had ended. The work that its ref names is verified again."""

    kind: Literal["adopt"] = "adopt"
    story: str
    number: int
    tests: bool = False
    commit: str = ""
    """The commit of the work, where a person says that an interrupted attempt is complete. Otherwise the attempt's ref has it."""

    @property
    def id(self) -> str:
        return f"adopt/{self.story}/{self.number}"


@record
class JudgeClaim:
    """Run the checks of a story that is claimed done, or that the base holds already, on the base, without an attempt."""

    kind: Literal["claim"] = "claim"
    story: str

    @property
    def id(self) -> str:
        return f"claim/{self.story}"


@record
class Integrate:
    """Apply a verified attempt to the run's branch."""

    kind: Literal["integrate"] = "integrate"
    story: str
    attempt: int
    commit: str

    @property
    def id(self) -> str:
        return f"integrate/{self.story}/{self.attempt}"


@record
class VerifyAhead:
    """Verify a story's work on the state that is expected at its turn, as long as others are still to come before it."""

    kind: Literal["ahead"] = "ahead"
    story: str
    attempt: int
    onto: tuple[str, ...]
    """The run's head, the verified commits that come onto it before this story, and at last the story's own."""

    @property
    def id(self) -> str:
        return f"ahead/{self.story}/{self.attempt}/{crc32(' '.join(self.onto).encode()):08x}"


@record
class ExamineBase:
    """Run every check once on the base, before any agent is started."""

    kind: Literal["examine"] = "examine"
    commit: str

    @property
    def id(self) -> str:
        return f"examine/{self.commit[:12]}"


@record
class WriteBack:
    """Tick what is done in the plan's document, as a commit on the run's branch."""

    kind: Literal["write-back"] = "write-back"
    commit: str

    @property
    def id(self) -> str:
        return f"write-back/{self.commit[:12]}"


@record
class VerifyRun:
    """Run the checks of the whole run on the final head."""

    kind: Literal["verify-run"] = "verify-run"
    round: int

    @property
    def id(self) -> str:
        return f"verify-run/{self.round}"


Step = ExamineBase | Propose | Attempt | Adopt | JudgeClaim | Integrate | VerifyAhead | WriteBack | VerifyRun


@record
class Ahead:
    """The verdict on a story's work that was given before its turn, on the state that was expected there."""

    step: str
    onto: tuple[str, ...]
    """As the step had it."""
    passed: bool
    key: str = ""
    """Digest of all that the verdict rests on; empty where the work does not even apply."""
    digest: str = ""
    """Digest of its record; empty where nothing had to run."""


@record
class DetailRef:
    """A detailed plan, by its digest."""

    story: str
    revision: int
    digest: str


@record
class Order:
    """A step with what it needs of the state at its beginning. It is plain data, so that any engine can carry it out."""

    step: Step
    run_id: str
    head: str
    """Where the run's branch stands."""
    base: str
    """The commit that the story's latest attempt began on; the head where there is none."""
    began: str
    """The commit that the run began from."""
    anchor: str
    """Where the log stood: `<seq>:<hash>`, for the trailer of the commit."""
    notes: tuple[str, ...] = ()
    """Answers, hints and change requests for the agent, oldest first."""
    tokens: int | None = None
    """What the attempt may use, without what is reserved for others; None where it is not limited."""
    micro_usd: int | None = None
    tests_by: int = 0
    """Number of the attempt that wrote the story's tests, where this one builds on them; else 0."""
    stories: tuple[tuple[str, int], ...] = ()
    """For a step about the run: the stories that it concerns, each with its latest attempt."""
    parent: str | None = None
    """The parent of the story, where it is a substep."""
    details: tuple[DetailRef, ...] = ()
    """The approved detailed plans of the stories that it concerns, and of their parents. For a proposal: the previous one."""
    findings: tuple[str, ...] = ()
    """What was wrong with the previous proposal, where it was sent back."""
    before: str = ""
    """The commit before the story's unproven work came onto the branch, where its strength is to be measured anew."""
    parts: bool = False
    """The story's substeps are done. The story is judged with their work, against the commit that it began on."""
    kept: bool = False
    """The base already holds the story's work, so a check that fails there fails for other stories too."""
    epoch: int = 0
    """Number of the coordinator's start that ordered it."""
    pool: str = ""
    """The workers that it needs; empty where any may take it."""
    trusted: bool = False
    """The verdict of the worker that runs the agent counts, so it gives one."""
    red: tuple[str, ...] = ()
    """Tests that the coordinator saw fail before any agent was started. A worker that sees others cannot judge alike."""
    ahead: Ahead | None = None
    """What was found out of the story's work before its turn."""

    @property
    def id(self) -> str:
        return self.step.id

    def known_by(self, key: str) -> Ahead | None:
        """Return the verdict that was given ahead, if it passed and all that it rests on is the same now."""
        return self.ahead if self.ahead and self.ahead.passed and self.ahead.key == key else None


def story_of(step: Step) -> str | None:
    """Return the story that a step is about; None where it is about the run."""
    return None if isinstance(step, VerifyRun | WriteBack | ExamineBase) else step.story
