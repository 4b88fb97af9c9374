"""What a model can do with `answer`: it can have a person's text left for a run. It approves nothing, whatever its client says."""

import asyncio
from pathlib import Path

import pytest

from santiago.artifacts.inbox import Inbox
from santiago.contract.answers import CONSENT, KINDS
from santiago.contract.events import EventKind
from tests.mcp.asking import ASKED, MODES, Asked, Person, connected, contents, made
from tests.tui.made import RUN, document
from tests.tui.made_session import SESSION, MadeSession

HOSTILE = sorted({*CONSENT, *(word for words in KINDS.values() for word in words), "OK.", "Aprove", "  ", "Yes!!"})
TEXTS = {"detail": "adjust", "result": "change", "agent": "adjust", "plan": "adjust"}
"""Kinds of questions that take text → the word that is recorded."""
OF_RUN = {f"S{number}-{kind}-1": kind for number, kind in enumerate(ASKED, 1)}
OF_SESSION = {"plan-1": "plan", "agent-1": "agent"}
"""Questions → their kinds."""


@pytest.mark.parametrize("mode", MODES)
def test_a_client_that_accepts_every_form_approves_nothing(mode: str, tmp_path: Path) -> None:
    run, session = made(tmp_path), MadeSession(tmp_path / "repo")
    session.has_turn(document())
    session.add(EventKind.QUESTION_ASKED, question="agent-1", kind="agent", text="About agent?", round=1)
    before = contents(tmp_path)
    person = Person()

    async def all_of_it() -> None:
        async with connected(mode, person, tmp_path, run.out_dir) as asked:
            for questions, whose in ((OF_RUN, RUN), (OF_SESSION, SESSION)):
                for question, kind in questions.items():
                    await _insists(asked, person, question, kind, whose)
                    assert question in await asked.tool("questions", run=whose)
            assert "no open question plan-1" in await asked.tool("answer", fails=True, question="plan-1", run=RUN)
            assert contents(tmp_path) == before
            for question, kind in {**OF_RUN, **OF_SESSION}.items():
                await _says(asked, person, question, kind)

    asyncio.run(all_of_it())
    for folder, questions in ((run.out_dir, OF_RUN), (session.folder, OF_SESSION)):
        letters = {letter.subject: letter for letter in Inbox(folder).collect()}
        assert {name: letter.answer for name, letter in letters.items()} == {
            name: TEXTS[kind] for name, kind in questions.items() if kind in TEXTS
        }
        assert {(letter.kind, letter.text, letter.actor) for letter in letters.values()} == {
            ("answer", "approve it in Euros, please", "ann by way of MCP")
        }


async def _insists(asked: Asked, person: Person, question: str, kind: str, whose: str) -> None:
    """Call `answer` again and again, with every word of every kind."""
    for text in HOSTILE if kind in ("detail", "plan") else ("accept", "yes"):
        person.text, shown = text, len(person.shown)
        told = await asked.tool("answer", question=question, run=whose)
        assert f"santiago answer {question}" in told.replace(f" {whose}", "")
        assert (len(person.shown) > shown) is (kind in TEXTS)


async def _says(asked: Asked, person: Person, question: str, kind: str) -> None:
    """Decline the form, and cancel it; then write something that says what should be different."""
    if kind not in TEXTS:
        return
    for person.action, told in (("decline", "declined"), ("cancel", "cancelled")):
        assert f"was {told}, or the client never showed it" in await asked.tool("answer", question=question)
    person.action, person.text = "accept", "approve it in Euros, please"
    assert "is answered" in await asked.tool("answer", question=question)
    await asked.tool("answer", fails=True, question=question)
    assert ("Is revision 1 the plan?" if kind == "plan" else f"About {kind}?") in person.shown[-1]
