"""`santiago answer` without arguments: the open questions of this repository, and the words that answer each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from santiago.app.planning.planning_sessions import open_here
from santiago.cli.view.terminal import paint, say
from santiago.report.asking import waiting
from santiago.report.question import card
from santiago.report.session_review import as_data, review_of
from santiago.util.text import count, harmless

if TYPE_CHECKING:
    from santiago.report.question import Card
    from santiago.report.session_review import Review


MOST_LINES = 60
"""How many lines about a plan or about work are shown with its question."""


def show(name: str | None, *, as_json: bool) -> None:
    """Print the open questions of all runs of this repository, or of one."""
    found = [
        (run, [card(run.plan, run.state, one, run.out_dir) for one in open_ones]) for run, open_ones in waiting(name)
    ]
    if as_json:
        rows = [{"run_id": run.run_id, **_data(one)} for run, cards in found for one in cards]
        for session in open_here() if name is None else ():
            data = as_data(review_of(session))
            rows += [{"session_id": session.session_id, **one} for one in data["questions"]]
        click.echo(json.dumps({"contract_version": 1, "questions": rows}, indent=2, ensure_ascii=False))
        return
    planning = open_here() if name is None else []
    if not found and not planning:
        say("no question is open")
    for session in planning:
        _say_session(review_of(session))
    for run, cards in found:
        for one in cards:
            _say(run.run_id, one)


def _say(run_id: str, one: Card) -> None:
    say(f"{paint(one.id, 'head', stderr=False)}  {run_id}  {harmless(one.title)}")
    for line in one.lines[:MOST_LINES]:
        say(f"  {harmless(line)}")
    if len(one.lines) > MOST_LINES:
        say(f"  … and {count(len(one.lines) - MOST_LINES, 'more line')}: `santiago show {one.story}`")
    for line in filter(None, harmless(one.text).splitlines()):
        say(f"  {line}")
    for word, means in one.words:
        say(f"    {word:<9} {means}")
    say(f"  $ {one.command} …", verbatim=True)


def _say_session(review: Review) -> None:
    """Print what a planning session asks."""
    if review.question:
        counts = f"{count(len(review.plan.stories), 'story', 'stories')}" if review.plan else ""
        say(f"{paint(review.question, 'head', stderr=False)}  {review.session_id}  {harmless(review.title[:80])}")
        say(f"  Is revision {review.revision} the plan? {counts}; `santiago review {review.session_id}` shows it")
        for word, means in review.words:
            say(f"    {word:<9} {means}")
        say(f"  $ santiago answer {review.session_id} {review.question} …", verbatim=True)
    for name, text in review.others:
        say(f"{paint(name, 'head', stderr=False)}  {review.session_id}  {harmless(review.title[:80])}")
        for line in filter(None, harmless(text).splitlines()):
            say(f"  {line}")
        say(f'  $ santiago answer {review.session_id} {name} "YOUR ANSWER"', verbatim=True)


def _data(one: Card) -> dict[str, Any]:
    return {
        "id": one.id, "kind": one.kind, "story": one.story or None, "text": one.text,
        "words": dict(one.words), "answer_command": one.command,
    }  # fmt: skip
