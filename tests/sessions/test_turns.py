"""Turns of a planning session through the real program: who drafts, who merges, what is taken, and what is sent back."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from santiago.contract.plan import CONTRACT_VERSION
from santiago.contract.policy import Agent
from santiago.contract.session import Drafter, SessionInput
from santiago.sessions.draft_check import Ground, looked_through
from tests.cli import greeter
from tests.sessions.drafters import Place, plan
from tests.util.restored import restored

ANY = ""
"""Words that stand in every prompt."""


pytestmark = pytest.mark.xdist_group("sessions-turned")  # its world is made once


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture(scope="module")
def begun_once(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(tmp_path_factory.mktemp("begun"))
    plays = ("split it", {"exit": 3}), ("slowly", {"wait": 600}), (ANY, {"write": plan("Hello")})
    place.begin("A small file", place.drafter("one", *plays))
    return place


@pytest.fixture
def begun(begun_once: Place) -> Place:
    """A session in review, whose agent fails when it is told to split it, and takes long when it is told to go slowly."""
    return restored(begun_once, begun_once.folder)


def test_line_47_a_turn_from_a_sentence_ends_in_review_and_its_agent_changes_nothing(place: Place) -> None:
    agent = place.drafter("one", (ANY, {"touch": "README.md", "write": plan("Hello", "Goodbye")}))
    session = place.begin("Two small files", agent)
    assert [story["title"] for story in place.revision(1)["stories"]] == ["Hello", "Goodbye"]
    assert place.shown()["status"] == "ready"
    kinds = [event["event"] for event in place.events()]
    assert kinds[0] == "session_created"
    assert kinds[-2:] == ["turn_ended", "question_asked"]
    assert "Two small files" in (session / "drafts/0001").glob("*.prompt.md").__next__().read_text()
    assert (place.repo / "README.md").read_text() == "Small things.\n"
    assert greeter.git(place.repo, "status", "--porcelain") == ""


def test_line_47_a_first_turn_without_a_plan_leaves_nothing_to_review_and_says_why(place: Place) -> None:
    agent = place.drafter("one", (ANY, {"say": "I will not.", "exit": 3}))
    said = place.says("plan", "Anything", "--with", agent)
    assert said.returncode == 30
    assert place.shown()["status"] == "cancelled"
    assert "I will not." in said.stdout
    assert not list((place.session / "revisions").glob("*"))


def test_line_47_a_later_turn_without_a_plan_leaves_the_last_revision_in_review(begun: Place) -> None:
    said = begun.says("review", "--continue", "split it")
    assert said.returncode == 30
    shown = begun.shown()
    assert (shown["status"], shown["plan_revision"], shown["planning_iteration_count"]) == ("ready", 1, 2)
    assert [one["text"] for one in shown["planning_feedback_history"]] == ["split it"]


def test_line_48_each_drafts_alone_one_merges_and_all_drafts_are_kept(place: Place) -> None:
    one = place.drafter("one", ("MERGE", {"write": plan("Hello", "Goodbye")}), (ANY, {"write": plan("Hello")}))
    two = place.drafter("two", (ANY, {"write": plan("Goodbye")}))
    session = place.begin("Two small files", one, two)
    names = sorted(path.name for path in (session / "drafts/0001").glob("*.json"))
    assert len(names) == 3
    logs = {path.name: path.read_text() for path in (session / "drafts/0001").glob("*.log")}
    merged = next(text for name, text in logs.items() if name.startswith("merge-"))
    assert merged.count("drafts/") == 2, "who merges sees both drafts"
    assert all("drafts/" not in text for name, text in logs.items() if not name.startswith("merge-")), (
        "nobody else does"
    )
    assert [story["title"] for story in place.revision(1)["stories"]] == ["Hello", "Goodbye"]
    assert place.shown()["last_planning_mode"] == "multi"


def test_lines_48_and_60_where_one_drafter_fails_the_rest_go_on_and_the_plan_names_who_drafted(place: Place) -> None:
    one = place.drafter("one", (ANY, {"exit": 1}))
    two = place.drafter("two", (ANY, {"write": plan("Goodbye")}))
    said = place.says("plan", "A small file", "--with", one, "--with", two)
    assert said.returncode == 0
    assert "brought nothing usable" in said.stderr
    assert [story["title"] for story in place.revision(1)["stories"]] == ["Goodbye"]
    first, second = (
        draft["label"] for draft in json.loads((place.session / "session-input.json").read_bytes())["drafters"]
    )
    assert place.revision(1)["source"]["evidence"] == [f"revision 1 by {second}, asked for by ann"]
    assert place.says("review", "--continue", "and better").returncode == 0
    assert not any(f"{first}," in line for line in place.revision(2)["source"]["evidence"])


def test_line_48_where_who_merges_fails_the_next_one_merges(place: Place) -> None:
    one = place.drafter("one", ("MERGE", {"exit": 1}), (ANY, {"write": plan("Hello")}))
    two = place.drafter("two", ("MERGE", {"write": plan("Both")}), (ANY, {"write": plan("Goodbye")}))
    place.begin("Two small files", one, two)
    assert [story["title"] for story in place.revision(1)["stories"]] == ["Both"]


def test_line_49_a_quick_edit_is_a_turn_of_one_agent_and_the_next_turn_is_of_all_again(place: Place) -> None:
    one = place.drafter("one", ("shorter", {"write": plan("Hi")}), (ANY, {"write": plan("Hello")}))
    two = place.drafter("two", (ANY, {"write": plan("Goodbye")}))
    place.begin("Two small files", one, two)
    assert place.says("review", "--edit", "shorter").returncode == 0
    assert place.shown()["last_planning_mode"] == "single"
    assert place.says("review", "--continue", "and better").returncode == 0
    shown = place.shown()
    assert (shown["last_planning_mode"], shown["plan_revision"]) == ("multi", 3)
    logs = {path.name: path.read_text() for path in (place.session / "drafts/0003").glob("*.log")}
    seen = {name.partition("-")[0]: "drafts/" in text for name, text in sorted(logs.items())}
    assert (len(logs), sum(seen.values())) == (3, 1), "only who merges sees drafts, those of earlier turns too"
    assert [(one["mode"], one["text"], one["actor"], one["revision"]) for one in shown["planning_feedback_history"]] == [
        ("single", "shorter", "ann", 1), ("multi", "and better", "ann", 2)
    ]  # fmt: skip


def test_line_50_planning_on_needs_words(begun: Place) -> None:
    for option in ("--continue", "--edit"):
        said = begun.says("review", option, "  ")
        assert said.returncode == 2
        assert "say what should be different" in said.stderr
    assert begun.shown()["planning_iteration_count"] == 1


BROKEN: dict[str, dict[str, Any]] = {
    "a cycle": {"stories": [
        {"id": "S1", "title": "a", "chunk": "A", "depends_on": ["S2"]}, {"id": "S2", "title": "b", "chunk": "A", "depends_on": ["S1"]},
    ], "chunks": []},
    "an unknown id": {"stories": [{"id": "S1", "title": "a", "chunk": "A", "depends_on": ["S9"]}], "chunks": []},
    "no chunk": {"stories": [{"id": "S1", "title": "a"}], "chunks": []},
    "a later chunk": {"stories": [
        {"id": "S1", "title": "a", "chunk": "A", "depends_on": ["S2"]}, {"id": "S2", "title": "b", "chunk": "B"},
    ], "chunks": []},
    "an id twice": {"stories": [{"id": "S1", "title": "a", "chunk": "A"}, {"id": "S1", "title": "b", "chunk": "A"}], "chunks": []},
    "no plan at all": {"tasks": []},
}  # fmt: skip


def broken(what: str) -> dict[str, Any]:
    return {"contract_version": 1, "title": "x", "requirements": [], "run_verify": [], **BROKEN[what]}


@pytest.mark.parametrize("what", BROKEN)
def test_line_51_what_breaks_a_rule_has_findings_and_gives_no_plan(what: str) -> None:
    drafter = Drafter(label="a", agent=Agent())
    asked = SessionInput(contract_version=CONTRACT_VERSION, session_id="p_1", task="x", drafters=(drafter,))
    draft = looked_through(
        json.dumps(broken(what)), Ground(asked=asked, source="", given=None, before=None, history=())
    )
    assert draft.plan is None
    assert draft.findings


def test_line_51_what_breaks_a_rule_is_sent_back_once_with_the_findings_and_kept_as_a_draft(place: Place) -> None:
    agent = place.drafter("one", ("cannot be taken", {"write": plan("Hello")}), (ANY, {"write": broken("a cycle")}))
    place.begin("A small file", agent)
    assert [story["title"] for story in place.revision(1)["stories"]] == ["Hello"]
    ended = [event for event in place.events() if event["event"] == "draft_ended"]
    assert [event["status"] for event in ended] == ["failed", "ok"]
    assert ended[0]["context"]["findings"]
    asked_again = next(place.session.glob("drafts/0001/*.2.prompt.md")).read_text()
    assert ended[0]["context"]["findings"][0][:60] in asked_again


def test_line_51_what_breaks_a_rule_twice_is_no_revision(place: Place) -> None:
    agent = place.drafter("one", (ANY, {"write": "{]"}))
    said = place.says("plan", "A small file", "--with", agent)
    assert said.returncode == 30
    assert len([event for event in place.events() if event["event"] == "draft_started"]) == 2
    assert place.shown()["plan_revision"] == 0
    assert next(place.session.glob("drafts/0001/*.json")).read_text() == "{]", "what was rejected is kept"


def test_line_51_every_requirement_and_criterion_of_the_document_is_covered_word_for_word(tmp_path: Path) -> None:
    place = Place(tmp_path, {"prd.md": greeter.PRD})
    lost = plan("Say hello")
    kept = [
        {"id": f"R{number}", "title": "x", "criteria": [{"id": f"R{number}#1", "text": text}]}
        for number, text in enumerate(("hello.txt says hello", "bye.txt says goodbye", "both.txt says both"), 1)
    ]
    whole = plan("Say hello", "Say goodbye", "Both", requirements=kept)
    for number, story in enumerate(whole["stories"], 1):
        story |= {"requirements": [f"R{number}"], "criteria": [f"R{number}#1"]}
    agent = place.drafter("one", ("cannot be taken", {"write": whole}), (ANY, {"write": lost}))
    place.begin("prd.md", agent)
    first = next(event for event in place.events() if event["event"] == "draft_ended")
    assert "no story covers R2" in json.dumps(first["context"]["findings"])
    assert "no story has the criterion R3#1 word for word" in json.dumps(first["context"]["findings"])
    done = place.revision(1)
    assert [story["requirements"] for story in done["stories"]] == [["R1"], ["R2"], ["R3"]]
    assert [story["origin"]["line"] for story in done["stories"]] == [5, 13, 23], "where it stands in the document"
    assert done["source"]["path"] == "prd.md"


def test_line_51_ids_last_from_revision_to_revision(place: Place) -> None:
    second = plan("Hello", "Between", "Goodbye")
    second["stories"][1]["id"], second["stories"][2]["id"] = "S9", "S2"
    second["stories"][2]["depends_on"] = ["S9"]
    second["chunks"][0]["stories"] = ["S1", "S9", "S2"]
    agent = place.drafter("one", ("in the middle", {"write": second}), (ANY, {"write": plan("Hello", "Goodbye")}))
    place.begin("Small files", agent)
    assert place.says("review", "--edit", "one in the middle").returncode == 0
    titles = {story["id"]: story["title"] for story in place.revision(2)["stories"]}
    assert titles == {"S1": "Hello", "S2": "Goodbye", "S3": "Between"}


def test_line_54_an_agents_question_is_one_of_the_session_and_its_answer_goes_into_the_next_turn(place: Place) -> None:
    agent = place.drafter(
        "one", ("in Euros", {"write": plan("Hello")}), (ANY, {"say": "SANTIAGO_QUESTION: which currency?"})
    )
    said = place.says("plan", "Prices", "--with", agent)
    assert said.returncode == 10
    listed = place.says("answer")
    assert "which currency?" in listed.stdout
    assert place.says("answer", "agent-1", "in Euros").returncode == 0
    assert place.says("review", "--take-up").returncode == 0
    assert place.shown()["plan_revision"] == 1


def test_line_55_wishes_of_size_go_into_the_prompt_and_a_plan_that_misses_them_is_warned_of(place: Place) -> None:
    agent = place.drafter("one", (ANY, {"write": plan("Hello")}))
    place.begin("Small", agent, more=("--chunks-target", "3", "--stories-target", "12", "--depth", "deep"))
    prompt = next(place.session.glob("drafts/0001/*.prompt.md")).read_text()
    assert "about 3 chunks" in prompt
    assert "about 12 stories" in prompt
    codes = [finding["code"] for finding in place.revision(1)["findings"]]
    assert codes.count("size_missed") == 2


def test_line_55_a_size_that_is_none_is_refused(place: Place) -> None:
    for words in (("--chunks-target", "0"), ("--stories-target", "-1"), ("--depth", "abyss")):
        assert place.says("plan", "Small", "--with", "claude", *words).returncode == 2
    assert not (place.repo / ".santiago").exists()


def test_line_77_a_session_takes_no_more_turns_than_it_has_and_a_person_may_add_some(tmp_path: Path) -> None:
    place = Place(tmp_path, {"santiago.toml": "[limits]\nplanning_max_turns = 2\n"})
    agent = place.drafter("one", (ANY, {"write": plan("Hello")}))
    place.begin("A small file", agent, more=("--trust-project",))
    assert place.says("review", "--edit", "again").returncode == 0
    said = place.says("review", "--edit", "and again")
    assert said.returncode == 30
    assert "has used its 2 turns" in said.stderr
    assert place.shown()["status"] == "ready", "Finalize is still possible"
    # line 53: what is offered is not refused
    offered = offers(place)
    assert all("--add-turns 5" in line for line in offered if "--finalize" not in line)
    assert len(offered) == 3
    assert place.says("review", "--edit", "and again", "--add-turns", "1").returncode == 0
    raised = [event for event in place.events() if event["event"] == "budget_raised"]
    assert [(event["actor"], event["context"]["amount"]) for event in raised] == [("ann", 1)]


def offers(place: Place) -> list[str]:
    return [line for line in place.says("review").stdout.splitlines() if line.startswith("next: ")]


def test_line_53_a_session_without_a_plan_whose_limit_no_flag_raises_offers_nothing(tmp_path: Path) -> None:
    place = Place(tmp_path, {"santiago.toml": "[limits]\nplanning_max_tokens = 0\n[policy]\nunknown_usage = 'allow'\n"})
    place.says(
        "plan", "A small file", "--with", place.drafter("one", (ANY, {"write": plan("Hello")})), "--trust-project"
    )
    assert (place.shown()["status"], offers(place)) == ("cancelled", [])
    assert place.says("review", "--take-up").returncode == 30


def test_line_63_a_turn_that_is_under_way_can_be_cancelled_and_the_session_taken_up_again(begun: Place) -> None:
    words = [sys.executable, "-m", "santiago", "review", "--edit", "slowly"]
    with subprocess.Popen(words, cwd=begun.repo, env=greeter.place(begun.repo), stderr=subprocess.DEVNULL) as turn:
        while begun.events()[-1]["event"] != "draft_started":
            time.sleep(0.02)
        said = begun.says("review", "--cancel")
        assert said.returncode == 0, said.stderr
        assert "was asked to end the turn" in said.stderr
        turn.wait(60)
    assert begun.shown()["status"] == "cancelled"
    last = begun.events()[-1]
    assert (last["event"], last["status"], last["actor"]) == ("turn_ended", "stopped", "ann")
    assert begun.says("review", "--take-up").returncode == 0
    assert (begun.shown()["status"], begun.shown()["plan_revision"]) == ("ready", 1)


def test_line_63_a_turn_that_was_interrupted_can_be_cancelled(begun: Place) -> None:
    words = [sys.executable, "-m", "santiago", "review", "--edit", "slowly"]
    with subprocess.Popen(words, cwd=begun.repo, env=greeter.place(begun.repo), stderr=subprocess.DEVNULL) as turn:
        while begun.events()[-1]["event"] != "draft_started":
            time.sleep(0.02)
        turn.kill()
    assert "interrupted" in begun.says("review").stdout
    assert begun.says("review", "--cancel").returncode == 0
    assert begun.shown()["status"] == "cancelled"
