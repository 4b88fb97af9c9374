"""Asking one agent of a planning turn, in a checkout that is thrown away, and checking its draft against the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from santiago.contract.ports.agent import Drafting, Packet, whole
from santiago.contract.reasons import Reason
from santiago.contract.record import record
from santiago.sessions import revising

if TYPE_CHECKING:
    from collections.abc import Mapping

    from santiago.contract.outcomes import AgentEnding
    from santiago.contract.ports.agent import AgentBackend
    from santiago.contract.ports.run import Stop
    from santiago.contract.ports.workspace import Workspace
    from santiago.contract.session import Artifact, DraftKind
    from santiago.sessions.revising import Ground


class DraftFiles(Protocol):
    """The files of drafts in a session's folder."""

    def paths_of(self, turn: int, agent: str, kind: DraftKind, start: int) -> tuple[str, str]:
        """Return the files for an agent's prompt and output."""

    def keep_prompt(self, turn: int, agent: str, kind: DraftKind, start: int, prompt: str) -> None:
        """Write the prompt."""

    def keep_draft(self, turn: int, agent: str, kind: DraftKind, artifact: Artifact, text: str) -> str:
        """Write what an agent drafted and return its digest."""


@record
class Errand:
    """What one agent is asked to do, as data."""

    turn: int
    kind: DraftKind
    agent: str
    start: int
    """How often it was asked in this turn, this time included."""
    number: int
    """How often any agent was asked in this session, this time included."""
    base: str
    drafting: Drafting
    findings: tuple[str, ...]
    notes: tuple[str, ...]
    timeout_ms: int

    @property
    def id(self) -> str:
        return f"{self.kind}/{self.turn}/{self.agent}"


@record
class Brought:
    """What the agent brought back."""

    errand: Errand
    ending: AgentEnding
    digest: str = ""
    """Digest of its draft, even if the draft cannot be used."""
    findings: tuple[str, ...] = ()
    reason: Reason | None = None


@record
class Asker:
    """Asks agents."""

    session_id: str
    agents: Mapping[str, AgentBackend]
    workspace: Workspace
    files: DraftFiles
    plan_folder: str

    def ask(self, errand: Errand, ground: Ground, stop: Stop) -> Brought:
        """Have an agent write a draft, and check it."""
        folder = self.workspace.checkout(errand.base, f"{errand.kind}-{errand.turn}-{errand.agent}")
        try:
            touched = self.workspace.watched(folder)
            ending = self._asked(errand, folder, stop)
            changed = touched()
        finally:
            self.workspace.discard(folder)
        return self._looked_at(errand, ground, ending, changed)

    def _asked(self, errand: Errand, folder: str, stop: Stop) -> AgentEnding:
        agent = self.agents[errand.agent]
        prompt_file, log = self.files.paths_of(errand.turn, errand.agent, errand.kind, errand.start)
        packet = Packet(
            run_id=self.session_id,
            story=whole("the whole plan"),
            attempt=errand.number,
            criteria=(),
            commands=(),
            chunk_titles=(),
            critiques=(),
            notes=errand.notes,
            folder=folder,
            plan_folder=self.plan_folder,
            log=log,
            prompt_file=prompt_file,
            timeout_ms=errand.timeout_ms,
            findings=errand.findings,
            drafting=errand.drafting,
        )
        self.files.keep_prompt(errand.turn, errand.agent, errand.kind, errand.start, agent.render(packet))
        return agent.attempt(packet, stop)

    def _looked_at(self, errand: Errand, ground: Ground, ending: AgentEnding, changed: tuple[str, ...]) -> Brought:
        if ending.question or ending.reason is not None:
            reason = Reason.AGENT_ASKED if ending.question else ending.reason
            return Brought(errand=errand, ending=ending, reason=reason)
        draft = revising.looked_through(ending.detail, ground)
        digest = ""
        if ending.detail:
            digest = self.files.keep_draft(errand.turn, errand.agent, errand.kind, ground.asked.artifact, ending.detail)
        thrown = (
            (f"files were changed in the checkout, and are thrown away: {', '.join(changed[:5])}",) if changed else ()
        )
        wrong = (*draft.findings, *thrown) if draft.plan is None else ()
        reason = Reason.PLAN_GENERATION_FAILED if draft.plan is None else None
        return Brought(errand=errand, ending=ending, digest=digest, findings=wrong, reason=reason)
