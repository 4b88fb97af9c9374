"""The prompt of a planning turn, for an agent that drafts the whole plan or merges several drafts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.contract.counting import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from santiago.agent.quoting import Fence
    from santiago.contract.ports.agent import Drafting


def whole_plan(drafting: Drafting, folder: str, findings: Sequence[str], notes: Sequence[str], fence: Fence) -> str:
    """Return the prompt. `folder` holds the files that it names."""
    parts = [
        *_task(drafting),
        *fence.notice(),
        "",
        *_wanted(drafting, folder, fence),
        *_said(drafting, notes, fence),
        *(_PLAN if drafting.artifact == "plan" else _DOCUMENT),
        *(_FROM_DOCUMENT if drafting.artifact == "document" and drafting.document else ()),
        *_size(drafting),
        *_checks(drafting),
        *_wrong(findings, fence),
        "## Rules",
        "",
        "- Change nothing in the checkout; write the one file, and nothing else.",
        "- Read the repository first, so that the files, names and commands that you write down are those that are there.",
        "- If you cannot go on without an answer from a person, print one line `SANTIAGO_QUESTION: …` and stop.",
    ]
    return "\n".join(parts) + "\n"


def _task(drafting: Drafting) -> tuple[str, ...]:
    what = "plan" if drafting.artifact == "plan" else "document"
    if drafting.drafts:
        return (
            f"# Merge {len(drafting.drafts)} drafts into one {what}",
            "",
            f"Several agents drafted a {what}, each alone. Take the best of each, and write one that is whole: everything",
            "that the person asks for, nothing twice, and no contradiction. You look at a git checkout that is thrown away.",
        )
    return (
        f"# Draft a {what}",
        "",
        f"You look at a git checkout that is thrown away afterwards. Draft the {what} of the work that is described below,",
        "and do none of it: a person reviews the draft, and coding agents carry it out later, one story at a time, each",
        "judged by its own checks.",
    )


def _wanted(drafting: Drafting, folder: str, fence: Fence) -> list[str]:
    parts = ["## What is wanted", ""]
    if drafting.task:
        parts += fence.around(drafting.task)
    if drafting.document:
        parts += [f"- The document that all of it must come from: `{folder}/{drafting.document}`"]
    if drafting.plan:
        parts += [f"- What stands so far, of which you write a whole new version: `{folder}/{drafting.plan}`"]
    parts += [f"- A draft to merge: `{folder}/{name}`" for name in drafting.drafts]
    return [*parts, ""] if parts[-1] else parts


def _said(drafting: Drafting, notes: Sequence[str], fence: Fence) -> list[str]:
    parts = []
    if drafting.feedback:
        says = "Put this right, and leave everything else as it stands so far:"
        parts += ["## What a person says about what stands so far", "", says, "", *fence.around(drafting.feedback)]
    if notes:
        parts += ["## What a person answered", "", *fence.around("\n".join(notes))]
    return parts


_PLAN = (
    "## What to write",
    "",
    "Write one JSON object to the file that the variable SANTIAGO_DRAFT names, with these keys:",
    "",
    "- `contract_version`: the number 1",
    "- `title`: a text",
    "- `requirements`: a list of objects with `id`, `title` and `criteria`; each criterion an object with `id` and `text`.",
    "  Keep every requirement and every criterion of the document or of what stands so far, word for word, with its id",
    "- `stories`: a list of objects in the order in which they can be built, each with `id` (`S1`, `S2`, …; a story that",
    "  stands so far keeps its id), `title`, `description`, `chunk`, `requirements` and `criteria` (lists of ids),",
    "  `depends_on` (ids of earlier stories), `files` (paths from the top of the repository that it creates or changes) and",
    "  `verify` (shell commands that show it, run at the top of the repository: best the tests of its criteria, one for each)",
    "- `chunks`: a list of objects with `label` and `stories`, in order; a chunk is a part of the work that stands by itself",
    "- `run_verify`: a list of shell commands that show the whole",
    "",
    "It could look like this:",
    "",
    """\
    {"contract_version": 1, "title": "Greetings",
     "requirements": [{"id": "R1", "title": "Greet by name", "criteria": [{"id": "R1.1", "text": "an empty name is refused"}]}],
     "stories": [{"id": "S1", "title": "Greet by name", "description": "`greet` takes a name.", "chunk": "C01_core",
                  "requirements": ["R1"], "criteria": ["R1.1"], "depends_on": [], "files": ["src/greet.py"],
                  "verify": ["python3 -m unittest tests.test_greet"]}],
     "chunks": [{"label": "C01_core", "stories": ["S1"]}], "run_verify": []}""",
    "",
)
_DOCUMENT = (
    "## What to write",
    "",
    "Write a Markdown document to the file that the variable SANTIAGO_DRAFT names. A compiler reads it, so keep to this:",
    "",
    "    # Title",
    "",
    "    ## Phase 1: a part of the work that stands by itself",
    "",
    "    ### REQ-001: What is to hold, in a few words",
    "    A sentence or more about it.",
    "    **Depends on:** REQ-000",
    "    **Files:** `src/one.py`, `tests/test_one.py`",
    "    **Verify:** `python3 -m unittest tests.test_one`",
    "    **Acceptance criteria:**",
    "    - one thing that can be seen to hold",
    "",
    "Every requirement has an id of its own, acceptance criteria and a command that shows it; `Depends on` and `Files` stand",
    "only where there are any.",
    "",
)
_FROM_DOCUMENT = (
    "There is a document already. Keep every sentence of it as it is, and only add. Account for each of its lines:",
    "",
    "    ### REQ-001: What is to hold",
    "    **Source:** 3, 5-8",
    "",
    "    ## Left out of the plan",
    "    - 1-2: tells what the product is",
    "    - 12-14: Payments: for later",
    "",
    "`Source` are the lines of the document that a requirement comes from, by their numbers there. What no requirement comes",
    "from is named in the section `Left out of the plan`, with its lines, the name of its section and why.",
    "",
)


def _size(drafting: Drafting) -> list[str]:
    size = drafting.size
    wishes = []
    if size.chunks:
        wishes.append(f"- about {count(size.chunks, 'chunk')}")
    if size.stories:
        wishes.append(f"- about {count(size.stories, 'story', 'stories')} in all")
    if size.depth:
        wishes.append(f"- depth: {size.depth} ({_DEPTHS[size.depth]})")
    return ["## How large", "", *wishes, ""] if wishes else []


_DEPTHS = {
    "shallow": "a few large stories",
    "medium": "stories that take an agent a quarter of an hour",
    "deep": "many small stories, each shown by a test of its own",
}


def _checks(drafting: Drafting) -> list[str]:
    if not drafting.commands:
        return []
    says = "These judge every story anyway; do not repeat them:"
    return ["## Checks", "", says, "", *(f"    {command}" for command in drafting.commands), ""]


def _wrong(findings: Sequence[str], fence: Fence) -> list[str]:
    if not findings:
        return []
    says = "You wrote one that cannot be taken. Write it again, with all of this put right:"
    return [
        "## What is wrong with your last version",
        "",
        says,
        "",
        *fence.around("\n".join(f"- {one}" for one in findings)),
    ]
