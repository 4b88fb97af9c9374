"""A folder of specs given as a folder: its main document is planned, and the others are named."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.inside import inside

if TYPE_CHECKING:
    from pathlib import Path

TASKS = "# Tasks\n\n## Phase 1: Setup\n\n- [ ] T001 Make the model in src/model.py\n- [ ] T002 Test the model\n"
SPEC = "# Spec\n\n### User Story 1 - Sign in (Priority: P1)\n\n1. **Given** a user, **When** they sign in, **Then** they see it\n"
ROADMAP = "# Roadmap\n\n### Phase 1: Base\n**Depends on**: Nothing\n**Success Criteria**:\n1. It runs\n\nPlans:\n- [ ] 01-01: Start\n"


@pytest.mark.parametrize(
    ("files", "given", "taken", "left"),
    [
        ({"specs/001-in/tasks.md": TASKS, "specs/001-in/spec.md": SPEC}, "specs/001-in", "specs/001-in/tasks.md", "spec.md"),
        ({"specs/001-in/tasks.md": TASKS, "specs/001-in/plan.md": "# Plan\n"}, "specs", "specs/001-in/tasks.md", "plan.md"),
        ({".planning/ROADMAP.md": ROADMAP, ".planning/STATE.md": "# State\n"}, ".planning", ".planning/ROADMAP.md", "STATE.md"),
        ({"docs/prd-shop.md": SPEC, "docs/notes.md": "# Notes\n"}, "docs", "docs/prd-shop.md", "notes.md"),
        ({"docs/shop.md": SPEC, "docs/README.md": "# Docs\n"}, "docs", "docs/shop.md", "shop.md is planned"),
    ],
)  # fmt: skip
def test_the_main_document_of_a_folder_is_planned_and_the_others_are_named(
    files: dict[str, str], given: str, taken: str, left: str, tmp_path: Path
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    done = inside("plan", given, "--out-dir", tmp_path / "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert taken.endswith(json.loads((tmp_path / "out" / "plan.json").read_bytes())["source"]["path"])
    assert taken in done.stderr
    assert left in done.stderr


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (("login.md", "search.md"), "several documents: specs/login.md, specs/search.md"),
        (("a/tasks.md", "b/tasks.md"), "several documents: specs/a/tasks.md, specs/b/tasks.md"),
        ((), "without a document"),
    ],
)
def test_a_folder_without_a_main_document_is_refused_with_what_it_holds(
    names: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    (tmp_path / "specs").mkdir()
    for name in names:
        (tmp_path / "specs" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "specs" / name).write_text(TASKS)
    for command in ("plan", "run"):
        refused = inside(command, "specs", cwd=tmp_path)
        assert refused.returncode != 0
        assert says in refused.stderr
