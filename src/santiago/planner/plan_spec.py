"""What a PlanSpec v2 says about the plan as a whole: its id, and the commands that check the run."""

from __future__ import annotations

from santiago.contract.patterns import pattern
from santiago.contract.plan import Finding
from santiago.planner import words
from santiago.planner.draft import Hint
from santiago.planner.findings import note
from santiago.planner.front_matter import entries_of
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.source import Source

_ID = pattern(r"(?m)^[ \t]{0,3}(?:[-*] )?id:[ \t]*[\"'`]?([^\s\"'`#][^\n\"'`#]{0,200})")
_HEADINGS = frozenset({"planspec", "planspec v2", "plan spec", "plan spec v2"})
_CHECKS = ("verify_commands", "verify-commands", "verifycommands")


def plan_id(text: str, name: str) -> str:
    """Return the id of a plan: the value of its `id:` line, else the file name without its ending."""
    found = _ID.search(text)
    return found[1].strip() if found else name.replace("\\", "/").rsplit("/", 1)[-1].rsplit(".", 1)[0]


def declared_checks(source: Source) -> list[Hint]:
    """Return the `verify_commands` of the front matter, or of the code fence under the heading PlanSpec."""
    found = dict(source.front_matter)
    for block in source.outline.blocks:
        if block.kind is Kind.CODE and block.section >= 0 and _is_head(source.outline.blocks[block.section]):
            found.update(entries_of(block.lines[1:], block.line + 1))
    return [
        Hint(value=value, line=line, carrier="front-matter")
        for key in _CHECKS
        if key in found
        for value, line in found[key].items or ((found[key].value, found[key].line),)
        if value
    ]


def told_id(source: Source) -> list[Finding]:
    """Return a note with the id of a PlanSpec, since a plan has no field for it."""
    if not any(block.kind is Kind.HEADING and _is_head(block) for block in source.outline.blocks[:20]):
        return []
    message = f"the id of this plan is {plan_id(source.text, source.name)}"
    return [note("plan_id", 0, message, "Nothing to do; the board knows the plan by it.")]


def _is_head(block: Block) -> bool:
    return words.normal(block.text) in _HEADINGS
