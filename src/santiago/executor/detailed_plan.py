"""The detailed plan of a story, as a person approves it: shown, compared with the one before, and made into work."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from santiago.contract.plan import Detail, Origin, Story, Substep

MOST_FINDINGS, MOST_LINES, SHORT = 30, 40, 100
"""Findings, lines of a difference, and characters of a text in one of them."""


def markdown(story: Story, detail: Detail, findings: Sequence[str] = ()) -> str:
    """Return a plan for people to read. The agent's texts cannot imitate santiago's own headings or entries."""
    changes = [f"- {field} `{path}`" for field in ("create", "modify", "delete") for path in getattr(detail, field)]
    lines = [
        f"# {story.id}: {_line(story.title)}",
        "",
        *(f"> {line}".rstrip() for line in detail.objective.split("\n")),
        "",
        *_part("## Files", changes),
        *_part("## Actions", _numbered(detail.actions)),
        *_part("## Checks", [f"    {check}" for check in detail.checks]),
    ]
    for name, one in zip(substep_ids(story.id, detail), detail.substeps, strict=True):
        lines += _part(f"## Substep {name}: {one.title}", _numbered(one.actions) or ["(no actions)"])
        lines += _part("Files:", [f"- `{path}`" for path in one.files])
        lines += _part("Checks:", [f"    {check}" for check in one.checks])
    lines += _part("## What santiago found", [f"- {_line(one)}" for one in findings])
    return "\n".join(lines)


def _part(title: str, lines: Sequence[str]) -> list[str]:
    return [title, "", *lines, ""] if lines else []


def _numbered(texts: Sequence[str]) -> list[str]:
    """Return a numbered list; further lines of an entry stand below its first, inside the entry."""
    return [f"{number}. " + text.strip().replace("\n", "\n    ") for number, text in enumerate(texts, 1)]


def difference(old: Detail, new: Detail) -> str:
    """Return what changed from one proposal to the next, a line for each change; empty if nothing did."""
    lines = [*_differing(old, new, "")]
    if old.objective != new.objective:
        lines.insert(0, f"objective: changed to {short(new.objective)}")
    for was, now in _paired([one.title for one in old.substeps], [one.title for one in new.substeps]):
        if was is not None and now is not None:
            name = f"substep {now + 1}"
            before, after = old.substeps[was], new.substeps[now]
            if before.title != after.title:
                lines.append(f"{name}: changed to {short(after.title)}, was {short(before.title)}")
            lines += _differing(before, after, f"{name}, ")
        elif now is not None:
            lines.append(f"substeps: {now + 1} is new: {short(new.substeps[now].title)}")
        elif was is not None:
            lines.append(f"substeps: {was + 1} is gone: {short(old.substeps[was].title)}")
    return "\n".join(few(lines, MOST_LINES))


def _differing(old: Detail | Substep, new: Detail | Substep, name: str) -> Iterator[str]:
    for field in ("create", "modify", "delete", "files"):
        before, after = getattr(old, field, ()), getattr(new, field, ())
        yield from (f"{name}{field}: {short(one)} is new" for one in after if one not in before)
        yield from (f"{name}{field}: {short(one)} is gone" for one in before if one not in after)
    for field in ("actions", "checks"):
        before, after = getattr(old, field), getattr(new, field)
        for was, now in _paired(before, after):
            if was is None and now is not None:
                yield f"{name}{field}: {now + 1} is new: {short(after[now])}"
            elif now is None and was is not None:
                yield f"{name}{field}: {was + 1} is gone: {short(before[was])}"
            elif was is not None and now is not None and before[was] != after[now]:
                yield f"{name}{field}: {now + 1} changed to {short(after[now])}"


def _paired(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int | None, int | None]]:
    """Yield pairs of an old and a new entry, in order; None stands for an entry that only one side has."""
    from difflib import SequenceMatcher

    for _, was, was_end, now, now_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for step in range(max(was_end - was, now_end - now)):
            yield (was + step if was + step < was_end else None, now + step if now + step < now_end else None)


def short(text: str) -> str:
    line = "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in _line(text[: 10 * SHORT]))
    return json.dumps(line if len(line) <= SHORT else f"{line[: SHORT - 1]}…", ensure_ascii=False)


def _line(text: str) -> str:
    return " ".join(text.split())


def few(lines: list[str], most: int = MOST_FINDINGS) -> list[str]:
    return lines if len(lines) <= most else [*lines[: most - 1], f"… and {len(lines) - most + 1} more"]


def commands(detail: Detail) -> tuple[str, ...]:
    """Return every command that is approved with the plan, each once, in order."""
    return given(chain(detail.checks, *(one.checks for one in detail.substeps)))


def substep_ids(story_id: str, detail: Detail) -> tuple[str, ...]:
    return tuple(f"{story_id}.{number}" for number in range(1, len(detail.substeps) + 1))


def substep(story: Story, detail: Detail, number: int) -> Story:
    """Return a substep, counted from 1, as a story of its own. Only its own checks judge it, none of its parent's."""
    one = detail.substeps[number - 1]
    return replace(
        story,
        id=substep_ids(story.id, detail)[number - 1],
        title=one.title,
        description="\n".join(_numbered(one.actions)),
        files=_focus(one.files),
        verify=given(one.checks),
        criteria=(),
        depends_on=(),
        external_depends_on=(),
        claimed_done=False,
        origin=Origin(id=None, line=story.origin.line),  # its parent's id would name the parent
        provenance=(),
    )


def _focus(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the files in the form of a story's file focus, which tells whether two stories touch the same files."""
    return tuple(dict.fromkeys(path.removeprefix("./") for path in paths))


def detailed(story: Story, detail: Detail) -> Story:
    """Return the story with the approved plan's checks, and with the plan's files if the story names none."""
    files = _focus((*detail.create, *detail.modify, *detail.delete))
    return replace(
        story, verify=tuple(dict.fromkeys((*story.verify, *given(detail.checks)))), files=story.files or files
    )


def given(checks: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(check for check in checks if check.strip()))
