"""The status of a run, in words and as data: its state, what needs a person, the other runs of its repository."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from santiago.app.changes import changes_of
from santiago.app.finding import never_started, target
from santiago.app.loading import Run, load, working
from santiago.artifacts import registry
from santiago.artifacts.names import DETAILS, PLAN, has_begun
from santiago.artifacts.run_locations import find_root
from santiago.contract import codec
from santiago.contract.answers import JUDGED, words_of
from santiago.contract.counting import count, few
from santiago.contract.errors import SantiagoError
from santiago.contract.phases import ENDED, PARKED, RunPhase, StoryPhase
from santiago.contract.plan import NOT_UNDERSTOOD
from santiago.contract.reasons import MEANINGS, Reason
from santiago.contract.views import run_status, run_step_state, selected, step_state, step_states, story_statuses
from santiago.executor.budget import Budget
from santiago.executor.recover import under_way
from santiago.executor.tally import Headline, headline, status_of, summary, sums, unproven, usage_of
from santiago.report.agent_activity import Doing
from santiago.report.asking import asked, put_off
from santiago.report.endings import ending_of, helping, is_the_agents
from santiago.report.failure import used_attempts
from santiago.report.remedies import listed
from santiago.report.story_status import explanation, found_ahead, lacking, named
from santiago.util.clock import SystemClock
from santiago.util.text import flat
from santiago.workspace.earlier_work import holds

if TYPE_CHECKING:
    from santiago.contract.result import StoryStatus
    from santiago.contract.state import ChunkState, Question, RunState, StoryState
    from santiago.contract.views import StoryStatus000

OTHERS = 5
"""How many other runs are named."""
STATUSES: tuple[StoryStatus, ...] = ("done", "failed", "blocked", "pending", "skipped")
_AT_REST = ("success", "failed", "blocked", "stopped")


def headline_of(run: Run) -> Headline:
    """Return the first line on a run as it is now."""
    word = word_of(run)
    if word == "planned":
        return Headline(word)
    return headline(run.plan, run.state, "" if word in _AT_REST else word)


def word_of(run: Run) -> str:
    """Return the run's state in a word that people use."""
    if run.worker is not None and run.begun:
        return "stopping" if run.state.stop_requested else "running"
    if not run.begun or run.state.phase is RunPhase.CREATED:
        return "planned"
    if run.state.phase is RunPhase.PAUSED:
        return "stopped"
    return str(run.state.phase) if run.state.phase in ENDED else "interrupted"


def counts_of(run: Run, chunk: ChunkState) -> dict[str, int]:
    """Return the number of a chunk's stories by status, and how many of the blocked ones are unproven. Substeps are not counted."""
    stories = [story for name in chunk.stories if not (story := run.state.stories[name]).parent]
    found = Counter(status_of(story) for story in stories)
    return {**{status: found[status] for status in STATUSES}, "unproven": sum(story.is_unproven for story in stories)}


def chunk_ms(run: Run, chunk: ChunkState, now: str = "") -> int:
    """Return the time spent on a chunk, up to `now`, without waiting for a service or a person."""
    history = run.history
    passed = history.chunk_ms.get(chunk.label, 0)
    if run.worker and history.chunk == chunk.label:
        since = max(0, run.used_ms(now or SystemClock().utc()) - run.state.used_ms)
        passed += since - sum(history.uncounted_ms.values())
    return max(0, passed)


def _used_up(run: Run, story: StoryState) -> str:
    """Return which budget a story has used up: its own, or the run's."""
    budget = Budget(run.run_input.limits, run.state)
    if run.history.limits.get(story.id) == "run_max_attempts":
        return f"the run used {run.state.counted} of {count(budget.run_attempts, 'attempt')}"
    return f"it used {used_attempts(budget, story)}"


def needs_of(run: Run) -> list[str]:
    """Return what only a person can do."""
    state, (unanswered, answered) = run.state, asked(run.state, run.out_dir)
    run_named = target(run.out_dir) if unanswered or answered else ""
    found = [
        f"{one.id}: {flat(one.text)}   (santiago answer{run_named} {one.id} {_shown(run.state, one)})"
        for one in unanswered
        if one.kind != "unproven"
    ]
    asked_of = {one.story for one in unanswered if one.kind == "unproven"}
    if names := [name for name in unproven(run.plan, state) if name in asked_of and not run.worker]:
        told = f"{named(names)} on the branch, not proven: no test fails without the work. Done all the same?"
        found.append(f'{told}   (santiago accept{run_named} --unproven --why "…")')
    found += [f"{one.id} is answered; `santiago resume{run_named}` takes it up" for one in answered if not run.worker]
    asking = {one.story for one in (*unanswered, *answered)}
    resting = [story for story in state.stories.values() if story.phase in PARKED and not story.skipped]
    parents = {story.parent for story in resting}  # for these, the substeps tell the reason
    for story in resting:
        if story.id in asking or story.id in parents:
            continue
        if story.reason == Reason.ATTEMPT_BUDGET_EXHAUSTED and story.phase is StoryPhase.FAILED:
            found.append(f"{story.id}: {_used_up(run, story)}")
        elif story.reason:
            found.append(f"{story.id} is {story.phase}: {_sentence(run, story)}{_help(run, story)}")
    takes_up = f"`santiago resume{target(run.out_dir)}`"
    if left := under_way(state) if state.engine and word_of(run) in ("interrupted", "stopped") else []:
        held = named([step.split("/")[1] for step in left])
        found.append(f"workers of {state.engine} may still be at work on {held}; {takes_up} takes up what they did")
    elif word_of(run) == "interrupted":
        found.append(f"nobody is working on it; it was interrupted, and {takes_up} continues it")
    return found


