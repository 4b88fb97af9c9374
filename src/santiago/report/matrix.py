"""What shows each criterion of a plan: the test, what it did without the work and with it, and how strong that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from santiago.contract.outcomes import Criterion
from santiago.executor.tally import WORDS, criteria_of, status_of, strength_of
from santiago.report.marks import UNPROVEN, Mark, mark

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.app.loading import Run
    from santiago.contract.plan import Story

NO_TEST = "no test was named"
_SHOWN, _SHOWS_NOTHING = Mark("✓", "shown", "good"), Mark("?", "shows nothing", "warn")


def matrix(run: Run) -> list[dict[str, Any]]:
    """Return a row for each criterion of each story, in plan order."""
    texts = run.plan.criteria
    return [row for planned in run.plan.stories for row in rows_of_story(run, planned, texts)]


def rows_of_story(run: Run, planned: Story, texts: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of one story; `texts` has the criteria of the plan."""
    story = run.state.stories[planned.id]
    shown = {row.id: row for row in criteria_of(story)}
    is_done = status_of(story) == "done"
    strength = strength_of(planned, story) if is_done else None
    for name in planned.criteria:
        row = shown.get(name, Criterion(id=name))
        if not is_done:
            look = UNPROVEN if story.is_unproven else mark(story, at_rest=run.worker is None)
        elif strength == "shown":
            look = _SHOWN if row.is_shown else _SHOWS_NOTHING if row.test else Mark("-", NO_TEST, "warn")
        else:  # the story's own work has no test that shows it, whatever test its agent named
            look = Mark("-", WORDS[strength or "not_proven"], "warn")
        yield {
            "story": planned.id, "criterion": planned.name_of(name), "text": texts.get(name, ""), "test": row.test,
            "before": row.before, "after": row.after, "proof": story.proof if look is _SHOWN else None, "mark": look._asdict(),
        }  # fmt: skip
