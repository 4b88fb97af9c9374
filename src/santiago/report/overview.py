"""A repository at a glance: what of its runs and plans needs a person, and how far each of them is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from santiago.executor.budget import Budget
from santiago.executor.tally import summary
from santiago.report import spending
from santiago.report.asking import asked
from santiago.report.marks import RUNS
from santiago.report.measures import ago, clock, limit
from santiago.report.question import cards_of
from santiago.report.run_status import needs_of, standing_of, word_of
from santiago.report.session_review import TONES
from santiago.util.text import flat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.app.loading import Run
    from santiago.report.following_session import FollowingSession

Row = dict[str, Any]


def need(text: str, about: str, age: str, to: str, command: str = "") -> Row:
    """Return one thing that needs a person; `to` is the address of its page, `command` what does it on a terminal."""
    return {"text": text, "about": about, "age": age, "to": to, "command": command}


def needs(run: Run, now: str, *, is_newest: bool) -> Iterator[Row]:
    """Yield what of a run needs a person: its questions; of the newest run of a document also what else is in its way."""
    open_ones, at = asked(run.state, run.out_dir)[0], f"runs/{run.run_id}"
    for one in open_ones:
        if one.kind != "unproven":
            about = " ".join(filter(None, (one.id, run.run_id)))
            yield need(flat(one.text), about, _age(one.asked_at, now), f"{at}/questions/{quote(one.id)}")
    told = {f"{one.id}: {flat(one.text)}" for one in open_ones}
    for text in needs_of(run) if is_newest else ():
        said, _, command = text.partition("   (")
        if said not in told:
            yield need(said.replace("`", ""), run.run_id, _age(run.history.last, now), at, command.removesuffix(")"))


def run_row(run: Run, now: str) -> Row:
    """Return how far a run is, what it used, and when something happened last."""
    found, budget = summary(run.plan, run.state), Budget(run.run_input.limits, run.state)
    figures = {
        "Stories": f"{found.completed}/{len(run.plan.stories)}", "Attempts": f"{run.state.counted} of {budget.run_attempts}",
        "Time": f"{clock(run.used_ms(now))} of {limit(budget.run_ms)}",
        "Used": ", ".join(spending.of_run(run.state, run.run_input.limits, brief=True)), "Last event": _age(run.history.last, now),
    }  # fmt: skip
    return {
        "id": run.run_id, "to": f"runs/{run.run_id}", "title": flat(run.plan.title), "word": standing_of(run), "tone": RUNS.get(word_of(run), ""),
        "done": found.completed, "of": len(run.plan.stories), "figures": figures,
        "group": "running" if run.worker else "finished" if run.begun else "planned",
    }  # fmt: skip


def damaged(name: str, message: str, command: str) -> Row:
    """Return a run or a plan that cannot be read."""
    told = {
        "id": name,
        "to": "",
        "title": name,
        "word": "damaged",
        "tone": "bad",
        "group": "finished",
        "of": 0,
        "figures": {},
    }
    return {**told, "told": message, "command": command}


def plan_asks(following: FollowingSession, now: str) -> Iterator[Row]:
    """Yield what a planning session asks a person, where no answer was left yet."""
    planning, left = following.planning, following.letters
    for one in cards_of(following.review):
        if one.id not in left:
            asked_at = planning.state.questions[one.id].asked_at
            yield need(
                flat(one.text).replace("`", ""),
                f"plan {planning.session_id}",
                _age(asked_at, now),
                f"plans/{planning.session_id}",
            )


def plan_row(following: FollowingSession, now: str) -> Row:
    """Return how far a plan is."""
    review, at = following.review, following.planning.state.at
    figures = {"Revision": str(review.revision or "none yet"), "Plan": ", ".join(review.counts()), "Used": review.spent}
    return {
        "id": review.session_id, "to": f"plans/{review.session_id}", "title": flat(review.title)[:200], "word": review.state,
        "tone": TONES.get(review.state, ""), "of": 0, "figures": {**figures, "Last event": _age(at, now)}, "group": "plans",
    }  # fmt: skip


def _age(utc: str, now: str) -> str:
    return ago(utc, now) if utc else ""
