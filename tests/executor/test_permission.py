"""Only a files field, or words that give work on a file, let a story change what judges it (promise 2)."""

from __future__ import annotations

import pytest

from santiago.executor.permission import may_change, speaks_of
from santiago.planner.compile import compile_plan
from santiago.planner.source import Source

TESTS = "tests/test_slug.py"


def permitted(text: str) -> tuple[str, ...]:
    document = f"# Product\n\n### R1: Slugs\n- slugify joins words with hyphens.\n- {text}\n"
    made = compile_plan(Source(document, path="prd.md")).plan
    assert made is not None
    return may_change(made.stories[0], made.requirements)


@pytest.mark.parametrize(
    "text",
    [
        f"All tests in `{TESTS}` pass.", f"It works as tested in {TESTS}.", f"The existing tests (`{TESTS}`) are green.", f"Do not change `{TESTS}`.",
        f"See `{TESTS}` for examples.", f"Change slugify so that `{TESTS}` passes.", f"Add hyphens, and {TESTS} still passes.", f"Never update `{TESTS}`.",
    ],
)  # fmt: skip
def test_a_mention_of_a_test_is_no_permission_to_change_it(text: str) -> None:
    assert permitted(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        f"Add tests to `{TESTS}`.", f"Extend {TESTS}; all of them pass.", f"`{TESTS}` is removed.", f"The fixture stands in `{TESTS}`.",
        f"Update the tests in {TESTS}, which must pass.", f"slug.py becomes text.py, also in `{TESTS}`.", f"All tests in `{TESTS}` pass.\n\nFiles: `{TESTS}`",
    ],
)  # fmt: skip
def test_work_on_a_test_is_permission(text: str) -> None:
    assert TESTS in permitted(text)


def test_a_story_speaks_of_a_file_by_its_name_with_or_without_its_ending() -> None:
    made = compile_plan(
        Source("# Product\n\n### R1: A validator\n- `validate.py` says what is wrong.\n", path="prd.md")
    ).plan
    assert made is not None
    assert speaks_of(made.stories[0], made.requirements, "tools/validate.py")
    assert not speaks_of(made.stories[0], made.requirements, "tools/check_all.py")
