"""What a model can do with `answer`: it can have a person's text left for a run. It approves nothing, whatever its client says."""

import asyncio
from pathlib import Path

import pytest

from santiago.artifacts.inbox import Inbox
from santiago.contract.answers import CONSENT, KINDS
from tests.mcp.asking import ASKED, MODES, Asked, Person, connected, contents, made
from tests.tui.made import RUN

HOSTILE = sorted({*CONSENT, *(word for words in KINDS.values() for word in words), "OK.", "Aprove", "  ", "Yes!!"})
TEXTS = {"detail": "adjust", "result": "change", "agent": "adjust"}
"""Kinds of questions that take text → the word that is recorded."""


@pytest.mark.parametrize("mode", MODES)
def test_a_client_that_accepts_every_form_approves_nothing(mode: str, tmp_path: Path) -> None:
    run = made(tmp_path)
    before = contents(tmp_path)
    person = Person()

    async def all_of_it() -> None:
        async with connected(mode, person, tmp_path, run.out_dir) as asked:
            for number, kind in enumerate(ASKED, 1):
                await _insists(asked, person, f"S{number}-{kind}-1", kind)
            assert contents(tmp_path) == before
            await _says(asked, person)

    asyncio.run(all_of_it())
    letters = {letter.subject: letter for letter in Inbox(run.out_dir).collect()}
    assert {name.split("-")[1]: letter.answer for name, letter in letters.items()} == TEXTS
    assert {(letter.kind, letter.text, letter.actor) for letter in letters.values()} == {
        ("answer", "approve it in Euros, please", "ann by way of MCP")
    }


async def _insists(asked: Asked, person: Person, question: str, kind: str) -> None:
    """Call `answer` again and again, with every word of every kind."""
    for text in HOSTILE if kind == "detail" else ("accept", "yes"):
        person.text, shown = text, len(person.shown)
        told = await asked.tool("answer", question=question, run=RUN)
        assert f"santiago answer {question}" in told.replace(f" {RUN}", "")
        assert (len(person.shown) > shown) is (kind in TEXTS)


async def _says(asked: Asked, person: Person) -> None:
    """Decline each form, then write something that says what should be different."""
    assert "santiago review" in await asked.tool("answer", question="plan-1")
    for number, kind in enumerate(ASKED, 1):
        if kind in TEXTS:
            person.action = "decline"
            assert "declined, or the client never showed it" in await asked.tool(
                "answer", question=f"S{number}-{kind}-1"
            )
            person.action, person.text = "accept", "approve it in Euros, please"
            assert "is answered" in await asked.tool("answer", question=f"S{number}-{kind}-1")
            assert "there is no open question" in await asked.tool("answer", fails=True, question=f"S{number}-{kind}-1")
            assert f"About {kind}?" in person.shown[-1]
