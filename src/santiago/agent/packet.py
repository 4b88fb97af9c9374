"""The prompt of one attempt. Text that others wrote is put between markers, as data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.agent.drafting import whole_plan
from santiago.agent.quoting import Fence
from santiago.contract.plan import LONGEST_DETAIL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.contract.ports.agent import Packet

VERSION = 6
"""Version of the wording below. A run records it with every prompt."""
MAX_CRITIQUES = 3
MOST_CONTEXT = 20_000
"""Characters of the document's context. The plan holds less."""


def render(packet: Packet, marker: str | None = None) -> str:
    """Return the prompt of one attempt. The marker cannot be guessed, so no document can end its own quotation."""
    fence = Fence(marker)
    if packet.drafting is not None:
        return whole_plan(packet.drafting, packet.plan_folder, packet.findings, packet.notes, fence)
    story = packet.story
    parts = [
        _title(packet),
        "",
        *_task(packet),
        *fence.notice(),
        "",
        "## The story",
        "",
        *fence.around(_story_text(packet)),
        *_context(packet, fence),
        *_section("## Files", "The work is expected in these files:", story.files),
        *_checks(packet),
        *_tests(packet),
        *(_plan_asked(packet) if packet.proposes else _evidence(packet)),
        *_plan_approved(packet, fence),
        *_scope(packet, fence),
        *_history(packet, fence),
        "## Rules",
        "",
        *_rules(packet),
        "",
        f"(packet version {VERSION})",
    ]
    return "\n".join(parts) + "\n"


_TASK = (
    "You work in a git checkout that is yours alone. Carry out this one story, completely, and nothing else.",
    "Your work is judged by the checks below, run by someone else in a clean checkout of what you leave behind;",
    "what you say about it does not count. Committed or not makes no difference.",
)
_TESTS_TASK = (
    "You work in a git checkout that is yours alone. Write the tests of this one story, and nothing else: somebody else",
    "implements it later, and your tests will judge that work. Whether they are good is found out by running the checks",
    "below in a clean checkout of what you leave behind. Committed or not makes no difference.",
)
_SHOW_TASK = (
    "You work in a git checkout that is yours alone. This one story is implemented: its work is in this folder and passes",
    "the checks below, but no test fails without it. Add the test that is missing, and nothing else: a test that passes",
    "with this work and fails without it. Committed or not makes no difference.",
)
_SHOW_RULES = (
    "- Put the test where the checks run it. Leave the work as it is, unless your test shows that it is wrong.",
    "- You may change existing tests, but they are also run as they were before: what passed must still pass.",
)
_RULES = (
    "- Add tests for what you do: a new test that fails without your work is the best proof of it.",
    "- You may change existing tests, but they are also run as they were before: what passed must still pass.",
)
_TESTS_RULES = (
    "- Write tests only, from the acceptance criteria: at least one for each. Anything else that you change is left out.",
    "- They must run and fail now, because what the story asks for is not there; a test that passes now shows nothing.",
    "- Test what the story asks for by the names, files and outputs that it tells; leave open what it leaves open.",
    "- Leave existing tests as they are, and use no packages that are not installed here.",
)
_COMMON_RULES = (
    "- Do not work on other stories.",
    "- If you cannot go on without an answer from a person, print one line `SANTIAGO_QUESTION: …` and stop.",
)
_PLAN_TASK = (
    "You look at a git checkout that is thrown away afterwards. Plan in detail how this one story is to be carried out, and",
    "do nothing of it: a person reads the plan, and only when it is approved somebody carries it out, who knows no more",
    "than this story and your plan.",
)
_PLAN_RULES = (
    "- Change nothing in the checkout. Read whatever you need to read, so that the plan fits what is there.",
    "- Plan this story only, all of it, and nothing that it does not ask for.",
    "- Ask no question: what is open is a choice that you make, and name in the objective for the person to correct.",
)


def _title(packet: Packet) -> str:
    if packet.proposes:
        return f"# Story {packet.story.id}, proposal {packet.proposal}: plan it in detail"
    asked = ": write its tests" if packet.tests_only else ": add the test that is missing" if packet.shows else ""
    return f"# Story {packet.story.id}, attempt {packet.attempt}{asked}"


def _task(packet: Packet) -> tuple[str, ...]:
    if packet.proposes:
        return _PLAN_TASK
    return _TESTS_TASK if packet.tests_only else _SHOW_TASK if packet.shows else _TASK


def _rules(packet: Packet) -> tuple[str, ...]:
    if packet.proposes:
        return _PLAN_RULES
    return (*(_TESTS_RULES if packet.tests_only else _SHOW_RULES if packet.shows else _RULES), *_COMMON_RULES)


def _story_text(packet: Packet) -> str:
    story = packet.story
    lines = [story.title]
    if story.description:
        lines += ["", story.description]
    if packet.criteria:
        lines += ["", "Acceptance criteria:", *(f"- {name}: {text}" for name, text in packet.criteria)]
    return "\n".join(lines)


def _context(packet: Packet, fence: Fence) -> list[str]:
    """Return what else the document says, and name what there is no room for."""
    told = [row for row in packet.context if row.text]
    cut = [f"{row.title} (line {row.lines[0]})" for row in packet.context if not row.text or row.text.endswith("…")]
    if not packet.context:
        return []
    return [
        "## Context",
        "",
        "The document also says this. It tells about the work, and asks for nothing by itself:",
        "",
        *fence.around("\n\n".join(row.text for row in told), MOST_CONTEXT),
        *([f"Cut for length, and to be read in the document where it matters: {', '.join(cut)}", ""] if cut else []),
    ]


