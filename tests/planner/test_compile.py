"""The compiler as a whole: what a plan holds, what refuses one, and what must not change it (promise 1)."""

import re
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from santiago.contract import codec
from santiago.contract.codec import plan_digest
from santiago.contract.plan import Plan
from santiago.planner.compile import Compilation, compile_plan
from santiago.planner.source import Options, Source
from tests.util.each import each

PRD = """\
# PRD: Billing

## Phase 1: Foundation
### R2: Seed currency data
Depends on: R1

**Acceptance Criteria:**
- [ ] three currencies exist
### R1: Create billing tables
**Files:** `src/db/tables.py`

**Acceptance Criteria:**
- [ ] tables exist
- [ ] migrations run twice

**Verification:** `pytest -q tests/test_tables.py`

## Phase 2: Backend
### R10: Webhook retries
Depends on: R2

**Acceptance Criteria:**
- [ ] a failed call is repeated
### R3: Refund endpoint
Depends on: R1, R2

**Acceptance Criteria:**
- [ ] a refund answers 200
"""


def compiled(text: str, **options: object) -> Compilation:
    against = options.pop("against", None)
    strict = bool(options.pop("strict", False))
    source = Source(text, path="prd.md", options=Options(**options))  # type: ignore[arg-type]
    return compile_plan(source, strict=strict, against=against)  # type: ignore[arg-type]


def plan_of(text: str, **options: object) -> Plan:
    result = compiled(text, **options)
    assert result.plan is not None, result.findings
    return result.plan


def codes(result: Compilation, level: str = "error") -> list[str]:
    return [finding.code for finding in result.findings if finding.level == level]


def test_stories_come_chunk_by_chunk_dependencies_first_with_all_of_their_units_and_lines() -> None:
    plan = plan_of(PRD)
    assert [(story.id, story.origin.id) for story in plan.stories] == [
        ("S1", "R1"),
        ("S2", "R2"),
        ("S3", "R3"),
        ("S4", "R10"),
    ]
    chunks = [("Phase 1: Foundation", ("S1", "S2")), ("Phase 2: Backend", ("S3", "S4"))]
    assert [(chunk.label, chunk.stories) for chunk in plan.chunks] == chunks
    first = plan.stories[0]
    assert (first.origin.line, first.files) == (9, ("src/db/tables.py",))
    assert first.verify == ("pytest -q tests/test_tables.py",)
    assert [criterion.line for criterion in plan.requirements[0].criteria] == [13, 14]
    provenance = [(p.field, p.value, p.line) for p in plan.stories[2].provenance]
    assert provenance == [("depends_on", "S1", 25), ("depends_on", "S2", 25)]
    assert plan.digest == plan_digest(plan)
    assert plan.digest != plan_of(PRD.replace("three", "four")).digest


def test_a_cycle_is_refused_with_its_path_and_the_lines_to_change() -> None:
    head = "### R1: Create billing tables\n"
    result = compiled(PRD.replace(head, f"{head}\nDepends on: R2\n"))
    assert result.plan is None
    (finding,) = result.errors
    assert finding.code == "cycle"
    assert "R2 -> R1 -> R2" in finding.message or "R1 -> R2 -> R1" in finding.message
    assert "line 5" in finding.hint


def test_all_refusals_come_at_once_sorted_by_line() -> None:
    result = compiled(
        "# PRD\n### R1: One\nDepends on: R1\n### R2: Two\nDepends on: R3\n### R3: Three\nDepends on: R2\n"
    )
    assert sorted(codes(result)) == ["cycle", "self_dependency"]
    lines = [finding.line for finding in result.findings]
    assert lines == sorted(lines)


def test_a_dependency_on_a_later_chunk_or_on_an_id_that_is_defined_twice_is_refused() -> None:
    assert "later_chunk" in codes(compiled(PRD.replace("Depends on: R1\n", "Depends on: R10\n")))
    assert codes(compiled("# PRD\n### R1: One\n### R1: One again\n### R2: Two\nDepends on: R1\n")) == [
        "ambiguous_dependency"
    ]


def test_an_id_defined_twice_becomes_two_stories_and_a_warning_with_both_lines() -> None:
    result = compiled("# PRD\n### R1: One\n### R1: Another\n### R2: Two\n")
    assert result.plan is not None
    assert [story.requirements[0] for story in result.plan.stories] == ["R1", "R1~2", "R2"]
    (warning,) = [f for f in result.findings if f.code == "duplicate_id"]
    assert "line 2" in warning.message
    assert "line 3" in warning.message


