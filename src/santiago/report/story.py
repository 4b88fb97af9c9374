"""One story as data: its attempts, and one of them with its evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from santiago.app.substeps import LARGEST
from santiago.artifacts.details import DETAILS
from santiago.artifacts.files import read_bytes
from santiago.contract import codec
from santiago.contract.checks import commands_of
from santiago.contract.errors import SantiagoError
from santiago.contract.views import step_state, story_status
from santiago.executor.tally import criteria_of, sums
from santiago.report.agent_activity import Doing, activity_data
from santiago.report.endings import ending_of, helping
from santiago.report.evidence import AttemptEvidence
from santiago.report.run_status import detail_data, status_in
from santiago.report.story_status import explanation

if TYPE_CHECKING:
    from santiago.app.history import AttemptStory
    from santiago.app.loading import Run
    from santiago.contract.plan import Story


def document(run: Run, planned: Story, chosen: AttemptStory | None) -> dict[str, Any]:
    """Return all attempts, and the chosen one with its evidence, for programs."""
    story = run.state.stories[planned.id]
    return {
        "contract_version": 1,
        "run_id": run.run_id,
        "id": planned.id,
        "title": planned.title,
        "phase": str(story.phase),
        "status": status_in(story, story_status(run.state, story)),
        "reason": story.reason,
        "proof": story.proof,
        "flaky": list(story.flaky),
        "excuse": story.unshown.excuse or None if story.unshown else None,
        "criteria": [codec.to_data(row) for row in criteria_of(story)],
        "step_state": step_state(run.state, story),
        "parent": story.parent,
        "deferred": story.deferred,
        "detail": {**detail, "text": detail_text(run, planned.id)} if (detail := detail_data(story)) else None,
        "why": explanation(run.state, planned, run.run_input),
        "depends_on": list(planned.depends_on),
        "checks": list(commands_of(planned, run.run_input)),
        "usage": codec.to_data(dict(sums(story))),
        "attempts": [_attempt_data(run, planned, one) for one in run.history.of(planned.id)],
        "shown": _evidence_data(run, planned, chosen) if chosen else None,
    }


def detail_text(run: Run, name: str) -> str:
    """Return a story's latest detailed plan as text; for a substep, only its part. It is untrusted text."""
    story = run.state.stories[name]
    if story.parent:
        planned = run.story(name)
        return planned.description if planned else ""
    if story.detail is None:
        return ""
    try:
        content = read_bytes(run.out_dir / DETAILS / name / f"{story.detail.revision}.md", LARGEST)
    except SantiagoError:
        return ""
    return content.decode("utf-8", "replace")


def _attempt_data(run: Run, planned: Story, one: AttemptStory) -> dict[str, Any]:
    stats = AttemptEvidence(run.out_dir, planned.id, one.number).stats()
    return {
        "number": one.number, "status": one.status, "reason": one.reason or None, "proof": one.proof or None, "commit": one.commit or None,
        "started": one.started, "ended": one.ended or None, "agent_seconds": one.agent_ms / 1000, "verify_seconds": one.verify_ms / 1000,
        "agent": one.agent or None, "writes_tests": one.writes_tests, "own_work": one.own_work or None, "pruned": one.pruned, "tokens": one.tokens,
        "cost_usd": one.cost / 1e6 if one.cost is not None else None, "files": [file._asdict() for file in stats],
    }  # fmt: skip


def _evidence_data(run: Run, planned: Story, one: AttemptStory) -> dict[str, Any]:
    evidence = AttemptEvidence(run.out_dir, planned.id, one.number)
    following = Doing(run.out_dir, one.agent, once=True)
    ending = ending_of(run.out_dir, planned.id, one.number)
    return {
        "number": one.number,
        "folder": str(evidence.folder),
        "activity": activity_data(following.reading(planned.id, one.number), following.words(planned.id, one.number)),
        "ending": {**ending._asdict(), "help": helping(one.reason or None, ending)} if ending.there else None,
        "results": [check._asdict() for check in evidence.checks()],
        "critique": evidence.critique(),
        "patch": evidence.patch(),
    }
