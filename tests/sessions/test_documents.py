"""`santiago draft`: a document that the compiler reads exactly; a file and a difference, and nothing runs."""

import json
from pathlib import Path

import pytest

from tests.sessions.drafters import Place

ANY = ""
NOTES = "# Greeter\n\nWe greet people.\n\nNobody is greeted twice.\n"
GOOD = """\
# Greeter

We greet people.

## Phase 1: Words

### REQ-001: Greet by name
A name makes a greeting.
**Files:** `greet.py`
**Verify:** `python3 -m unittest tests.test_greet`
**Acceptance criteria:**
- an empty name is refused

Nobody is greeted twice.

### REQ-002: Greet once
**Depends on:** REQ-001
**Verify:** `python3 -m unittest tests.test_once`
**Acceptance criteria:**
- the second greeting of one person is refused
"""


FROM_NOTES = GOOD.replace("A name makes", "**Source:** 5\nA name makes").replace(
    "once\n**Dep", "once\n**Source:** 5\n**Dep"
)
FROM_NOTES += "\n## Left out of the plan\n- 3: says what it is\n"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, {"notes.md": NOTES})


def test_a_draft_from_an_idea_is_a_file_that_plans_without_a_doubt(place: Place) -> None:
    said = place.says("draft", "A greeter", "--with", place.drafter("one", (ANY, {"write": GOOD})), "-o", "docs.md")
    assert said.returncode == 0, said.stderr
    assert "+### REQ-001: Greet by name" in said.stdout, "the difference"
    assert not (place.repo / "docs.md").exists(), "nothing is written before a person says so"
    assert place.says("review", "--finalize", "--revision", "1").returncode == 0
    assert (place.repo / "docs.md").read_text() == GOOD
    assert place.runs() == [], "nothing runs"
    planned = json.loads(place.says("plan", "docs.md", "--strict", "--json").stdout)
    assert [story["origin"]["id"] for story in planned["stories"]] == ["REQ-001", "REQ-002"]
    assert [story["depends_on"] for story in planned["stories"]] == [[], ["S1"]]
    assert all(story["verify"] and story["criteria"] for story in planned["stories"])


def test_no_sentence_of_an_existing_author_is_changed(place: Place) -> None:
    changed = FROM_NOTES.replace("Nobody is greeted twice.", "Nobody should be greeted twice.")
    agent = place.drafter("one", ("cannot be taken", {"write": FROM_NOTES}), (ANY, {"write": changed}))
    said = place.says("draft", "notes.md", "--with", agent)
    assert said.returncode == 0, said.stderr
    first = next(event for event in place.events() if event["event"] == "draft_ended")
    assert "line 5 of the document was changed, moved or left out" in first["context"]["findings"][0]
    assert (place.session / "revisions/0001.md").read_text() == FROM_NOTES
    assert place.says("review", "--finalize", "--revision", "1").returncode == 0
    assert (place.repo / "notes-draft.md").read_text() == FROM_NOTES
    assert (place.repo / "notes.md").read_text() == NOTES, "the author's own file stays as it is"


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("**Source:** 5\nA name", "A name", "REQ-001: no `**Source:**`"),
        ("**Source:** 5\n**Dep", "**Source:** 50\n**Dep", "`50` names no lines of the document, which has 5"),
        ("- 3: says what it is\n", "", "no requirement comes from line 3 of the document"),
        ("- 3: says what it is\n", "- 3:\n", "lines 3 are left out without a reason"),
        ("## Left out", "## Payments\nCards and coupons.\n\n## Left out", '"Payments" holds no requirement'),
    ],
)
def test_a_draft_accounts_for_every_line_of_its_source(place: Place, old: str, new: str, wrong: str) -> None:
    drafts = ("cannot be taken", {"write": FROM_NOTES}), (ANY, {"write": FROM_NOTES.replace(old, new)})
    said = place.says("draft", "notes.md", "--with", place.drafter("one", *drafts))
    ended = [event for event in place.events() if event["event"] == "draft_ended"]
    assert [event["status"] for event in ended] == ["failed", "ok"], said.stderr
    assert wrong in " ".join(ended[0]["context"]["findings"])
    assert all(row in said.stdout for row in ("line 5 for REQ-002", "line 3: says what it is"))


@pytest.mark.parametrize(
    ("what", "old", "new"),
    [
        ("it has no id", "### REQ-002: Greet once", "### Greet once"),
        ("no acceptance criterion", "- the second greeting of one person is refused", ""),
        ("no command that shows it", "**Verify:** `python3 -m unittest tests.test_once`", ""),
    ],
)
def test_a_document_without_what_a_run_needs_is_sent_back(place: Place, what: str, old: str, new: str) -> None:
    agent = place.drafter("one", ("cannot be taken", {"write": GOOD}), (ANY, {"write": GOOD.replace(old, new)}))
    assert place.says("draft", "A greeter", "--with", agent).returncode == 0
    ended = [event for event in place.events() if event["event"] == "draft_ended"]
    assert [event["status"] for event in ended] == ["failed", "ok"], what
    assert ended[0]["context"]["findings"]


def test_a_document_is_edited_in_further_turns(place: Place) -> None:
    longer = GOOD + "- and says so\n"
    agent = place.drafter("one", ("say so", {"write": longer}), (ANY, {"write": GOOD}))
    assert place.says("draft", "A greeter", "--with", agent).returncode == 0
    said = place.says("review", "--edit", "say so")
    assert said.returncode == 0, said.stderr
    assert "+- and says so" in said.stdout
    assert place.says("review", "--finalize", "--revision", "2").returncode == 0
    assert (place.repo / "prd.md").read_text() == longer
