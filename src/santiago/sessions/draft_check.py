"""Checks an agent's draft: it must be a valid plan, or a document that the compiler reads without doubt."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from santiago.contract import codec
from santiago.contract.box_ticks import digest_of
from santiago.contract.codec import sealed
from santiago.contract.counting import few
from santiago.contract.errors import SantiagoError
from santiago.contract.lazy_regex import pattern
from santiago.contract.plan import (
    DRAFTED,
    NOT_UNDERSTOOD,
    Criterion,
    Finding,
    Origin,
    Plan,
    Requirement,
    Source,
)
from santiago.contract.record import record
from santiago.contract.session import LONGEST_DRAFT
from santiago.executor.proposing import unwrapped
from santiago.planner.compile import compile_plan, faults_of_plan
from santiago.planner.source import Source as Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from santiago.contract.plan import Plan
    from santiago.contract.session import SessionInput, SizeWishes

MOST = 30
"""How many findings an agent or a person is told."""
SECTION = "Left out of the plan"
"""The heading of the section that names what no requirement comes from."""
MOST_LINES = 10
"""How many lines one complaint names."""
_SOURCE = pattern(r"[*_\s]*source(?: lines?)?[*_]*\s*:[*_\s]*(.+)", re.IGNORECASE)
_ITEM = pattern(r"\s*[-*]\s+(?:lines?\s+)?([\d\s,–-]+?)\s*[:.]\s*(.*)", re.IGNORECASE)
_RANGE = pattern(r"(\d{1,6})(?:\s*(?:-|–|to)\s*(\d{1,6}))?")
_NO_TEXT = pattern(r"\s*(?:#{1,6}\s.*|[-*_=|:\s]*)$")
"""A heading, a rule or a blank line, which needs no account."""


@record
class Draft:
    """A checked draft. It can be used only if it has a plan."""

    plan: Plan | None
    findings: tuple[str, ...] = ()
    """Why not."""
    text: str = ""
    """For a document: the text that is written to its file."""


@record
class Ground:
    """What a draft is checked against."""

    asked: SessionInput
    source: str
    """The document that the session began with; empty if there is none."""
    given: Plan | None
    """That document, compiled; None if the compiler finds nothing to plan in it."""
    before: Plan | None
    """The revision before."""
    history: tuple[str, ...]
    """Who decided what, up to this revision."""


def given(asked: SessionInput, source: str) -> Plan | None:
    """Return the compiled document that a session began with; None if the compiler finds nothing to plan.

    If the session began with a plan of santiago, that plan is returned.
    """
    if not source:
        return None
    if source.lstrip().startswith("{"):
        with suppress(SantiagoError):
            return codec.decode(Plan, source.encode(), asked.document)
    return compile_plan(Text(source, path=asked.document)).plan


def looked_through(text: str | None, ground: Ground) -> Draft:
    """Return the draft that an agent wrote, or what is wrong with it."""
    if text is None or not text.strip():
        return _refused("nothing was written: the file that SANTIAGO_DRAFT names is missing or empty")
    if len(text) > LONGEST_DRAFT:
        return _refused(f"it is longer than {LONGEST_DRAFT:,} characters")
    if ground.asked.artifact == "document":
        return _document(text, ground)
    return _plan(unwrapped(text), ground)


def _plan(text: str, ground: Ground) -> Draft:
    try:
        drafted = codec.parse_json(text.encode("utf-8", "replace"), "the draft")
    except SantiagoError as error:
        return _refused(f"line {error.line or 1}: {error.message}")
    if not isinstance(drafted, dict) or not {"contract_version", "stories", "chunks"} <= set(drafted):
        return _refused('it is not a plan: it needs "contract_version", "stories" and "chunks"')
    compiled = compile_plan(Text(text, path="draft.json"), against=ground.before or ground.given)
    if compiled.plan is None:
        return _refused(*map(_said, compiled.errors))
    plan = _as_drafted(compiled.plan, drafted, ground.given)
    if lost := [*_uncovered(plan, ground.given)]:
        return _refused(*lost)
    began = sha256(ground.asked.task.encode()).hexdigest()
    if ground.asked.source:  # in the form that ticks do not change
        began = digest_of(Text(ground.source, path=ground.asked.document).text)
    path = ground.asked.document or f"sessions/{ground.asked.session_id}"
    source = Source(path=path, sha256=began, format=DRAFTED, evidence=ground.history)
    # What a document says beside its work is kept. What is the work, the person decides who reviews the plan.
    rows = ground.given.account if ground.given else ()
    account = tuple(row for row in rows if row.became != "planned" and row.why != NOT_UNDERSTOOD)
    # Line numbers of the draft mean nothing to people, who do not have that file.
    findings = (*(replace(one, line=0) for one in plan.findings), *_missed(plan, ground.asked.size))
    plan = sealed(replace(plan, source=source, findings=findings, account=account))
    faults = faults_of_plan(Text(codec.canonical(plan).decode(), path="plan.json"))
    return _refused(*map(_said, faults)) if faults else Draft(plan=plan)


def _as_drafted(plan: Plan, drafted: Any, given: Plan | None) -> Plan:
    """Return the plan with requirements as the draft assigns them: a story may cover several, and several stories one."""
    own = [one for one in drafted.get("requirements") or () if isinstance(one, dict) and isinstance(one.get("id"), str)]
    lines = {one.id: one.line for one in given.requirements} if given else {}
    requirements = {one["id"]: _requirement(one, lines.get(one["id"], 0)) for one in own}
    known = {criterion.id for one in requirements.values() for criterion in one.criteria}
    of = {criterion.id: one.id for one in requirements.values() for criterion in one.criteria}
    stories, by_id = [], {str(one["id"]): one for one in drafted["stories"]}
    for story in plan.stories:
        written = by_id[str(story.origin.id)]
        criteria = tuple(name for name in _texts(written.get("criteria")) if name in known)
        covers = [name for name in _texts(written.get("requirements")) if name in requirements]
        covers = list(dict.fromkeys((*covers, *(of[name] for name in criteria)))) or [story.id]
        if covers == [story.id] and story.id not in requirements:
            requirements[story.id] = Requirement(
                id=story.id, title=story.title, text=story.description, line=0, criteria=()
            )
        origin = Origin(id=covers[0] if covers[0] in lines else None, line=lines.get(covers[0], 0))
        stories.append(replace(story, requirements=tuple(covers), criteria=criteria, origin=origin, provenance=()))
    used = {name for story in stories for name in story.requirements}
    kept = tuple(one for one in requirements.values() if one.id in used)
    return replace(plan, stories=tuple(stories), requirements=kept)


def _requirement(written: dict[str, Any], line: int) -> Requirement:
    criteria = [
        one for one in written.get("criteria") or () if isinstance(one, dict) and isinstance(one.get("id"), str)
    ]
    return Requirement(
        id=written["id"],
        title=str(written.get("title") or written["id"]),
        text=str(written.get("text") or ""),
        line=line,
        criteria=tuple(Criterion(id=one["id"], text=str(one.get("text") or ""), line=line) for one in criteria),
    )


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def _uncovered(plan: Plan, given: Plan | None) -> Iterator[str]:
    """Yield requirements and criteria of the document that no story covers."""
    if given is None:
        return
    covered = {name for story in plan.stories for name in story.requirements}
    used = {name for story in plan.stories for name in story.criteria}
    met = {_plain(one.text) for requirement in plan.requirements for one in requirement.criteria if one.id in used}
    for requirement in given.requirements:
        if requirement.id not in covered:
            yield f"no story covers {requirement.id} ({_short(requirement.title)}): name it in the requirements of one"
        for criterion in requirement.criteria:
            if _plain(criterion.text) not in met:
                yield f"no story has the criterion {criterion.id} word for word: {_short(criterion.text)}"


def _missed(plan: Plan, size: SizeWishes) -> Iterator[Finding]:
    """Yield a warning if a plan's size is far from the wished one."""
    for what, wished, there in (
        ("chunks", size.chunks, len(plan.chunks)),
        ("stories", size.stories, len(plan.stories)),
    ):
        if wished and not wished * 0.5 <= there <= wished * 1.5:
            yield Finding(
                level="warning",
                code="size_missed",
                line=0,
                message=f"about {wished} {what} were asked for, but the plan has {there}",
                hint="Ask for another turn, or take it as it is.",
            )