def _section(title: str, says: str, items: Sequence[str]) -> list[str]:
    return [title, "", says, "", *(f"- `{item}`" for item in items), ""] if items else []


def _checks(packet: Packet) -> list[str]:
    if not packet.commands:
        return []
    says = "All of these must pass:"
    if packet.tests_only:
        says = "These run the tests, and must pass once the story is implemented:"
    elif packet.proposes:
        says = "These judge the work, and must pass once the story is carried out:"
    return ["## Checks", "", says, "", *(f"    {command}" for command in packet.commands), ""]


def _tests(packet: Packet) -> list[str]:
    """Return the lines that say where tests are: those that judge this story, or examples of the repository."""
    if packet.tests_by:
        says = "The tests of this story stand already, and fail because it is not there. Make them pass as they are:"
        return _section("## Tests", says, packet.test_files)
    if not packet.tests_only:
        return []
    says = "Put them where the checks find them. Test files of this repository are called like these:"
    none = "This repository has no tests yet. Put yours where the checks find them, such as `tests/test_example.py`."
    return _section("## Tests", says, packet.test_files) or ["## Tests", "", none, ""]


def _evidence(packet: Packet) -> list[str]:
    """Return the lines that ask for the test that shows each criterion."""
    work = "the work" if packet.tests_only else "your work"
    name = packet.criteria[0][0] if packet.criteria else "story"
    asked = [
        "For each acceptance criterion name the test that shows it. Write a JSON object to the file that the variable",
        f"SANTIAGO_EVIDENCE names: the criterion's id, and the id of a test (or a command) that fails without {work}:",
        "",
        f'    {{"{name}": "tests/test_example.py::test_name"}}',
        "",
    ]
    excuse = [
        "If no test can fail without the work, write there why, in a word or two; a person is told, and decides:",
        "",
        '    {"no_test": "refactoring"}',
        "",
    ]
    return ["## Evidence", "", *(asked if packet.criteria else []), *([] if packet.tests_only else excuse)]


def _plan_asked(packet: Packet) -> list[str]:
    numbers = ", ".join(f"Step {number}" for number, _ in packet.story.substeps)
    bound = [
        f"  The story has parts of its own: {numbers}. `substeps` has each of them, in this order, with its title."
    ]
    return [
        "## What to write",
        "",
        "Write one JSON object to the file that the variable SANTIAGO_DETAIL names, with these keys and no others:",
        "",
        "- `contract_version`: the number 1",
        "- `objective`: a text, what holds when the story is done",
        "- `create`, `modify`, `delete`: lists of files, by their paths from the top of the repository",
        "- `actions`: a list of texts, what is to be done, in order; each says what, where and how",
        "- `checks`: a list of shell commands that show the work, beside those above; they run at the top of the repository",
        "- `substeps`: an empty list, or, where the story is too much to be done at once, its parts in order; each an object",
        "  with `title`, `actions`, `files` and `checks`, and at least one check that shows this part alone",
        *(bound if numbers else ()),
        "",
        "It could look like this:",
        "",
        *(f"    {line}" for line in _EXAMPLE.splitlines()),
        "",
    ]


_EXAMPLE = """\
{
  "contract_version": 1,
  "objective": "`greet` takes a name and returns a greeting with it.",
  "create": ["tests/test_greet.py"],
  "modify": ["src/greet.py"],
  "delete": [],
  "actions": [
    "Give `greet` in src/greet.py a parameter `name`, and put it into the text that it returns.",
    "Test it in tests/test_greet.py with a name, and with an empty one."
  ],
  "checks": ["python3 -m unittest tests.test_greet"],
  "substeps": []
}"""


def _plan_approved(packet: Packet, fence: Fence) -> list[str]:
    if not packet.detail:
        return []
    return [
        "## The plan",
        "",
        "A person approved this detailed plan of the story. Carry it out; what a person says further below goes before it:",
        "",
        *fence.around(packet.detail.strip(), LONGEST_DETAIL),
        *([f"(sha256 {packet.detail_digest})", ""] if packet.detail_digest else []),
    ]


def _scope(packet: Packet, fence: Fence) -> list[str]:
    if not packet.chunk_titles:
        return []
    return [
        "## Where this belongs",
        "",
        f"- The chunk of the plan that is being worked on: `{packet.plan_folder}/plan.json`",
        f"- The whole plan: `{packet.plan_folder}/planning_docs/full_plan.json`",
        "",
        "Both are there for you to read; do not change them. This chunk holds:",
        "",
        *fence.around("\n".join(f"- {title}" for title in packet.chunk_titles)),
    ]


def _history(packet: Packet, fence: Fence) -> list[str]:
    parts: list[str] = []
    if packet.before:
        says = "Write a whole new one, in which what follows it here is put right, and the rest stays:"
        parts += ["## The proposal before", "", says, "", *fence.around(packet.before.strip(), LONGEST_DETAIL)]
    if packet.findings:
        parts += [
            "## What is wrong with the proposal before",
            "",
            *fence.around("\n".join(f"- {one}" for one in packet.findings)),
        ]
    if packet.critiques:
        parts += ["## What was wrong with earlier attempts", ""]
        for text in packet.critiques[-MAX_CRITIQUES:]:
            parts += fence.around(text.strip())
    if packet.notes:
        parts += ["## What a person says", "", *fence.around("\n".join(packet.notes))]
    return parts