def _shown(state: RunState, question: Question) -> str:
    """Return the words that answer a question, as they are typed."""
    if question.kind == "agent":
        return '"YOUR ANSWER"'
    return "accept|refuse" if question.kind in JUDGED else "|".join(words_of(state, question))


def question_data(state: RunState, question: Question, run_named: str) -> dict[str, Any]:
    """Return an open question for programs. `run_named` is its run as a word of a command line."""
    return {
        "id": question.id, "kind": question.kind, "story": question.story, "round": question.round,
        "text": question.text, "asked_at": question.asked_at or None, "until": question.until or None,
        "words": list(words_of(state, question)), "answer_command": f"santiago answer{run_named} {question.id}",
    }  # fmt: skip


def _sentence(run: Run, story: StoryState) -> str:
    """Return why a story has stopped, with names if they are known."""
    if question := put_off(run.state, story):
        return f"{question.id} was deferred ({flat(question.answer or '')})."
    planned = run.story(story.id)
    names = lacking(planned, story) if planned else ""
    return f"it depends on {names}, outside the document." if names else MEANINGS[Reason(story.reason or "")].sentence


def _help(run: Run, story: StoryState) -> str:
    """Return what helps if that is known: of the agent's program, account or service, or as it was found then; else empty."""
    if not is_the_agents(story.reason):
        return f" {flat(story.remedy)}" if story.remedy else ""
    return f" {helping(story.reason, ending_of(run.out_dir, story.id, story.attempts))}"


def mending(state: RunState, out_dir: Path, name: str, ref: str) -> list[str] | None:
    """Return the next commands after a person's own work did not pass; None if it passed, or if it is not the latest."""
    story, run = state.stories[name], target(out_dir)
    if story.phase is not StoryPhase.READY or story.skipped or not story.attempts:
        return None
    looking = (f"santiago show{run} {name} --attempt {story.attempts}", "all of that attempt")
    return listed([looking, (f"santiago verify{run} {name} --from {quote(ref)}", "once it is mended")])


def others_of(out_dir: Path) -> tuple[list[tuple[str, str]], int]:
    """Return the newest other runs here that have begun, each with its state in a word, and the number of further ones."""
    root = find_root(Path.cwd())
    common = registry.common_git_dir(root) if root else None
    known = registry.runs(common) if common else []
    begun = (run for run in known if has_begun(run.out_dir) or not (run.out_dir / PLAN).is_file())
    others = [run for run in begun if run.out_dir != out_dir]
    return [(run.run_id, standing(run.out_dir)) for run in others[:OTHERS]], max(0, len(others) - OTHERS)


def planned_of(out_dir: Path | None = None) -> list[str]:
    """Return the other plans of this repository that were never started, newest first."""
    try:
        return [run.run_id for run in never_started() if run.out_dir != out_dir]
    except SantiagoError:
        return []


def planned_line(out_dir: Path | None = None) -> str:
    """Return one line on the other plans that were never started; empty if there are none."""
    names = planned_of(out_dir)
    begins = (
        f"   (`santiago resume {names[0]}` begins it)" if len(names) == 1 else "   (`santiago resume ID` begins one)"
    )
    return f"planned, never started: {few(names, OTHERS)}{begins}" if names else ""


def standing(out_dir: Path) -> str:
    """Return the state of a run in a word or two, even if it is damaged or missing."""
    if not (out_dir / PLAN).is_file():
        return "its folder is missing"
    if working(out_dir):
        return "running"
    try:
        return standing_of(load(out_dir))
    except SantiagoError:
        return "damaged"


def standing_of(run: Run) -> str:
    """Return the state of a run in a word or two."""
    word, found = word_of(run), summary(run.plan, run.state)
    weak = found.not_proven + found.unproven
    told = f"{word}, {weak} not proven" if weak else word
    return f"{told} (resumable)" if run.resumable and word != "running" else told


