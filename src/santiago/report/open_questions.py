"""All open questions of a repository, of its runs and its planning sessions, and the words that answer each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from santiago.app.planning.planning_sessions import open_here
from santiago.report.asking import waiting
from santiago.report.page import Line, Page
from santiago.report.question import card, cards_of, question_lines
from santiago.report.session_review import as_data, review_of
from santiago.util.text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.report.question import Card
    from santiago.report.session_review import Review


MOST_LINES = 60
"""How many lines about a plan or about work are shown with its question."""


def open_page(name: str | None, session: str = "") -> Page:
    """Return the open questions of this repository, of one run or of one planning session."""
    reviews = [review_of(one) for one in open_here() if session in ("", one.session_id)] if name is None else []
    runs = [
        (run.run_id, card(run.plan, run.state, one, run.out_dir))
        for run, open_ones in (() if session else waiting(name))
        for one in open_ones
    ]
    return Page(lambda _: _lines(reviews, runs), lambda: _data(reviews, runs))


def _lines(reviews: list[Review], runs: list[tuple[str, Card]]) -> Iterator[Line]:
    if not runs and not reviews:
        yield Line("no question is open")
    for whose, one in [*((review.session_id, one) for review in reviews for one in cards_of(review)), *runs]:
        yield Line(f"{one.id}  {whose}  {harmless(one.title)}", "head")
        yield from question_lines(one, most=MOST_LINES)
        yield Line(f"  $ {one.command} …", verbatim=True)


def _data(reviews: list[Review], runs: list[tuple[str, Card]]) -> dict[str, Any]:
    questions = [
        {
            "run_id": run_id, "id": one.id, "kind": one.kind, "story": one.story or None, "text": one.text,
            "words": dict(one.words), "answer_command": one.command,
        }
        for run_id, one in runs
    ]  # fmt: skip
    questions += [{"session_id": one.session_id, **asked} for one in reviews for asked in as_data(one)["questions"]]
    return {"contract_version": 1, "questions": questions}
