"""Real documents in a planning session: an agent that leaves the plan as it is, is not refused, and every id stays."""

from pathlib import Path

import pytest

from santiago.contract import codec
from santiago.contract.plan import CONTRACT_VERSION, Plan
from santiago.contract.policy import Agent
from santiago.contract.session import Drafter, SessionInput
from santiago.sessions.draft_check import Ground, given, looked_through

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
LARGEST = 200_000


def documents() -> list[Path]:
    return [path for path in sorted(CORPUS.rglob("*")) if path.is_file() and path.stat().st_size <= LARGEST]


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real documents is not beside the project")
def test_line_51_the_plan_of_a_real_document_can_be_taken_as_it_is_turn_after_turn() -> None:
    planned = 0
    for path in documents():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found = given(_asked(path.name), text)
        if found is None:
            continue
        planned += 1
        first = _drafted(found, found, None, path.name, text)
        second = _drafted(first, found, first, path.name, text)
        assert [story.id for story in second.stories] == [story.id for story in found.stories], path.name
        assert given(_asked("plan.json"), codec.canonical(first).decode()) == first, "a plan is what it is"
    assert planned > 40


def _asked(name: str) -> SessionInput:
    drafter = Drafter(label="a", agent=Agent())
    return SessionInput(
        contract_version=CONTRACT_VERSION, session_id="p_1", document=name, source="0" * 64, drafters=(drafter,)
    )


def _drafted(plan: Plan, found: Plan, before: Plan | None, name: str, text: str) -> Plan:
    ground = Ground(asked=_asked(name), source=text, given=found, before=before, history=())
    draft = looked_through(codec.canonical(plan).decode(), ground)
    assert draft.plan is not None, (name, draft.findings)
    return draft.plan
