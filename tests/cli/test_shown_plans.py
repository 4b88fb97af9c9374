"""What an agent is shown of the plan: which file is which, and that nobody changes it for the next attempt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli import greeter
from tests.cli.fakes import PRD
from tests.cli.santiago import santiago

AGENT = """\
if [ "$SANTIAGO_ATTEMPT" = 1 ]; then
    echo forged > "$SANTIAGO_PLAN_DIR/plan.json"
    rm "$SANTIAGO_PLAN_DIR/planning_docs/full_plan.json"
    echo helo > hello.txt
elif grep -q execution_scope "$SANTIAGO_PLAN_DIR/plan.json" && [ -e "$SANTIAGO_PLAN_DIR/planning_docs/full_plan.json" ]; then
    echo hello > hello.txt
fi
"""


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One chunk of one story, done in two attempts by an agent that writes where it must not."""
    folder = tmp_path_factory.mktemp("shown")
    (folder / "agent.sh").write_text(AGENT)
    made = greeter.committed(folder / "repo", {"prd.md": PRD})
    done = santiago(
        "run", "prd.md", "--agent", f"sh {folder / 'agent.sh'}", "--trust-commands", "--sandbox", "off",
        cwd=made, env=greeter.place(made),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return made


def test_the_prompt_names_the_chunk_and_the_whole_plan_also_for_a_chunk_of_one_story(repo: Path) -> None:
    tasks = greeter.out_dir(repo) / "tasks"
    prompt = (greeter.out_dir(repo) / "attempts/S1/1/prompt.md").read_text()
    assert f"The chunk of the plan that is being worked on: `{tasks}/plan.json`" in prompt
    assert f"The whole plan: `{tasks}/planning_docs/full_plan.json`" in prompt
    assert "- S1 Say hello" in prompt


def test_a_plan_that_an_agent_changed_is_noted_and_written_anew_before_the_next_attempt(repo: Path) -> None:
    out_dir = greeter.out_dir(repo)
    (note,) = json.loads((out_dir / "attempts/S1/1/outcome.json").read_bytes())["notes"]
    assert note.startswith("tasks/plan.json and tasks/planning_docs/full_plan.json changed while the agent worked")
    assert json.loads((out_dir / "attempts/S1/2/outcome.json").read_bytes())["notes"] == []
    ended = [line for line in (out_dir / "progress.ndjson").read_text().splitlines() if '"attempt_ended"' in line]
    assert [note in line for line in ended] == [True, False]
    assert santiago("audit", cwd=repo, env=greeter.place(repo)).returncode == 0
