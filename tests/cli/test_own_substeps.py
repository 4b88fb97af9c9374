"""Substeps that the document itself has, and what keeps a detailed plan from approval."""

import json
from pathlib import Path

import pytest

from santiago.app.loading import load
from tests.cli.greeter import committed, looks, out_dir, says

PLAN = """\
# Plan: Greeter
## Step 1: Say hello
**Files:** `hello.txt`, `world.txt`

Result: hello.txt says hello
### Step 1.1: The word
Result: hello.txt is there
### Step 1.2: The world
Result: world.txt is there
## Step 2: Say goodbye
Result: bye.txt says goodbye
"""
PLAY = """\
stories:
  S1.1: [{write: {hello.txt: "hello\\n"}}]
  S1.2: [{write: {world.txt: "world\\n"}}]
proposals:
  S1:
    - &one
      detail:
        objective: Greet
        create: [hello.txt, world.txt]
        actions: [in parts]
        substeps:
          - &word {title: The word, actions: [write it], files: [hello.txt], checks: [grep hello hello.txt]}
    - *one
    - &bare
      detail:
        objective: Greet
        create: [hello.txt, world.txt]
        actions: [in parts]
        substeps:
          - *word
          - {title: The world, actions: [write it], files: [world.txt]}
    - *bare
    - detail:
        objective: Greet
        create: [hello.txt, world.txt]
        actions: [in parts]
        substeps:
          - *word
          - {title: The whole world, actions: [write it], files: [world.txt], checks: [grep world world.txt]}
"""
BEGIN = ("plan.md", "--agent", "scripted", "--playbook", "play.yaml", "--verify", "grep hello hello.txt")


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repo = committed(tmp_path_factory.mktemp("own") / "repo", {"plan.md": PLAN, "play.yaml": PLAY})
    says(repo, "step", *BEGIN, code=10)
    return repo


def asked(repo: Path) -> dict[str, object]:
    (question,) = json.loads(looks(repo, "status", "--json").stdout)["questions"]
    return {"id": question["id"], "words": question["words"]}


def test_the_documents_own_parts_bind_and_no_substep_without_a_check_is_approved(repo: Path) -> None:
    """People 12, 46, 82, 83 and 86: what is left out needs its own word, what has no check is refused, and titles are real."""
    story, _ = json.loads(looks(repo, "status", "--json").stdout)["stories"]
    assert story["detail"]["findings"] == [
        'substeps: Step 1.2 "The world" is left out, and the document gives it to this step'
    ]
    assert asked(repo) == {"id": "S1-detail-2", "words": ["drop", "adjust", "defer", "stop"]}
    for word in ("ok", "approve"):
        assert "`drop` approves it all the same" in looks(repo, "answer", "S1-detail-2", word, code=30).stderr
    looks(repo, "answer", "S1-detail-2", "adjust", "--text", "with the world", code=0)
    says(repo, "step", code=10)
    assert asked(repo) == {"id": "S1-detail-4", "words": ["adjust", "defer", "stop"]}
    for word in ("yes", "approve", "drop"):
        assert "a substep has no check" in looks(repo, "answer", "S1-detail-4", word, code=30).stderr
    looks(repo, "answer", "S1-detail-4", "adjust", "--text", "with checks", code=0)
    says(repo, "step", code=10)
    assert asked(repo) == {"id": "S1-detail-6", "words": ["approve", "adjust", "defer", "stop"]}
    story, _ = json.loads(looks(repo, "status", "--json").stdout)["stories"]
    assert story["detail"]["findings"] == ['substep S1.2, title: the document calls it "The world"']
    for question, word in {"S1-detail-6": "ok", "S1.1-result-1": "validate", "S1.1-continue-1": "continue"}.items():
        looks(repo, "answer", question, word, code=0)
        says(repo, "step", code=10)
    tasks = json.loads(looks(repo, "status", "--tasks").stdout)
    assert [(one["id"], one["subject"], one["status"]) for one in tasks["tasks"]] == [
        ("S1.1", "The word", "completed"), ("S1.2", "The whole world", "in_progress"), ("S1", "Say hello", "in_progress"),
        ("S2", "Say goodbye", "pending"),
    ]  # fmt: skip
    assert tasks["update_plan"]["plan"][1] == {"step": "The whole world", "status": "in_progress"}


def test_the_word_that_drops_a_part_approves_the_plan_without_it(tmp_path: Path) -> None:
    """People 82: it is recorded as that word, by who said it."""
    repo = committed(tmp_path / "repo", {"plan.md": PLAN, "play.yaml": PLAY})
    says(repo, "step", *BEGIN, code=10)
    looks(repo, "answer", "S1-detail-2", "drop", "--actor", "ann", code=0)
    says(repo, "step", code=10)
    state = load(out_dir(repo)).state
    assert (state.questions["S1-detail-2"].answer, state.questions["S1-detail-2"].actor) == ("drop", "ann")
    assert list(state.stories) == ["S1.1", "S1", "S2"]