def _document(text: str, ground: Ground) -> Draft:
    """Return the draft of a document. The compiler must find in it all that a run needs, and be able to read all of it."""
    text = text.replace("\r\n", "\n").rstrip("\n") + "\n"
    compiled = compile_plan(Text(text, path="draft.md"))
    plan = compiled.plan
    wrong = [_said(one) for one in compiled.findings if one.level != "note"]
    wrong += [*_changed_lines(ground.source, text)]
    if plan is not None:
        wrong += _not_taken(plan, text, ground.source)
        wrong += [*faults(text, plan, ground.source)] if ground.source else []
        wrong += [
            f'line {row.lines[0]}: "{row.title}" holds no requirement, and "{SECTION}" does not name it'
            for row in plan.account
            if row.why == NOT_UNDERSTOOD
        ]
        wrong += [f"{one.title}: it has no id" for one in plan.stories if one.origin.id is None]
        wrong += [
            f"{_called(one.origin.id, one.title)}: no acceptance criterion" for one in plan.stories if not one.criteria
        ]
        wrong += [
            f"{_called(one.origin.id, one.title)}: no command that shows it" for one in plan.stories if not one.verify
        ]
    if plan is None or wrong:
        return _refused(*wrong)
    return Draft(plan=plan, text=text)


def _not_taken(plan: Plan, text: str, source: str) -> Iterator[str]:
    """Yield new headings at the level of requirements that the compiler does not read as requirements."""
    lines, own = text.split("\n"), {_plain(line) for line in source.split("\n")}
    taken = {story.origin.line for story in plan.stories}
    levels = {_level(lines[number - 1]) for number in taken if number} - {0}
    for number, line in enumerate(lines, 1):
        if _level(line) in levels and number not in taken and _plain(line) not in own:
            yield f"line {number} is a heading at the level of requirements, but has no id: {_short(line)}"