def test_a_dependency_outside_the_document_is_kept_as_external_and_refused_where_warnings_are() -> None:
    text = "# PRD\n### R1: One\nDepends on: R9\n### R2: Two\n"
    result = compiled(text)
    assert result.plan is not None
    assert result.plan.stories[0].external_depends_on == ("R9",)
    assert "external_dependency" in codes(result, "warning")
    assert compiled(text, strict=True).plan is None


def test_a_dependency_on_words_that_are_no_id_is_a_warning_and_neither_an_edge_nor_a_block() -> None:
    text = "# PRD\n### R1: One (depends on login)\n- [ ] it works\n### R2: Two\nDepends on: the login page\n- [ ] it works\n"
    result = compiled(text)
    assert result.plan is not None
    said = [(f.level, f.line, f.message) for f in result.findings if f.code == "dependency_unclear"]
    assert [(level, line) for level, line, _ in said] == [("warning", 2), ("warning", 5)]
    assert '"login"' in said[0][2]
    assert "the login page" in result.plan.stories[1].description
    assert not any(story.depends_on or story.external_depends_on for story in result.plan.stories)


def test_one_plain_word_behind_needs_asks_for_a_pool_of_workers() -> None:
    lines = ("**Needs:** gpu", "- Needs: gpu", "Needs: R1", "Needs: none", "Needs: a gpu", "Depends on: gpu")
    text = "".join(f"### R{at}: Do {at}\n{line}\n- [ ] it works\n" for at, line in enumerate(lines, 2))
    result = compiled(f"# PRD\n### R1: One\n- [ ] it works\n{text}")
    assert result.plan is not None
    stories = {one.origin.id: one for one in result.plan.stories}
    assert [stories[f"R{at}"].pool for at in range(2, 8)] == ["gpu", "gpu", "", "", "", ""]
    assert stories["R4"].depends_on == (stories["R1"].id,)
    hints = [one.hint for one in result.findings if one.code == "external_dependency"]
    assert all("santiago work --pool gpu" in hint for hint in hints)
    assert len(hints) == 2


@each(
    "line", ["### R1: One (depends on nothing)", "- works (requires a login)", "Its dependencies: a login", "- works (Deprecation, Link)"]
)  # fmt: skip
def test_a_sentence_that_declares_no_order_is_no_finding(line: str) -> None:
    result = compiled(f"# PRD\n### R0: Zero\nThis is here. {line}\n### R2: Two\n{line}\n")
    assert "dependency_unclear" not in [finding.code for finding in result.findings]


@each("under", ["- [ ] it works", "- it works", "Some text", "1. it works"])
@each("indent", ["", "  "])
def test_a_dependency_is_told_with_its_own_line_wherever_it_stands(under: str, indent: str) -> None:
    result = compiled(f"# PRD\n### R1: One\n{under}\n{indent}Depends on: R9\n- last (needs\n  R8)\n### R2: Two\n")
    said = {f.message.split()[3].strip(","): f.line for f in result.findings if f.code == "external_dependency"}
    assert said == {"R9": 4, "R8": 5}


def test_a_tick_is_a_claim_and_never_done() -> None:
    plan = plan_of("# Tasks\n\n## 1. Group\n\n- [x] 1.1 First thing\n- [ ] 1.2 Second thing\n")
    assert [story.claimed_done for story in plan.stories] == [True, False]


def test_without_groups_there_is_one_chunk_and_labels_numbered_against_their_order_are_warned_of() -> None:
    assert [chunk.label for chunk in plan_of("# PRD\n### R1: One\n### R2: Two\n").chunks] == ["C01"]
    text = "# PRD\n## Phase 2: B\n### R1: One\n## Phase 1: A\n### R2: Two\n"
    assert "chunk_order" in codes(compiled(text), "warning")


@each(
    ("old", "new"),
    [
        ("\n\n", "\n\n\n\n"),
        ("# PRD: Billing\n", "# PRD: Billing\n\nSome prose about billing, R1 and money.\n"),
        ("\n", "\r\n"),
        ("# PRD", "\ufeff# PRD"),
        ("answers 200\n", "answers 200\n\n## Appendix\n\nNothing here.\n"),
        ("## Phase 1", "## Background\n\nWords.\n\n## Phase 1"),
        ("- [ ]", "* [ ]"),
    ],
)
def test_ids_and_order_do_not_depend_on_prose_and_dress(old: str, new: str) -> None:
    assert shape(plan_of(PRD.replace(old, new))) == shape(plan_of(PRD))


def shape(plan: Plan) -> list[tuple[object, ...]]:
    return [(s.id, s.title, s.depends_on, s.chunk, s.requirements, s.criteria, s.files, s.verify) for s in plan.stories]


