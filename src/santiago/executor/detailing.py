"""The detailed plan of a story: read from what an agent wrote, looked through, shown, compared, and made into work."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from itertools import chain
from typing import Any

from santiago.contract import codec
from santiago.contract.errors import SantiagoError
from santiago.contract.patterns import pattern
from santiago.contract.plan import CONTRACT_VERSION, LONGEST_DETAIL, Detail, Origin, Story, Substep

MOST_ACTIONS, MOST_SUBSTEPS, MOST_OTHERS = 50, 20, 200
LONGEST_TEXT = 4_000
"""Characters."""
MOST_FINDINGS, MOST_LINES, SHORT = 30, 40, 100
"""Findings, lines of a difference, and characters of a text in one of them."""

_PROSE = {"objective", "actions"}
"""Fields whose texts may have more than one line."""
_HARMLESS = "\n\t\u200c\u200d"
"""Control characters that prose may hold. The last two join letters, or keep them apart."""
_DRIVE = pattern(r"[A-Za-z]:")
_NUMBER = pattern(r"(?i)^(?:(?:sub)?step\s+)?[A-Z]?\d+(?:\.\d+)*\s*[.:)\u2013\u2014-]*\s+")
_MARKS = pattern(r"[*_`'\"]|[.:]+$")
_CLOSED = {".git", ".santiago"}


# Reading


def read(text: str | None) -> tuple[Detail | None, list[str]]:
    """Return the plan that an agent wrote, and the faults of the file. The plan is None if the file cannot be used."""
    if text is None or not text.strip():
        return None, ["no detailed plan was written: the file that SANTIAGO_DETAIL names is missing or empty"]
    if len(text.encode("utf-8", "replace")) > LONGEST_DETAIL:
        return None, [f"the detailed plan is larger than {LONGEST_DETAIL // 1024} KiB; write a shorter one"]
    said: list[str] = []
    try:
        data = codec.parse_json(unwrapped(text).encode("utf-8", "replace"), "the detailed plan")
        if isinstance(data, dict):
            data = {"contract_version": CONTRACT_VERSION, **_known(data, Detail, "", said)}
        detail = codec.decode(Detail, json.dumps(data).encode(), "the detailed plan")
    except SantiagoError as error:
        place = f", line {error.line}" if error.line else ""
        return None, [*_few(said), f"the detailed plan{place}: {error.message[:LONGEST_TEXT]}"]
    fault = next(_beyond(detail), None)
    return (None, [*_few(said), fault]) if fault else (detail, _few(said))


def unwrapped(text: str) -> str:
    """Return the text without the ``` fence that agents often put around JSON."""
    text = text.strip()
    return text[:-3].partition("\n")[2] if text.startswith("```") and text.endswith("```") else text


def _known(data: dict[str, Any], cls: type, place: str, said: list[str]) -> dict[str, Any]:
    """Return an object without its unknown keys. Each of these adds a line to `said`."""
    names = {field.name for field in fields(cls)}
    said += [f"unknown field {_short(place + name)}: it was left out" for name in data if name not in names]
    kept = {name: value for name, value in data.items() if name in names}
    if isinstance(kept.get("substeps"), list):
        kept["substeps"] = [
            _known(one, Substep, f"substeps[{number}].", said) if isinstance(one, dict) else one
            for number, one in enumerate(kept["substeps"])
        ]
    return kept


def _beyond(part: Detail | Substep, place: str = "") -> Iterator[str]:
    """Yield the values that are too long, or that hold characters which change what a person sees."""
    for name in (field.name for field in fields(part)):
        value = getattr(part, name)
        texts: list[tuple[str, str | Substep]] = [(f"{place}{name}", value)] if isinstance(value, str) else []
        if isinstance(value, tuple):
            most = {"actions": MOST_ACTIONS, "substeps": MOST_SUBSTEPS}.get(name, MOST_OTHERS)
            if len(value) > most:
                yield f"the detailed plan: {place}{name} has {len(value)} entries; {most} are the most"
            texts = [(f"{place}{name}[{number}]", one) for number, one in enumerate(value)]
        for where, text in texts:
            if isinstance(text, Substep):
                yield from _beyond(text, f"{where}.")
            elif fault := _unfit(text, _HARMLESS if name in _PROSE else ""):
                yield f"the detailed plan: {where} {fault}"


def _unfit(text: str, harmless: str) -> str:
    if len(text) > LONGEST_TEXT:
        return f"has {len(text)} characters; {LONGEST_TEXT} are the most"
    for sign in text:
        if unicodedata.category(sign) in {"Cc", "Cf", "Zl", "Zp"} and sign not in harmless:
            return f"holds the control character U+{ord(sign):04X}; leave it out"
    return ""


# Looking through


def findings(
    detail: Detail, story: Story, *, files: Collection[str], commands: tuple[str, ...], changed: tuple[str, ...]
) -> list[str]:
    """Return what is wrong with a plan of a story.

    `files` are those of the repository, `commands` the checks that the story has already, and `changed` what the agent
    changed in its checkout, where it was only to plan.
    """
    there = frozenset(files)
    found = chain(
        _of_texts(detail, ""),
        _of_paths(detail, there),
        _of_checks(detail.checks, "checks"),
        () if commands or _given(detail.checks) else ["checks: there is none, so nothing could judge the work"],
        *(
            _of_substep(one, f"substep {name}")
            for name, one in zip(substep_ids(story.id, detail), detail.substeps, strict=True)
        ),
        _of_document(detail, story),
        [f"files were changed while the plan was written, and are thrown away: {_listed(changed)}"] if changed else (),
    )
    return _few(list(found))


def lacks(detail: Detail, story: Story) -> str:
    """Return what keeps a plan from plain approval: a `check` of a substep, or a `part` that the document gives the story."""
    if not all(_given(one.checks) for one in detail.substeps):
        return "check"
    return "part" if any(name is None for _, _, name in _parts(detail, story)) else ""


def _of_document(detail: Detail, story: Story) -> Iterator[str]:
    for number, title, name in _parts(detail, story):
        if name is None:
            yield f"substeps: Step {number} {_short(title)} is left out, and the document gives it to this step"
        elif name:
            yield f"substep {name}, title: the document calls it {_short(title)}"


def _parts(detail: Detail, story: Story) -> Iterator[tuple[str, str, str | None]]:
    """Yield the parts that the document gives a story: number, title, and what is wrong with it in the plan.

    That is None if the plan leaves it out, and the id of the substep in its place if that has another title; else empty.
    """
    planned = [_plain(one.title) for one in detail.substeps]
    named = {_plain(title) for _, title in story.substeps}
    for at, (number, title) in enumerate(story.substeps):
        if _plain(title) in planned:
            yield number, title, ""
        elif at < len(planned) and planned[at] not in named:
            yield number, title, substep_ids(story.id, detail)[at]
        else:
            yield number, title, None


def _plain(title: str) -> str:
    """Return a title as it is compared: without a number before it, in small letters, and no marks but those of words."""
    return " ".join(_MARKS.sub("", _NUMBER.sub("", title.strip(), count=1)).casefold().split())


def _of_substep(substep: Substep, name: str) -> Iterator[str]:
    if not substep.title.strip():
        yield f"{name}, title: it is empty"
    yield from _of_texts(substep, f"{name}, ")
    yield from (f"{name}, files: {_short(path)} {fault}" for path in substep.files if (fault := _closed(path)))
    yield from _of_checks(substep.checks, f"{name}, checks")
    if not _given(substep.checks):
        yield f"{name}, checks: there is none; a substep needs a command that judges it"


def _of_texts(part: Detail | Substep, name: str) -> Iterator[str]:
    if isinstance(part, Detail) and not part.objective.strip():
        yield f"{name}objective: it is empty"
    if not part.actions:
        yield f"{name}actions: there is none"
    yield from (f"{name}actions: {number} is empty" for number, one in enumerate(part.actions, 1) if not one.strip())


def _of_paths(detail: Detail, there: frozenset[str]) -> Iterator[str]:
    seen: dict[str, str] = {}
    for field in ("create", "modify", "delete"):
        for path in getattr(detail, field):
            plain = path.removeprefix("./")
            if fault := _closed(path):
                yield f"{field}: {_short(path)} {fault}"
            elif plain in seen:
                yield f"{field}: {_short(path)} stands under {seen[plain]} already"
            elif field == "create" and plain in there:
                yield f"create: {_short(path)} is there already"
            elif field != "create" and plain not in there:
                yield f"{field}: {_short(path)} is no file of the repository"
            seen.setdefault(plain, field)


def _closed(path: str) -> str:
    """Say why a path may not be worked on; empty where it may."""
    parts = path.replace("\\", "/").split("/")
    if not path.strip() or set(parts) <= {"", "."}:
        return "names no file"
    if parts[0] in {"", "~"} or ".." in parts or _DRIVE.match(path):
        return "lies outside the repository; name it by its path from the top"
    inner = next((part for part in parts if part.lower() in _CLOSED), "")
    return f"lies in {inner}, which must not be changed" if inner else ""


def _of_checks(checks: Sequence[str], name: str) -> Iterator[str]:
    for number, check in enumerate(checks, 1):
        if not check.strip():
            yield f"{name}: {number} is empty"
        elif check in checks[: number - 1]:
            yield f"{name}: {number} stands there twice: {_short(check)}"


def _given(checks: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(check for check in checks if check.strip()))


# Showing


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
        lines.insert(0, f"objective: changed to {_short(new.objective)}")
    for was, now in _paired([one.title for one in old.substeps], [one.title for one in new.substeps]):
        if was is not None and now is not None:
            name = f"substep {now + 1}"
            before, after = old.substeps[was], new.substeps[now]
            if before.title != after.title:
                lines.append(f"{name}: changed to {_short(after.title)}, was {_short(before.title)}")
            lines += _differing(before, after, f"{name}, ")
        elif now is not None:
            lines.append(f"substeps: {now + 1} is new: {_short(new.substeps[now].title)}")
        elif was is not None:
            lines.append(f"substeps: {was + 1} is gone: {_short(old.substeps[was].title)}")
    return "\n".join(_few(lines, MOST_LINES))


def _differing(old: Detail | Substep, new: Detail | Substep, name: str) -> Iterator[str]:
    for field in ("create", "modify", "delete", "files"):
        before, after = getattr(old, field, ()), getattr(new, field, ())
        yield from (f"{name}{field}: {_short(one)} is new" for one in after if one not in before)
        yield from (f"{name}{field}: {_short(one)} is gone" for one in before if one not in after)
    for field in ("actions", "checks"):
        before, after = getattr(old, field), getattr(new, field)
        for was, now in _paired(before, after):
            if was is None and now is not None:
                yield f"{name}{field}: {now + 1} is new: {_short(after[now])}"
            elif now is None and was is not None:
                yield f"{name}{field}: {was + 1} is gone: {_short(before[was])}"
            elif was is not None and now is not None and before[was] != after[now]:
                yield f"{name}{field}: {now + 1} changed to {_short(after[now])}"


def _paired(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int | None, int | None]]:
    """Yield pairs of an old and a new entry, in order; None stands for an entry that only one side has."""
    from difflib import SequenceMatcher

    for _, was, was_end, now, now_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for step in range(max(was_end - was, now_end - now)):
            yield (was + step if was + step < was_end else None, now + step if now + step < now_end else None)


def _short(text: str) -> str:
    line = "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in _line(text[: 10 * SHORT]))
    return json.dumps(line if len(line) <= SHORT else f"{line[: SHORT - 1]}…", ensure_ascii=False)


def _line(text: str) -> str:
    return " ".join(text.split())


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(_short, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _few(lines: list[str], most: int = MOST_FINDINGS) -> list[str]:
    return lines if len(lines) <= most else [*lines[: most - 1], f"… and {len(lines) - most + 1} more"]


# Carrying out


def commands(detail: Detail) -> tuple[str, ...]:
    """Return every command that is approved with the plan, each once, in order."""
    return _given(chain(detail.checks, *(one.checks for one in detail.substeps)))


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
        verify=_given(one.checks),
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
        story, verify=tuple(dict.fromkeys((*story.verify, *_given(detail.checks)))), files=story.files or files
    )