def document(run: Run) -> dict[str, Any]:
    """Return everything that is shown, for programs."""
    state = run.state
    others, more = others_of(run.out_dir)
    unanswered, _ = asked(state, run.out_dir)
    run_named = target(run.out_dir) if unanswered else ""
    return {
        "contract_version": 1,
        "run_id": run.run_id,
        "out_dir": str(run.out_dir),
        "state": word_of(run),
        "status": run_status(state.phase),
        "phase": str(state.phase),
        "reason": state.reason,
        "headline": str(headline_of(run)),
        "summary": codec.to_data(summary(run.plan, state)),
        "resumable": run.resumable,
        "worker": run.worker,
        "branch": state.branch,
        "head": state.head,
        "seq": state.seq,
        "last_event": run.history.last or None,
        "plan_unchanged": not run.begun or codec.digest(run.plan) == state.plan_digest,
        "agent": run.history.start.get("agent"),
        "usage": codec.to_data(usage_of(state)),
        "waiting": {"until": state.wait_until, "reason": run.history.wait.reason} if state.wait_until else None,
        "chunks": [
            {"label": chunk.label, "started": chunk.started, "seconds": chunk_ms(run, chunk) / 1000, **counts_of(run, chunk)}
            for chunk in state.chunks.values()
        ],
        "step_state": run_step_state(state, held=run.worker is not None),
        "stories": _stories(run),
        "not_planned": [codec.to_data(row) for row in run.plan.account if row.why == NOT_UNDERSTOOD],
        "questions": [question_data(run.state, one, run_named) for one in unanswered],
        "needs": needs_of(run),
        "changes": changes_of(run),
        "taken_over": is_taken_over(run),
        "others": [{"run_id": name, "state": word} for name, word in others],
        "more_others": more,
        "planned": planned_of(run.out_dir),
    }  # fmt: skip


def step_of(run: Run) -> str:
    """Return where a run that goes step by step stands, in the words of its workflow; empty for any other run."""
    if not run.run_input.policy.stepwise or not run.begun:
        return ""
    story = run.state.stories.get(selected(run.state) or "")
    now = step_word(run, story) if story else ""
    titled = f"{story.id} {flat(run.titles[story.id])}: {now}" if story and now else ""
    return "; ".join(filter(None, (run_step_state(run.state, held=run.worker is not None), titled)))


def step_word(run: Run, story: StoryState) -> str:
    """Return the state of a step in the words of its workflow; empty if the run does not go step by step."""
    return (run.run_input.policy.stepwise and step_state(run.state, story)) or ""


def is_taken_over(run: Run, here: Path | None = None) -> bool:
    """Tell whether the current commit contains a finished run's work: merged, squashed or cherry-picked."""
    head = run.state.head
    return bool(run.state.phase is RunPhase.SUCCESS and head and holds(here or Path.cwd(), "HEAD", head))


def _stories(run: Run) -> list[dict[str, Any]]:
    """Return all stories, each followed by its substeps."""
    states, steps, statuses = run.state.stories, step_states(run.state), story_statuses(run.state)
    ahead = run.ahead
    return [
        {
            "id": story.id, "title": planned.title, "phase": str(story.phase),
            "status": status_in(story, statuses[story.id]), "step_state": steps[story.id], "parent": story.parent, "deferred": story.deferred,
            "detail": detail_data(story), "attempts": story.counted, "reason": story.reason, "proof": story.proof, "flaky": list(story.flaky),
            "kept": story.kept or None, "commit": story.commit, "ahead": found_ahead(story, ahead),
            "waits": [] if story.phase is StoryPhase.DONE else explanation(run.state, planned, run.run_input),
            **codec.to_data(dict(sums(story))), "doing": _doing(run, story),
        }
        for planned in run.stories
        for story in (states[planned.id],)
    ]  # fmt: skip


def status_in(story: StoryState, now: StoryStatus000) -> str:
    """Return the status of a story for programs: how it ended, or else whether it is under way."""
    ended = status_of(story)
    return now if ended == "pending" else ended


def detail_data(story: StoryState) -> dict[str, Any] | None:
    """Return what the log tells about a story's latest detailed plan; None if there is none."""
    detail = story.detail
    if detail is None:
        return None
    file = f"{DETAILS}/{story.id}/{detail.revision}.json" if detail.digest else None
    return {
        "revision": detail.revision, "approved": detail.approved, "digest": detail.digest or None,
        "findings": list(detail.findings), "file": file,
    }  # fmt: skip


def _doing(run: Run, story: StoryState) -> dict[str, Any] | None:
    """Return what the agent of a story does now; None if no agent works on it."""
    if run.worker is None or story.phase is not StoryPhase.RUNNING:
        return None
    following = Doing(run.out_dir, run.history.start.get("agent", ""), once=True)
    return following.data(story.id, story.attempts)
