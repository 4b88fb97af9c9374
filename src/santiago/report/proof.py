"""What people are told about stories that no test shows: those that a person must decide on, and those that stand on somebody's word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.counting import count
from santiago.contract.outcomes import Proof
from santiago.executor.messages import flaky
from santiago.executor.tally import WORDS, criteria_of, of_strength, status_of, unproven
from santiago.report.evidence import AttemptEvidence
from santiago.util.text import fit, flat, width

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.app.loading import History
    from santiago.contract.outcomes import Criterion
    from santiago.contract.plan import Plan
    from santiago.contract.state import RunState, StoryState
    from santiago.executor.tally import Strength

MOST = 12
"""How many stories or criteria are listed."""
TITLE = 40
FILES = 2
"""How many changed files are named. More are counted."""
PROOFS = {
    Proof.PROVED: "a test that was there before failed without the work, and passes with it.",
    Proof.OWN_TESTS: "a test that came with the work fails without it, and passes with it.",
    Proof.ATTESTED: "a person accepted the work.",
    Proof.REGRESSION: "nothing broke; no test fails without the work.",
    Proof.CLAIMED: "the document says that it is done, or it was there before any work; its checks pass.",
}
"""What each word behind a story means, for readers who do not know santiago."""
_WEAK: dict[Strength, str] = {
    "not_proven": "no test fails without their work",
    "claimed": "the document says so, or they were there before any work",
    "prose": "no test is asked for",
}
UNPROVEN = "These are on the branch, but no test fails without their work:"


def unproven_lines(plan: Plan, state: RunState, out_dir: Path) -> list[str]:
    """Return a row for each story that a person must decide on: what it changed, why no test came with it, where to look."""
    names = unproven(plan, state)
    titles = {story.id: flat(story.title) for story in plan.stories}
    size, room = max(map(len, names), default=0), min(TITLE, max((width(titles[name]) for name in names), default=0))
    rows = []
    for name in names[:MOST]:
        story = state.stories[name]
        parts = [changed(story, out_dir), excuse(story, out_dir), f"git show {story.integrated[:12]}"]
        rows.append(f"  {name:{size}}  {fit(titles[name], room)}  {'   '.join(filter(None, parts))}")
    more = len(names) - MOST
    return [UNPROVEN, *rows, *([f"  … and {more} more"] if more > 0 else [])] if rows else []


def changed(story: StoryState, out_dir: Path) -> str:
    """Return what the work that is on the branch changed; empty if that is not known."""
    stats = AttemptEvidence(out_dir, story.id, story.unshown.attempt).stats() if story.unshown else []
    names = ", ".join(file.path for file in stats) if len(stats) <= FILES else count(len(stats), "file")
    added, removed = sum(file.added for file in stats), sum(file.removed for file in stats)
    return f"+{added} -{removed} in {names}" if stats else ""


def excuse(story: StoryState, out_dir: Path) -> str:
    """Return why no agent was asked for a test, and whether checks fail as they did before; empty if there is nothing to say."""
    if story.unshown is None:
        return ""
    checks = AttemptEvidence(out_dir, story.id, story.unshown.attempt).checks()
    red = [flat(check.command) for check in checks if check.verdict == "inherited"]
    failing = [f"fails as before: {', '.join(red)}"] if red else []
    return "; ".join([*([flat(story.unshown.excuse)] if story.unshown.excuse else []), *failing])


def on_word_lines(plan: Plan, state: RunState, history: History) -> list[str]:
    """Return which finished stories stand on less than a test, and on whose word, as the first line counts them."""
    told = [
        f"{WORDS[strength]}: {_listed(names)}  ({why})"
        for strength, why in _WEAK.items()
        if (names := of_strength(plan, state, strength))
    ]
    attested = attested_by(plan, state, history)
    return [*told, f"attested: {'; '.join(attested)}"] if attested else told


def flaky_lines(plan: Plan, state: RunState) -> list[str]:
    """Return a line for each story on whose work tests failed once and passed when they ran again."""
    return [f"{one.id} {flat(text)}" for one in plan.stories if (text := flaky(state.stories[one.id].flaky))][:MOST]


def attested_by(plan: Plan, state: RunState, history: History) -> list[str]:
    """Return which finished stories people attested, by person and reason."""
    found: dict[str, list[str]] = {}
    for name in of_strength(plan, state, "attested"):
        said = history.attested.get(name)
        why = f": {flat(said.why)}" if said and said.why else ""
        found.setdefault(f" by {flat(said.actor)}{why}" if said else "", []).append(name)
    return [f"{_listed(names)}{word}" for word, names in found.items()]


def criteria_line(plan: Plan, state: RunState) -> list[str]:
    """Return which criteria of finished stories no named test shows."""
    pairs = [(one, state.stories[one.id]) for one in plan.stories]
    done = [(planned, story) for planned, story in pairs if status_of(story) == "done"]
    lacking = [flat(one.name_of(row.id)) for one, story in done for row in criteria_of(story) if not row.is_shown]
    return [f"no named test shows these criteria: {_listed(lacking)}"] if lacking else []


def shown_by(row: Criterion) -> str:
    """Return which test shows a criterion, and whether it does."""
    if not row.test:
        return "no test was named for it"
    if row.before == row.after == "passed":
        return f"{flat(row.test)}: passed before too: shows nothing"
    return f"{flat(row.test)}: {row.before} without the work, {row.after} with it"


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:MOST])}{' …' if len(names) > MOST else ''}"
