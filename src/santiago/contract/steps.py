"""Steps: what `decide` wants done next. A step is data with a stable id; it can be carried out anywhere."""

from __future__ import annotations

from santiago.contract.record import record


@record
class Attempt:
    """Have an agent try a story, and judge what it left."""

    story: str
    number: int
    base: tuple[str, ...]
    """The run's head, then the verified commits of what it waits for, in plan order."""
    timeout_ms: int
    tests: bool = False
    """It only writes the story's tests; they are to fail for want of the work."""

    @property
    def id(self) -> str:
        return f"attempt/{self.story}/{self.number}"


@record
class Adopt:
    """Judge an attempt of an earlier start whose agent had ended: its ref is verified again before it is believed."""

    story: str
    number: int
    tests: bool = False

    @property
    def id(self) -> str:
        return f"adopt/{self.story}/{self.number}"


@record
class JudgeClaim:
    """Run the checks of a story that the document claims done, on the base, without an attempt."""

    story: str

    @property
    def id(self) -> str:
        return f"claim/{self.story}"


@record
class Integrate:
    """Apply a verified attempt to the run's branch."""

    story: str
    attempt: int
    commit: str

    @property
    def id(self) -> str:
        return f"integrate/{self.story}/{self.attempt}"


@record
class ExamineBase:
    """Run every check once on the base, before any agent is started."""

    commit: str

    @property
    def id(self) -> str:
        return f"examine/{self.commit[:12]}"


@record
class VerifyRun:
    """Run the checks of the whole run on the final head."""

    round: int

    @property
    def id(self) -> str:
        return f"verify-run/{self.round}"


Step = ExamineBase | Attempt | Adopt | JudgeClaim | Integrate | VerifyRun


def story_of(step: Step) -> str | None:
    """Return the story that a step is about; None where it is about the run."""
    return None if isinstance(step, VerifyRun | ExamineBase) else step.story
