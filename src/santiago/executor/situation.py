"""All that a decision depends on, and what a decision is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from santiago.contract.events import Fact
from santiago.contract.plan import Story
from santiago.contract.policy import RunInput
from santiago.contract.record import lean, record
from santiago.contract.state import RunState, StoryState
from santiago.contract.steps import Step


@record
class Cancel:
    """Stop a step that builds on voided work. Its attempt is voided too."""

    step: str


Act = Fact | Cancel | Step


@record
class Scope:
    """What this start may touch: chunks from one to another, or single stories."""

    chunks: frozenset[str] | None = None
    stories: frozenset[str] | None = None
    claims: Mapping[str, int] | None = None
    """Only for work from the board: how many counted attempts each claimed story may have. A story without a claim has none."""
    blocked: frozenset[str] = frozenset()
    """Only for work from the board: stories whose tickets are blocked."""

    @property
    def is_empty(self) -> bool:
        """Whether no story may begin."""
        return (self.stories is not None and not self.stories) or (self.claims is not None and not self.claims)

    def allows(self, story: StoryState) -> bool:
        if self.claims is not None and story.counted >= self.claims.get(story.id, 0):
            return False
        in_chunk = self.chunks is None or story.chunk in self.chunks
        return in_chunk and (self.stories is None or bool({story.id, story.parent} & self.stories))


@lean(kw_only=True)
class Situation:
    """All that a decision depends on."""

    state: RunState
    stories: dict[str, Story]
    """The plan's stories, by id."""
    run_input: RunInput
    scope: Scope
    flying: dict[str, Step]
    """Steps that are being carried out, by id."""
    capacity: int
    """How many more steps may begin."""
    now_ms: int
    """Execution time of the run up to now."""
    utc: str
    """The wall time, which decides when a wait for the service is over."""
    attended: bool = False
    """Whether somebody is there to answer questions. If not, an open question ends the run as blocked."""
    waited_ms: int = 0
    """Time of the current wait in which nothing was under way."""
    unclaimed_ms: int = 0
    """How long all that is under way has been waiting for a worker."""
    reserved: Mapping[str, int] = field(default_factory=dict)
    """Pool → its part of the capacity, which no story of another pool may take."""
    recovered: frozenset[str] = frozenset()
    """Running stories of an earlier start whose agent had ended: their work waits for a verdict."""
    landed: str | None = None
    """The story whose work an earlier start put on the branch without recording it."""
