"""A detailed plan: what an agent wrote is taken or refused with its place, looked through, shown, compared, made into work."""

import json
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from santiago.contract.codec import canonical, digest
from santiago.contract.plan import LONGEST_DETAIL, Detail, Origin, Substep
from santiago.executor import detailed_plan, proposing
from tests.contract.histories import plan_of
from tests.util.each import each

STORY = replace(plan_of(S2="").stories[0], title="Greet by name", files=(), verify=("make test",), requirements=("R2",))
SUBSTEPS = (
    Substep(title="Parse", actions=("Read the name.",), files=("src/parse.py",), checks=("make parse",)),
    Substep(title="Print", actions=("Print it.", "Print\nmore."), checks=("make print", "make parse")),
)
DETAIL = Detail(
    contract_version=1, objective="A name is greeted.", create=("src/new.py",), modify=("src/greet.py",),
    delete=("src/old.py",), actions=("Add a parameter.", "Test it."), checks=("make greet",), substeps=SUBSTEPS,
)  # fmt: skip
FILES = ("src/greet.py", "src/old.py", "src/parse.py")


def data(**given: Any) -> dict[str, Any]:
    return {**json.loads(canonical(DETAIL)), **given}


def refusal(text: str | None) -> str:
    detail, said = proposing.read(text)
    assert detail is None
    assert len(said) == 1
    return said[0]


def found(changed: tuple[str, ...] = (), commands: tuple[str, ...] = ("make test",), **given: Any) -> list[str]:
    return proposing.faults_of(replace(DETAIL, **given), STORY, files=FILES, commands=commands, changed=changed)


# The parts that the document itself gives a step

OWN = replace(
    STORY, origin=Origin(id="2", line=1),
    description="Greet.\nStep 2.1: Parse the name\nBy hand.\nStep 2.2 (done): Sign\nStep 2.3: `Print` it\nStep 3.1: Elsewhere",
)  # fmt: skip


@each(
    ("titles", "left_out", "retitled"),
    [
        (["Parse the name", "Print it"], [], []),
        (["2.1 parse  the NAME.", "Check", "Step 2.3: `Print` it"], [], []),
        (["Parse the name"], ["2.3"], []),
        (["Set up", "Parse the name"], ["2.3"], []),
        ([], ["2.1", "2.3"], []),
        (["Read it", "Print it"], [], ["S2.1"]),
    ],
)
def test_line_82_parts_of_the_document_that_a_plan_leaves_out_or_calls_otherwise_are_named(
    titles: list[str], left_out: list[str], retitled: list[str]
) -> None:
    plan = replace(DETAIL, substeps=tuple(replace(SUBSTEPS[0], title=title) for title in titles))
    said = " ".join(proposing.faults_of(plan, OWN, files=FILES, commands=("make",), changed=()))
    assert [name for name in ("2.1", "2.2", "2.3", "3.1") if f"Step {name} " in said] == left_out
    assert [name for name in ("S2.1", "S2.2") if f"substep {name}, title: the document" in said] == retitled
    assert proposing.lacks(plan, OWN) == ("part" if left_out else "")
    bare = replace(plan, substeps=(*plan.substeps, replace(SUBSTEPS[1], checks=(" ",))))
    assert proposing.lacks(bare, OWN) == "check", "line 12: that comes first, since no word helps against it"


# Reading


@each("around", ["%s", "\n%s\n\n", "```json\n%s\n```", "```\n%s\n```\n"])
def test_a_plan_is_read_also_inside_a_fence_has_one_digest_and_needs_no_more_than_an_objective_and_actions(
    around: str,
) -> None:
    assert proposing.read(around % canonical(DETAIL).decode()) == (DETAIL, [])
    otherwise, _ = proposing.read(around % json.dumps(dict(reversed(data().items()))))
    assert digest(otherwise) == digest(DETAIL)
    smallest = Detail(contract_version=1, objective="o", actions=("a",))
    assert proposing.read(around % '{"objective": "o", "actions": ["a"]}') == (smallest, [])