def _level(line: str) -> int:
    """Return the level of a heading; 0 if the line is not one."""
    marks = len(line) - len(line.lstrip("#"))
    return marks if line[marks : marks + 1] == " " else 0


def _changed_lines(source: str, text: str) -> Iterator[str]:
    """Yield the author's lines that were changed, removed or reordered."""
    lines = iter([_plain(line) for line in text.split("\n")])
    for number, line in enumerate(source.split("\n"), 1):
        if (wanted := _plain(line)) and wanted not in lines:
            yield f"line {number} of the document was changed, moved or left out: {_short(line)}"
            return


def _refused(*findings: str) -> Draft:
    few = findings if len(findings) <= MOST else (*findings[: MOST - 1], f"… and {len(findings) - MOST + 1} more")
    return Draft(plan=None, findings=tuple(_short(one, 400) for one in few))


def _said(finding: Finding) -> str:
    place = f"line {finding.line}: " if finding.line else ""
    return f"{place}{finding.message}. {finding.hint}"


def _called(name: str | None, title: str) -> str:
    return name or _short(title)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _short(text: str, most: int = 100) -> str:
    line = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def told(decisions: Sequence[tuple[int, str, str, str]]) -> tuple[str, ...]:
    """Return a line for each revision: its number, who drafted it, who asked for it, and what they said."""
    return tuple(
        f"revision {number} by {agents}, asked for by {actor}" + (f": {_short(text, 300)}" if text else "")
        for number, agents, actor, text in decisions
    )


@record
class Sources:
    """Which lines of its source a draft uses, and which it leaves out."""

    used: tuple[tuple[str, str], ...]
    """(the requirement, the lines as they were written)."""
    left: tuple[tuple[str, str], ...]
    """(the lines as they were written, why)."""


def sources(text: str, plan: Plan) -> Sources:
    """Return what a draft says about its source."""
    stories = sorted((story.origin.line, story.origin.id or story.title) for story in plan.stories)
    used, left, leaving = [], [], False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("#"):
            leaving = line.strip("# ").casefold() == SECTION.casefold()
        elif leaving and (item := _ITEM.match(line)):
            left.append((item[1].strip(), item[2].strip()))
        elif (found := _SOURCE.fullmatch(line)) and (above := [name for at, name in stories if at <= number]):
            used.append((above[-1], found[1].strip()))
    return Sources(used=tuple(used), left=tuple(left))


def faults(text: str, plan: Plan, source: str) -> Iterator[str]:
    """Yield what is missing in the account that a draft gives of its source."""
    found, lines = sources(text, plan), source.rstrip("\n").split("\n")
    names = {name for name, _ in found.used}
    for story in plan.stories:
        name = story.origin.id or story.title
        if name not in names:
            yield f"{name}: no `**Source:**` with the lines of the document that it comes from"
    taken: set[int] = set()
    for said in (*(said for _, said in found.used), *(said for said, _ in found.left)):
        numbers = _numbers(said)
        taken |= numbers
        if not numbers or max(numbers) > len(lines):
            yield f"`{said}` names no lines of the document, which has {len(lines)}"
    yield from (f"lines {said} are left out without a reason" for said, why in found.left if not why)
    lost = [number for number, line in enumerate(lines, 1) if number not in taken and not _NO_TEXT.match(line)]
    if lost:
        yield f'no requirement comes from line {few(lost, MOST_LINES)} of the document, and "{SECTION}" does not name it'


def _numbers(said: str) -> set[int]:
    """Return the numbers in a text like `3, 5-8`."""
    ends = [(int(found[1]), int(found[2] or found[1])) for found in _RANGE.finditer(said)]
    return {number for first, last in ends for number in range(first, min(last, first + 100_000) + 1)}
