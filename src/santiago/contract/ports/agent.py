"""The agent port: one attempt of a coding agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from santiago.contract.plan import AccountRow, Origin, Story
from santiago.contract.record import record
from santiago.contract.session import Artifact, SizeWishes

if TYPE_CHECKING:
    from santiago.contract.outcomes import AgentEnding
    from santiago.contract.ports.run import Stop


@record
class Drafting:
    """What an agent gets that drafts a whole plan instead of working on a story. The files lie in the packet's plan folder."""

    artifact: Artifact
    task: str
    """What a person wants; empty where the document says it."""
    document: str
    """Name of the file with the document that the session began with; empty where there is none."""
    plan: str
    """Name of the file with the plan so far; empty in the first turn of a session that began with a sentence."""
    feedback: str
    """What a person said about the plan so far."""
    drafts: tuple[str, ...] = ()
    """Names of the files with the drafts that are to be merged; none for an agent that drafts by itself."""
    size: SizeWishes = SizeWishes()
    commands: tuple[str, ...] = ()
    """Checks that every story has in any case."""


@record
class Packet:
    """Everything that the agent of one attempt is told."""

    run_id: str
    story: Story
    attempt: int
    criteria: tuple[tuple[str, str], ...]
    """Each requirement's id and text."""
    commands: tuple[str, ...]
    """The checks that will judge the work."""
    chunk_titles: tuple[str, ...]
    """The stories of the active chunk, this one included."""
    critiques: tuple[str, ...]
    """The critiques of the earlier attempts, oldest first."""
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
    shows: bool = False
    """The folder holds work that passes its checks; the agent is asked only for a test that shows it."""
    tests_only: bool = False
    """The attempt only writes the story's tests."""
    tests_by: int = 0
    """Number of the attempt that wrote the story's tests, where that was done first."""
    test_files: tuple[str, ...] = ()
    """The files of those tests. For an attempt that is to write them: the files of the tests that the repository has."""
    proposes: bool = False
    """The agent only writes a detailed plan of the story, and changes nothing."""
    detail_file: str = ""
    """The file that the agent writes that plan to. The backend sets it when it starts the agent."""
    proposal: int = 0
    """Number of that plan among those of the story."""
    before: str = ""
    """The previous proposal as readable text, where it was sent back or is to be adjusted."""
    findings: tuple[str, ...] = ()
    """What santiago found wrong with the previous proposal."""
    detail: str = ""
    """The approved detailed plan that the attempt carries out, as readable text."""
    detail_digest: str = ""
    """Digest of the approved detailed plan."""
    context: tuple[AccountRow, ...] = ()
    """The parts of the document that are context of its stories, with as much of their text as there is room for."""
    drafting: Drafting | None = None
    """Set where the agent drafts a whole plan. `story` then only holds its title, and `detail_file` is what it writes."""

    @property
    def readonly(self) -> bool:
        """Whether the agent only writes a file, and changes nothing."""
        return self.proposes or self.drafting is not None


def whole(title: str) -> Story:
    """Return a story that stands for a whole plan, for the packet of an agent that drafts it."""
    return Story(
        id="PLAN", title=title, description="", requirements=(), criteria=(), depends_on=(), external_depends_on=(),
        chunk="", role="developer", profile=None, files=(), verify=(), priority=None, claimed_done=False,
        origin=Origin(id=None, line=0), provenance=(),
    )  # fmt: skip


class AgentBackend(Protocol):
    """Carries out one attempt in a fresh context.

    Returns only when every process that it started has ended. Never raises for what an agent does: the ending's reason
    tells what went wrong.
    """

    def render(self, packet: Packet) -> str:
        """Return the prompt. Text from documents and from earlier output is marked in it as data."""

    def attempt(self, packet: Packet, stop: Stop) -> AgentEnding:
        """Run the agent on its prompt file until it ends, its time is up, or it must stop."""
