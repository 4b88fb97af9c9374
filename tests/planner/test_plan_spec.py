"""PlanSpec v2 documents, and the profile and role that any document may give to a unit."""

import json
from textwrap import dedent

from santiago.contract.plan import Finding, Plan
from santiago.planner.compile import Compilation, compile_plan
from santiago.planner.source import Source, plan_id
from tests.util.each import each

SPEC = """
# Rates

## PlanSpec v2
```yaml
id: add-rates
risk: low
verify_commands:
  - make e2e
done_definition:
  - all boxes are ticked
```

## Delivery Waves
### Wave 1 - Table
- [ ] 1. Add the table
  - Targets: src/rates.py, Makefile
  - Expected behavior: a rate is stored; it is read back
  - Execute: `python scripts/make_table.py` passes
  - Verification: `python -m pytest tests/test_rates.py`
- [ ] 2. Load rates
  - Expected behavior:
    - they are there at the start
  - Execute:
    - run `make load` and verify it
  - Verification: make check-load
### Wave 2 - Page
- [ ] 3. Show rates
  - Expected behavior: the page shows them
  - Execute: npm run build
  - Verification: npm test

## Final Verification
- Functional checks: `pytest tests/func`
- Regression checks: npm run regress
"""


def compiled(text: str) -> Compilation:
    return compile_plan(Source(dedent(text).lstrip("\n"), path="plans/x.md"))


def plan(text: str) -> Plan:
    made = compiled(text).plan
    assert made is not None
    return made


def found(compilation: Compilation, code: str) -> list[Finding]:
    return [finding for finding in compilation.findings if finding.code == code]


def test_execute_is_work_verification_is_a_check_targets_are_files_and_expected_behavior_is_criteria() -> None:
    """Board line 8."""
    made = plan(SPEC)
    first, second, third = made.stories
    assert first.verify == ("python -m pytest tests/test_rates.py",)
    assert (second.verify, third.verify) == (("make check-load",), ("npm test",))
    assert "Execute: `python scripts/make_table.py` passes" in first.description
    assert "run `make load` and verify it" in second.description
    assert "Execute: npm run build" in third.description
    assert first.files[:2] == ("src/rates.py", "Makefile")
    assert [criterion.text for criterion in made.requirements[0].criteria] == ["a rate is stored", "it is read back"]
    assert [chunk.label for chunk in made.chunks] == ["Wave 1 - Table", "Wave 2 - Page"]
    assert made.run_verify == ("make e2e", "pytest tests/func", "npm run regress")
    front = "---\nid: x\nverify_commands: [make a, make b]\n---\n# PlanSpec v2\n- [ ] One\n- [ ] Two\n"
    assert plan(front).run_verify == ("make a", "make b")


def test_the_id_of_the_plan_is_said_and_can_be_asked_for() -> None:
    """Board line 8."""
    assert [note.message for note in found(compiled(SPEC), "plan_id")] == ["the id of this plan is add-rates"]
    assert plan_id(SPEC, "plans/other.md") == "add-rates"
    assert plan_id('---\nid: "quoted-one"  # why\n---\n', "x.md") == "quoted-one"
    assert plan_id("# Valid: yes\n- [ ] One\n", "plans/the.name.md") == "the.name"


@each("check", ["true", ":", "`true`", "` : `"])
def test_a_check_that_proves_nothing_refuses_the_plan(check: str) -> None:
    """Board line 8."""
    made = compiled(SPEC.replace("npm test", check))
    assert made.plan is None
    (error,) = found(made, "empty_check")
    assert (error.level, error.line) == ("error", SPEC.lstrip().split("\n").index("  - Verification: npm test") + 1)
    assert error.hint
    assert compiled(SPEC.replace("- make e2e", "- true")).plan is None, "a check of the run proves nothing either"


@each(
    "text",
    [
        "- [ ] Load rates profile=backend-api\n- [ ] Other\n",
        "- [ ] Load rates\n  - Profile: backend\n- [ ] Other\n",
        "## Story 1: Load rates\nProfile: api\n\nAcceptance criteria:\n- a\n\n## Story 2: Other\n",
        "| ID | Requirement | Priority |\n|---|---|---|\n| FR-1 | Load rates `profile=server` | must |\n| FR-2 | Other | must |\n",
        "Feature: Load rates\n  profile=backend-api\n  Scenario: a\n    Given a\n    When b\n    Then c\n",
        json.dumps({"userStories": [{"id": "US-1", "title": "Load rates", "profile": "backend_api"}, {"id": "US-2", "title": "O"}]}),
        "stories:\n  - id: US-1\n    title: Load rates\n    profile: backend-api\n  - id: US-2\n    title: Other\n",
        "---\nid: task-1\ntitle: Load rates\nprofile: backend\n---\n## Acceptance Criteria\n- [ ] a\n",
    ],
)  # fmt: skip
def test_the_profile_of_a_unit_is_read_from_every_kind_of_document(text: str) -> None:
    """Board line 9."""
    made = compile_plan(Source(text, path="x"))
    assert made.plan is not None
    story = made.plan.stories[0]
    assert (story.profile, story.title) == ("backend-api", "Load rates")
    assert not found(made, "unknown_profile")
    assert all(other.profile is None for other in made.plan.stories[1:])


def test_a_profile_that_is_not_known_is_kept_with_a_warning() -> None:
    """Board line 9."""
    made = compiled("- [ ] Load rates profile=wizard\n- [ ] Other\n")
    assert made.plan is not None
    assert made.plan.stories[0].profile == "wizard"
    (warning,) = found(made, "unknown_profile")
    assert (warning.level, warning.line) == ("warning", 1)


def test_a_page_about_profiles_names_nobody() -> None:
    """Board line 9."""
    made = plan("- [ ] Pages\n  - Profile: a user can change the name\n  - Settings: a theme\n- [ ] Other\n")
    assert made.stories[0].profile is None
    assert "a user can change the name" in made.stories[0].description


@each("text", ["Role: scientist", "Tags: math, uncertainty"])
def test_what_is_uncertain_is_work_for_a_scientist(text: str) -> None:
    """Board line 40."""
    first, second = plan(f"## Story 1: Bound the error\n{text}\n\n- a\n\n## Story 2: Research page\n\n- b\n").stories
    assert (first.role, second.role) == ("scientist", "developer")
    assert plan("- [ ] Try it [spike]\n- [ ] Other\n").stories[0].role == "scientist"
