"""Why the agent's program, account or service refused: its own words, and what helps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app.paths import near
from santiago.artifacts.attempts import AGENT_LOG
from santiago.artifacts.names import attempt_folder
from santiago.contract.moments import ms_of, text_of
from santiago.contract.phases import RunPhase
from santiago.contract.reasons import MEANINGS, Reason
from santiago.report import spending
from santiago.report.endings import Ending, ending_of, helping, is_the_agents
from santiago.report.measures import limit, span
from santiago.util.clock import moment

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.contract.policy import RunInput
    from santiago.contract.state import RunState

TITLE = "The agent's service refuses requests for longer than the run may wait"


def of_story(state: RunState, run_input: RunInput, out_dir: Path, name: str) -> list[str]:
    """Return why the agent could not work on a story; empty if the story's own work failed."""
    story = state.stories[name]
    reason = story.reason or ""
    if not is_the_agents(reason):
        return []
    if reason == Reason.USAGE_UNKNOWN:  # the agent's words have nothing to do with it
        used = ", ".join(spending.of_run(state, run_input.limits))
        return [f"used       {used}", f"help       {helping(reason, Ending())}"]
    ending = ending_of(out_dir, name, story.attempts) if story.attempts else Ending()
    lines = [f"{'it said' if at == 0 else '':10} {text}" for at, text in enumerate(ending.words)]
    lines += [f"denied     {ending.denied}"] if ending.denied else []
    lines += [f"help       {helping(reason, ending)}", "spent      no attempt; this one does not count"]
    if story.attempts:
        lines.append(f"log        {near(out_dir / attempt_folder(name, story.attempts) / AGENT_LOG)}")
    return lines


def of_rest(state: RunState, run_input: RunInput, out_dir: Path) -> list[str]:
    """Return why a run paused by itself: the service refuses, and the run may not wait any longer."""
    reason, refusal = state.reason, state.refusal
    if state.phase is not RunPhase.PAUSED or refusal is None or not is_the_agents(reason):
        return []
    bound = f"the run may wait {limit(int(run_input.limits.wait_max_minutes))} (wait_max_minutes)"
    lasts = f"waited     {span(state.wait_ms)} in vain; {bound}"
    if refusal.ms:
        over = moment(text_of(ms_of(refusal.at) + refusal.ms), refusal.at)
        lasts = f"lasts      {span(refusal.ms)}, until {over}; {bound}"
    why = f"why        {reason}: {MEANINGS[refusal.reason].sentence}"
    return [why, lasts, *of_story(state, run_input, out_dir, refusal.story)]
