"""A folder of specs given as a folder: its main document is planned, and the others are named."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.inside import inside

TASKS = "# Tasks\n\n## Phase 1: Setup\n\n- [ ] T001 Make the model in src/model.py\n- [ ] T002 Test the model\n"
SPEC = "# Spec\n\n### User Story 1 - Sign in (Priority: P1)\n\n1. **Given** a user, **When** they sign in, **Then** they see it\n"
ROADMAP = "# Roadmap\n\n### Phase 1: Base\n**Depends on**: Nothing\n**Success Criteria**:\n1. It runs\n\nPlans:\n- [ ] 01-01: Start\n"


def lay(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_the_main_document_of_a_folder_is_planned_and_the_others_are_named(tmp_path: Path) -> None:
    for number, (files, given, taken, left) in enumerate((
        ({"specs/001-in/tasks.md": TASKS, "specs/001-in/spec.md": SPEC}, "specs/001-in", "specs/001-in/tasks.md", "spec.md"),
        ({"specs/001-in/tasks.md": TASKS, "specs/001-in/plan.md": "# Plan\n"}, "specs", "specs/001-in/tasks.md", "plan.md"),
        ({".planning/ROADMAP.md": ROADMAP, ".planning/STATE.md": "# State\n"}, ".planning", ".planning/ROADMAP.md", "STATE.md"),
        ({"docs/prd-shop.md": SPEC, "docs/notes.md": "# Notes\n"}, "docs", "docs/prd-shop.md", "notes.md"),
        ({"docs/shop.md": SPEC, "docs/README.md": "# Docs\n"}, "docs", "docs/shop.md", "shop.md is planned"),
    )):  # fmt: skip
        folder = lay(tmp_path / str(number), files)
        done = inside("plan", given, "--out-dir", folder / "out", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert taken.endswith(json.loads((folder / "out" / "plan.json").read_bytes())["source"]["path"])
        assert (taken in done.stderr, left in done.stderr) == (True, True), done.stderr


def test_a_folder_without_a_main_document_is_refused_with_what_it_holds(tmp_path: Path) -> None:
    for number, (names, says) in enumerate((
        (("login.md", "search.md"), "several documents: specs/login.md, specs/search.md"),
        (("a/tasks.md", "b/tasks.md"), "several documents: specs/a/tasks.md, specs/b/tasks.md"),
        ((), "without a document"),
    )):  # fmt: skip
        folder = lay(tmp_path / str(number), {f"specs/{name}": TASKS for name in names})
        (folder / "specs").mkdir(parents=True, exist_ok=True)
        for command in ("plan", "run"):
            refused = inside(command, "specs", cwd=folder)
            assert (refused.returncode != 0, says in refused.stderr) == (True, True), refused.stderr
