"""The agent port: one attempt of a coding agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from santiago.contract.plan import Origin, Story
from santiago.contract.record import record
from santiago.contract.session import Artifact, SizeWishes

if TYPE_CHECKING:
    from santiago.contract.outcomes import AgentEnding
    from santiago.contract.ports.run import Stop


@record
class Drafting:
    """What an agent is asked for that plans the whole, not a story of it. The files lie in the packet's plan folder."""

    artifact: Artifact
    task: str
    """What a person wants; empty where the document says it."""
    document: str
    """Name of the file with the document that it all began with; empty where there is none."""
    plan: str
    """Name of the file with what stands so far; empty in the first turn from a sentence."""
    feedback: str
    """What a person says about that."""
    drafts: tuple[str, ...] = ()
    """Names of the files with the drafts that are to be merged; none for an agent that drafts by itself."""
    size: SizeWishes = SizeWishes()
    commands: tuple[str, ...] = ()
    """Checks that judge every story anyway."""


@record
class Packet:
    """Everything that one attempt's agent gets to know."""

    run_id: str
    story: Story
    attempt: int
    criteria: tuple[tuple[str, str], ...]
    """Id and text of each."""
    commands: tuple[str, ...]
    """The checks that will judge the work."""
    chunk_titles: tuple[str, ...]
    """The stories of the active chunk, this one included."""
    critiques: tuple[str, ...]
    """Of the attempts before, oldest first."""
    notes: tuple[str, ...]
    """Answers, hints and change requests, oldest first."""
    folder: str
    """The attempt's worktree."""
    plan_folder: str
    """Read-only: the active chunk and the full plan."""
    log: str
    """File that the agent's output goes to."""
    prompt_file: str
    timeout_ms: int
    budget_micro_usd: int | None = None
    """What is left of the run's money when the attempt begins; None where it is not limited."""
    budget_tokens: int | None = None
    tests_only: bool = False
    """The attempt only writes the story's tests."""
    tests_by: int = 0
    """Number of the attempt that wrote the story's tests, where that was done first."""
    test_files: tuple[str, ...] = ()
    """Where those tests are; for an attempt that is to write them, where the repository has others."""
    proposes: bool = False
    """The agent only writes a detailed plan of the story, and changes nothing."""
    detail_file: str = ""
    """Where it writes that plan; the backend says it when it starts the agent."""
    proposal: int = 0
    """Number of that plan among those of the story."""
    before: str = ""
    """The proposal before, for people to read, where it was sent back or is to be adjusted."""
    findings: tuple[str, ...] = ()
    """What santiago found wrong with that one."""
    detail: str = ""
    """The approved detailed plan, for people to read, that an attempt is to carry out."""
    detail_digest: str = ""
    """Of the approved plan as a document."""
    drafting: Drafting | None = None
    """The agent plans the whole; `story` then only names that, and `detail_file` is where it writes."""

    @property
    def readonly(self) -> bool:
        """Whether the agent only writes a file, and changes nothing."""
        return self.proposes or self.drafting is not None


def whole(title: str) -> Story:
    """Return the story that stands for all of a plan, for an agent that plans it."""
    return Story(
        id="PLAN", title=title, description="", requirements=(), criteria=(), depends_on=(), external_depends_on=(),
        chunk="", role="developer", profile=None, files=(), verify=(), priority=None, claimed_done=False,
        origin=Origin(id=None, line=0), provenance=(),
    )  # fmt: skip


class AgentBackend(Protocol):
    """Carries out one attempt in a fresh context.

    Returns only when nothing that it started is alive any more, however the agent ended. Never raises for what an agent
    does; what it did not finish, and why, is the ending's reason.
    """

    def render(self, packet: Packet) -> str:
        """Return the prompt; text from documents and from earlier output stands fenced, as data."""

    def attempt(self, packet: Packet, stop: Stop) -> AgentEnding:
        """Run the agent on its prompt file until it ends, its time is up, or it must stop."""