def test_unknown_fields_are_said_and_left_out_and_the_plan_is_taken() -> None:
    substeps = [{**data()["substeps"][0], "owner": "me"}, data()["substeps"][1]]
    detail, said = proposing.read(json.dumps(data(risks=["x"], substeps=substeps)))
    assert detail == DETAIL
    assert said == ['unknown field "risks": it was left out', 'unknown field "substeps[0].owner": it was left out']


@each(
    ("text", "fault"),
    [
        (None, "no detailed plan was written: the file that SANTIAGO_DETAIL names is missing or empty"),
        (" \n", "no detailed plan was written"),
        ('{\n "objective": }', "the detailed plan, line 2: not valid JSON"),
        ("[]", "the detailed plan: a JSON object is expected"),
        ('"words"', "a JSON object is expected"),
        ('{"objective": "a", "objective": "b"}', "the key objective stands twice"),
        ("[" * 100_000, "nested too deeply"),
        (json.dumps(data(contract_version=2)), "contract_version 2 is not known here"),
        (json.dumps({"objective": "o"}), "actions is missing"),
        (json.dumps(data(actions="Do it.")), "actions: input should be"),
        (json.dumps(data(substeps=[{"actions": []}])), "substeps[0].title is missing"),
        (json.dumps(data(substeps=["one"])), "substeps[0]"),
        (json.dumps(data(actions=["a"] * 51)), "actions has 51 entries; 50 are the most"),
        (json.dumps(data(create=["a"] * 201)), "create has 201 entries; 200 are the most"),
        (json.dumps(data(substeps=[{"title": "t", "actions": []}] * 21)), "substeps has 21 entries; 20 are the most"),
        (json.dumps(data(objective="x" * 4001)), "objective has 4001 characters; 4000 are the most"),
        (json.dumps(data(actions=["ok", "a\x1b[2Jb"])), "actions[1] holds the control character U+001B"),
        (json.dumps(data(checks=["true\nrm -rf x"])), "checks[0] holds the control character U+000A"),
        (json.dumps(data(checks=["a\u202eb"])), "checks[0] holds the control character U+202E"),
        (json.dumps(data(checks=["a\u200db"])), "checks[0] holds the control character U+200D"),
        (json.dumps(data(objective="a\u2028b")), "objective holds the control character U+2028"),
        (
            json.dumps(data(substeps=[{"title": "a\rb", "actions": []}])),
            "substeps[0].title holds the control character",
        ),
        (json.dumps(data(objective="x" * LONGEST_DETAIL)), "larger than 256 KiB"),
        ("é" * (LONGEST_DETAIL // 2 + 1), "larger than 256 KiB"),
    ],
)
def test_what_is_no_plan_is_refused_with_its_place(text: str | None, fault: str) -> None:
    assert fault in refusal(text)


def test_prose_may_have_lines_and_letters_of_all_scripts() -> None:
    text = "Eins:\n\tzwei \U0001f469\u200d\U0001f4bb \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    detail, said = proposing.read(json.dumps(data(objective=text, actions=[text])))
    assert detail is not None
    assert (detail.objective, detail.actions, said) == (text, (text,), [])


@given(st.text() | st.recursive(st.none() | st.integers() | st.text(), lambda one: st.lists(one)).map(json.dumps))
def test_whatever_an_agent_writes_is_a_plan_or_a_finding(text: str) -> None:
    detail, said = proposing.read(text)
    assert detail is not None or said


# Looking through


def test_a_good_plan_has_no_findings_and_a_path_outside_or_into_what_is_git_s_or_santiago_s_is_found() -> None:
    assert found() == found(commands=()) == found(checks=()) == []
    for path in ("/etc/passwd", "../up", "src/../../up", "~/.bashrc", "C:/x", "..\\up"):
        outside = f"{json.dumps(path)} lies outside the repository; name it by its path from the top"
        assert found(create=(path,)) == [f"create: {outside}"]
        assert found(delete=(path,)) == [f"delete: {outside}"]
        substep = replace(SUBSTEPS[0], files=(path,))
        assert found(substeps=(substep,)) == [f"substep S2.1, files: {outside}"]
    for path in (".git/config", "sub/.GIT/hooks/x", ".santiago/runs/a"):
        assert "which must not be changed" in found(create=(path,))[0], path


@each(
    ("given", "finding"),
    [
        ({"modify": ("src/none.py",)}, 'modify: "src/none.py" is no file of the repository'),
        ({"delete": ("src",)}, 'delete: "src" is no file of the repository'),
        ({"create": ("./src/greet.py",), "modify": ()}, 'create: "./src/greet.py" is there already'),
        ({"delete": ("src/greet.py",)}, 'delete: "src/greet.py" stands under modify already'),
        ({"create": ("",)}, 'create: "" names no file'),
        ({"create": ("./",)}, 'create: "./" names no file'),
        ({"objective": " "}, "objective: it is empty"),
        ({"actions": ()}, "actions: there is none"),
        ({"actions": ("a", " ")}, "actions: 2 is empty"),
        ({"checks": ("a", "b", "a")}, 'checks: 3 stands there twice: "a"'),
        ({"checks": ("a", "")}, "checks: 2 is empty"),
        ({"checks": (" ",), "commands": ()}, "checks: there is none, so nothing could judge the work"),
        ({"substeps": (replace(SUBSTEPS[0], title=""),)}, "substep S2.1, title: it is empty"),
        ({"substeps": (replace(SUBSTEPS[0], actions=()),)}, "substep S2.1, actions: there is none"),
        ({"changed": ("a", "b")}, 'files were changed while the plan was written, and are thrown away: "a", "b"'),
    ],
)
def test_what_is_wrong_with_a_plan_is_found(given: dict[str, Any], finding: str) -> None:
    assert finding in found(**given)


def test_a_substep_that_nothing_judges_is_found_whatever_judges_the_story() -> None:
    """acceptance 12."""
    substeps = (SUBSTEPS[0], replace(SUBSTEPS[1], checks=()))
    assert found(substeps=substeps) == ["substep S2.2, checks: there is none; a substep needs a command that judges it"]


def test_findings_are_few_and_short_however_bad_a_plan_is() -> None:
    many = found(create=tuple(f"/{'x' * 4000}{number}" for number in range(200)))
    assert len(many) == detailed_plan.MOST_FINDINGS
    assert many[-1] == "… and 171 more"
    assert max(map(len, many)) < 250
    names = tuple(f"f{number}\x1b" for number in range(7))
    assert found(changed=names)[0].endswith('"f3\ufffd", "f4\ufffd" and 2 more')


# Showing


def test_a_plan_is_shown_whole() -> None:
    assert (
        detailed_plan.markdown(STORY, DETAIL, ["delete: x is no file"])
        == """\
# S2: Greet by name

> A name is greeted.

## Files

- create `src/new.py`
- modify `src/greet.py`
- delete `src/old.py`

## Actions

1. Add a parameter.
2. Test it.

## Checks

    make greet

## Substep S2.1: Parse

1. Read the name.

Files:

- `src/parse.py`

Checks:

    make parse

## Substep S2.2: Print

1. Print it.
2. Print
    more.

Checks:

    make print
    make parse

## What santiago found

- delete: x is no file
"""
    )


def test_no_text_of_a_plan_passes_for_a_part_of_it() -> None:
    forged = "Fine.\n\n## Checks\n\n    true\n1. x"
    substep = Substep(title="t", actions=(forged,), checks=("c",))
    detail = Detail(contract_version=1, objective=forged, actions=(forged,), substeps=(substep,))
    shown = detailed_plan.markdown(STORY, detail).splitlines()
    headings = ["# S2: Greet by name", "## Actions", "## Substep S2.1: t"]
    assert [line for line in shown if line.startswith("#")] == headings
    assert [line for line in shown if line[:1].isdigit()] == ["1. Fine.", "1. Fine."]


@each(
    ("given", "line"),
    [
        ({"objective": "Other."}, 'objective: changed to "Other."'),
        ({"create": ()}, 'create: "src/new.py" is gone'),
        ({"create": ("src/new.py", "b")}, 'create: "b" is new'),
        ({"actions": ("Add a parameter.", "Say so.", "Test it.")}, 'actions: 2 is new: "Say so."'),
        ({"actions": ("Test it.",)}, 'actions: 1 is gone: "Add a parameter."'),
        ({"actions": ("Add a parameter.", "Test\nit well.")}, 'actions: 2 changed to "Test it well."'),
        ({"checks": ()}, 'checks: 1 is gone: "make greet"'),
        ({"substeps": SUBSTEPS[1:]}, 'substeps: 1 is gone: "Parse"'),
        ({"substeps": (*SUBSTEPS, replace(SUBSTEPS[0], title="New"))}, 'substeps: 3 is new: "New"'),
        ({"substeps": (SUBSTEPS[0], replace(SUBSTEPS[1], title="Show"))}, 'substep 2: changed to "Show", was "Print"'),
        (
            {"substeps": (SUBSTEPS[0], replace(SUBSTEPS[1], checks=("make print",)))},
            'substep 2, checks: 2 is gone: "make parse"',
        ),
        ({"substeps": (replace(SUBSTEPS[0], files=()), SUBSTEPS[1])}, 'substep 1, files: "src/parse.py" is gone'),
    ],
)
def test_a_difference_names_what_changed_and_nothing_else(given: dict[str, Any], line: str) -> None:
    """acceptance 33."""
    assert detailed_plan.difference(DETAIL, replace(DETAIL, **given)) == line


def test_a_difference_is_empty_where_nothing_changed_and_never_long() -> None:
    assert detailed_plan.difference(DETAIL, DETAIL) == ""
    other = replace(DETAIL, actions=tuple(f"{number} {'x' * 3000}" for number in range(50)))
    lines = detailed_plan.difference(DETAIL, other).splitlines()
    assert len(lines) == detailed_plan.MOST_LINES
    assert lines[-1] == "… and 11 more"
    assert max(map(len, lines)) < 200
    assert detailed_plan.short("x" * detailed_plan.SHORT) == f'"{"x" * detailed_plan.SHORT}"'
    assert detailed_plan.short("x" * (detailed_plan.SHORT + 1)) == f'"{"x" * (detailed_plan.SHORT - 1)}…"'


# Carrying out


def test_what_is_approved_with_a_plan_is_every_command_once() -> None:
    """acceptance 78."""
    detail = replace(DETAIL, checks=("make greet", " ", "make print"))
    assert detailed_plan.commands(detail) == ("make greet", "make print", "make parse")


def test_a_substep_is_a_story_of_its_own_with_what_the_plan_says_of_it() -> None:
    """acceptance 10 and 12."""
    parent = replace(STORY, criteria=("R2#1",), depends_on=("S1",), claimed_done=True, origin=Origin(id="R2", line=7))
    assert detailed_plan.substep_ids("S2", DETAIL) == ("S2.1", "S2.2")
    second = detailed_plan.substep(parent, DETAIL, 2)
    assert (second.id, second.title, second.description) == ("S2.2", "Print", "1. Print it.\n2. Print\n    more.")
    assert (second.verify, second.files) == (("make print", "make parse"), ())
    assert (second.requirements, second.chunk, second.role) == (("R2",), parent.chunk, parent.role)
    assert (second.criteria, second.depends_on, second.claimed_done) == ((), (), False)
    assert second.origin == Origin(id=None, line=7)


def test_a_story_gets_the_checks_of_its_plan_and_its_files_where_it_names_none() -> None:
    plan = replace(DETAIL, checks=("make greet", "", "make test"), delete=("./src/old.py", "src/greet.py"))
    story = detailed_plan.detailed(STORY, plan)
    assert story.verify == ("make test", "make greet")
    assert story.files == ("src/new.py", "src/greet.py", "src/old.py")
    assert detailed_plan.detailed(replace(STORY, files=("a",)), DETAIL).files == ("a",)