def test_reordered_unrelated_sections_leave_ids_and_order_alone() -> None:
    a, b, units = "## Risks\n\nSome.\n", "## Personas\n\n- Ann\n", "## Requirements\n\n### R1: One\n\n### R2: Two\n"
    plans = [plan_of("# PRD\n\n" + "\n".join(parts)) for parts in ([a, b, units], [b, units, a], [units, a, b])]
    assert shape(plans[0]) == shape(plans[1]) == shape(plans[2])


def numbered(count: int, *, ids: bool) -> list[str]:
    return [
        f"### R{n}: Requirement {n}\n\n- [ ] it does {n}\n" if ids else f"- [ ] Thing number {n} is done\n"
        for n in range(1, count + 1)
    ]


def added_at(place: int, *, ids: bool) -> tuple[dict[str, str], dict[str, str]]:
    """Return the ids of a hundred requirements by title, and those after one more was added at this place."""
    parts = numbered(100, ids=ids)
    added = "### R777: A new one\n\n- [ ] it is new\n" if ids else "- [ ] A new thing\n"
    old = plan_of("# PRD\n\n" + "".join(parts))
    new = plan_of("# PRD\n\n" + "".join([*parts[:place], added, *parts[place:]]), against=old)
    return {story.title: story.id for story in old.stories}, {story.title: story.id for story in new.stories}


@each("ids", [True, False])
@each("place", [0, 1, 37, 99, 100])
def test_one_requirement_added_anywhere_keeps_the_ids_of_a_hundred_others(place: int, ids: bool) -> None:
    """At every place: `python -m proofs ids`."""
    kept, now = added_at(place, ids=ids)
    assert len(now) == 101
    assert {title: now[title] for title in kept} == kept
    assert [now[title] for title in now if title not in kept] == ["S101"]


def test_against_an_old_plan_the_difference_is_said() -> None:
    old = plan_of(PRD)
    text = PRD.replace("a refund answers 200", "a refund answers 201").replace(
        "### R10: Webhook retries", "### R11: Something else"
    )
    result = compiled(text, against=old)
    assert result.diff is not None
    assert [name for name, _ in result.diff.changed] == ["S3"]
    assert result.diff.removed == ("S4",) or result.diff.changed  # R11 is another story than R10
    assert result.diff.new == ("S5",)


def test_a_new_story_never_gets_an_id_that_another_has_although_one_was_removed() -> None:
    parts = [f"### R{n}: Title {n}\n\n- [ ] it does {n}\n\n" for n in range(1, 5)]
    first = plan_of("# PRD\n\n" + "".join(parts[:3]))
    second = plan_of("# PRD\n\n" + parts[0] + parts[2], against=first)
    new = plan_of("# PRD\n\n" + parts[0] + parts[2] + parts[3], against=second)
    assert {story.origin.id: story.id for story in new.stories} == {"R1": "S1", "R3": "S3", "R4": "S4"}


ORDERABLE = st.lists(st.integers(1, 30), min_size=1, max_size=12, unique=True)


@settings(max_examples=40)
@given(numbers=ORDERABLE, data=st.data())
def test_the_order_is_the_smallest_that_respects_dependencies(numbers: list[int], data: st.DataObject) -> None:
    """Of the units whose dependencies are placed, the one with the smallest id always comes next."""
    edges = {
        n: data.draw(st.sets(st.sampled_from(numbers[:i]), max_size=3)) if i else set() for i, n in enumerate(numbers)
    }
    shuffled = data.draw(st.permutations(numbers))
    text = "# PRD\n\n" + "".join(
        f"### R{n}: Title {n}\n\n"
        + (f"Depends on: {', '.join(f'R{d}' for d in sorted(edges[n]))}\n\n" if edges[n] else "")
        for n in shuffled
    )
    order = [int(re.sub(r"\D", "", story.origin.id or "")) for story in plan_of(text).stories]
    placed: list[int] = []
    for number in order:
        free = [n for n in numbers if n not in placed and edges[n] <= set(placed)]
        assert number == min(free)
        placed.append(number)
    assert sorted(order) == sorted(numbers)


@given(st.permutations(["R2", "R10", "R1", "R100", "R21", "R10a"]))
def test_ids_sort_as_numbers_wherever_they_stand(ids: list[str]) -> None:
    text = "# PRD\n\n" + "".join(f"### {name}: Title of {name}\n\n" for name in ids)
    assert [story.origin.id for story in plan_of(text).stories] == ["R1", "R2", "R10", "R10a", "R21", "R100"]


@given(st.text(alphabet=st.sampled_from("#-* []x|>`~0123456789.RFS:\n \tab_é要件"), max_size=400))
def test_no_text_makes_the_compiler_fail_and_every_result_is_a_plan_or_a_refusal(text: str) -> None:
    result = compiled("# PRD\n" + text)
    assert (result.plan is None) == bool(result.errors)
    if result.plan:
        assert codec.decode(Plan, codec.canonical(result.plan), "plan.json") == result.plan
        assert all(a.line <= b.line for a, b in pairwise(result.plan.findings))


