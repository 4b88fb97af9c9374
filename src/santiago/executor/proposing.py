"""Having an agent write the detailed plan of a story, in a checkout that is thrown away, and looking it through."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from santiago.contract.outcomes import ProposalOutcome
from santiago.contract.reasons import Reason
from santiago.executor import detailing

if TYPE_CHECKING:
    from collections.abc import Callable

    from santiago.contract.outcomes import AgentEnding
    from santiago.contract.plan import Detail, Story
    from santiago.contract.ports.agent import AgentBackend, Packet
    from santiago.contract.ports.artifacts import DetailFiles
    from santiago.contract.ports.judge import Judge
    from santiago.contract.ports.run import Clock, Stop
    from santiago.contract.ports.workspace import Workspace
    from santiago.contract.record import record
    from santiago.contract.steps import Order, Propose
else:
    from santiago.contract.record import record


@record
class Proposer:
    """Carries out the order for a detailed plan."""

    workspace: Workspace
    agent: AgentBackend
    judge: Judge
    details: DetailFiles
    clock: Clock
    packet: Callable[[Story, Order, str], Packet]
    """Makes the packet for a story and a folder: what every agent is told."""
    commands: Callable[[Story], tuple[str, ...]]
    """The checks that a story has already."""

    def propose(self, step: Propose, order: Order, story: Story, stop: Stop) -> ProposalOutcome:
        folder = self.workspace.checkout(order.head, f"{step.story}-proposal-{step.number}")
        try:
            touched = self.workspace.watched(folder)
            ending = self._asked(step, order, story, folder, stop)
            changed = touched()
        finally:
            self.workspace.discard(folder)
        blank = ProposalOutcome(step=step.id, story=step.story, number=step.number, ending=ending, agent_ms=ending.ms)
        if ending.reason is Reason.INTERRUPTED or stop.soon():
            return replace(blank, stopped=True)
        began = self.clock.monotonic_ms()
        detail, findings = self._looked_through(ending, order, story, changed, stop)
        return self._kept(replace(blank, verify_ms=self.clock.monotonic_ms() - began), story, detail, findings)

    def _asked(self, step: Propose, order: Order, story: Story, folder: str, stop: Stop) -> AgentEnding:
        before = self.details.get(order.details[0]) if order.details else None
        packet = replace(
            self.packet(story, order, folder),
            log=self.details.log_path(step.story, step.number),
            prompt_file=self.details.prompt_path(step.story, step.number),
            timeout_ms=step.timeout_ms,
            proposes=True,
            proposal=step.number,
            before=detailing.markdown(story, before) if before else "",
            findings=order.findings,
        )
        self.details.keep_prompt(step.story, step.number, self.agent.render(packet))
        began = self.clock.monotonic_ms()
        ending = self.agent.attempt(packet, stop)
        return replace(ending, ms=ending.ms or self.clock.monotonic_ms() - began)

    def _looked_through(
        self, ending: AgentEnding, order: Order, story: Story, changed: tuple[str, ...], stop: Stop
    ) -> tuple[Detail | None, list[str]]:
        """Return the plan and all that is wrong with it, including commands that cannot run here."""
        if ending.reason is not None:
            words = ending.message.strip()[-300:]
            return None, [f"the agent ended without a plan ({ending.reason}){': ' + words if words else ''}"]
        detail, found = detailing.read(ending.detail)
        if detail is None:
            return None, found
        files = self.workspace.files(order.head)
        found += detailing.findings(detail, story, files=files, commands=self.commands(story), changed=changed)
        if (own := detailing.commands(detail)) and not found:
            seen = self.judge.examine(order.head, [replace(story, verify=own)], stop)
            if seen is not None and seen.reason is not None:
                found.append(f"checks: {seen.message}")
        return detail, found

    def _kept(
        self, blank: ProposalOutcome, story: Story, detail: Detail | None, findings: list[str]
    ) -> ProposalOutcome:
        text = (
            detailing.markdown(story, detail, findings)
            if detail
            else "\n".join(("# No detailed plan", "", *findings, ""))
        )
        digest, files = self.details.keep(blank.story, blank.number, detail, text)
        commands = detailing.commands(detail) if detail else ()
        return replace(
            blank,
            digest=digest,
            files=files,
            findings=tuple(findings),
            lacks=detailing.lacks(detail, story) if detail else "",
            substeps=detailing.substep_ids(story.id, detail) if detail else (),
            commands=tuple(sha256(command.encode()).hexdigest() for command in commands),
        )