@each("title", ["Notes", "PRD: Notes", "Risks", "Product requirements: Metrics", "Out of scope"])
def test_the_name_of_the_document_is_no_section_that_work_is_left_out_of(title: str) -> None:
    plan = plan_of(f"# {title}\n\n## R1: One\n\n- [ ] one\n\n## Out of scope\n\n- [ ] two\n")
    assert [story.title for story in plan.stories] == ["One"]


def test_a_plain_line_that_looks_like_a_story_is_reported_with_its_line() -> None:
    plan = plan_of("# PRD\n\n## US-1 Add\n- it adds\n\nUS-2 - Remove\n- [ ] it removes\n")
    (finding,) = (finding for finding in plan.findings if finding.code == "plain_head")
    assert (finding.line, finding.level) == (6, "warning")


def test_words_in_a_list_of_files_are_warned_of_since_the_story_may_touch_more_than_it_names() -> None:
    plan = plan_of(PRD.replace("**Files:** `src/db/tables.py`", "**Files:** `src/db/tables.py`, its helpers"))
    (found,) = [finding for finding in plan.findings if finding.code == "file_not_read"]
    assert (found.level, found.line, found.message.endswith(": its helpers")) == ("warning", 10, True)


def test_what_a_unit_blocks_waits_for_it() -> None:
    tasks = "# Shop\n\n### T-1: Till\n**Blocks**: {0}\n\n### T-2: Receipt\n\n### T-3: Tax\n"
    for names, waiting in (
        ("T-2, T-3", [[], ["S1"], ["S1"]]),
        ("the queue for 2 s", [[], [], []]),
        ("—", [[], [], []]),
    ):
        assert [list(story.depends_on) for story in plan_of(tasks.format(names)).stories] == waiting
    rows = "| ID | Task | Priority | Blocks |\n|---|---|---|---|\n| T-1 | Till | high | T-3 |\n| T-2 | Tax | low | - |\n| T-3 | Receipt | low | launch |\n"
    assert [list(story.depends_on) for story in plan_of(f"# Shop\n\n{rows}").stories] == [[], [], ["S1"]]
    circle = tasks.format("T-2") + "**Blocks**: T-1\n**Depends on**: T-2\n"
    assert codes(compiled(circle)) == ["cycle"]


def test_a_dependency_field_ends_where_the_next_label_begins() -> None:
    fields = "**Status**: open\n**Depends on**: {0}\n**Related**: T-2, T-3\n"
    text = "# Shop\n\n### T-1: Till\n" + fields + "\n### T-2: Receipt\n\n### T-3: Tax\n"
    for names, waiting in (("none", [[], [], []]), ("—", [[], [], []]), ("T-2,\n and T-3", [[], [], ["S1", "S2"]])):
        assert sorted(sorted(story.depends_on) for story in plan_of(text.format(names)).stories) == waiting


def test_what_stands_beside_the_ids_of_a_dependency_field_does_not_unmake_them() -> None:
    text = "# Shop\n\n### T-1: Till\n\n### T-2: Tax\n\n### T-3: Receipt\n**Depends on**: {0}\n"
    for names, codes_, needs in (
        ("T-1 · Estimate: short", [], ["S1"]),
        ("T-1 (which waits for T-2)", ["mentioned_id"], ["S1"]),
        ("T-1, T-2", [], ["S1", "S2"]),
        ("all tasks", ["dependency_unclear"], []),
        ("[]", [], []),
    ):
        result = compiled(text.format(names))
        found = [one.code for one in result.findings if one.code in ("mentioned_id", "dependency_unclear")]
        assert result.plan is not None
        assert (found, list(result.plan.stories[-1].depends_on)) == (codes_, needs)


def test_a_list_of_dependencies_goes_on_in_the_next_line_where_it_was_not_finished() -> None:
    text = "# Shop\n\n### T-1: Till\n\n### T-2: Tax\n\n### T-3: Receipt\nWith the tax.\n**Depends on:** T-1{0}\nT-2\n"
    for end in (",", " and", " &", "、"):
        assert [len(story.depends_on) for story in plan_of(text.format(end)).stories] == [0, 0, 2], end


def test_what_a_unit_does_not_wait_for_is_no_dependency() -> None:
    for label in ("**Not dependent on:**", "Not blocked by:"):
        stories = plan_of(f"# Shop\n\n### T-1: Till\n{label} T-2\n\n### T-2: Tax\n").stories
        assert [story.depends_on for story in stories] == [(), ()], label
