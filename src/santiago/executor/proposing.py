"""Having an agent write the detailed plan of a story, in a checkout that is thrown away; reading it, and looking it through."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import fields, replace
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, Any

from santiago.contract import codec
from santiago.contract.errors import SantiagoError
from santiago.contract.lazy_regex import pattern
from santiago.contract.outcomes import AgentEnding, ProposalOutcome
from santiago.contract.plan import CONTRACT_VERSION, LONGEST_DETAIL, Detail, Story, Substep
from santiago.contract.ports.agent import AgentBackend, Packet
from santiago.contract.ports.judge import Judge
from santiago.contract.ports.run import Clock, Stop
from santiago.contract.ports.workspace import Workspace
from santiago.contract.reasons import Reason
from santiago.contract.record import record
from santiago.contract.steps import Order, Propose
from santiago.executor import detailed_plan
from santiago.executor.detailed_plan import few, given, short, substep_ids

if TYPE_CHECKING:
    from santiago.contract.ports.artifacts import DetailFiles

MOST_ACTIONS, MOST_SUBSTEPS, MOST_OTHERS = 50, 20, 200
LONGEST_TEXT = 4_000
"""Characters."""
_PROSE = {"objective", "actions"}
"""Fields whose texts may have more than one line."""
_HARMLESS = "\n\t\u200c\u200d"
"""Control characters that prose may hold. The last two join letters, or keep them apart."""
_DRIVE = pattern(r"[A-Za-z]:")
_NUMBER = pattern(r"(?i)^(?:(?:sub)?step\s+)?[A-Z]?\d+(?:\.\d+)*\s*[.:)\u2013\u2014-]*\s+")
_MARKS = pattern(r"[*_`'\"]|[.:]+$")
_CLOSED = {".git", ".santiago"}


@record
class Proposer:
    """Carries out the order for a detailed plan."""

    workspace: Workspace
    agent: AgentBackend
    judge: Judge
    details: DetailFiles
    clock: Clock
    packet: Callable[[Story, Order, str], Packet]
    """Makes the packet for a story and a folder: what every agent is told."""
    commands: Callable[[Story], tuple[str, ...]]
    """The checks that a story has already."""

    def propose(self, step: Propose, order: Order, story: Story, stop: Stop) -> ProposalOutcome:
        folder = self.workspace.checkout(order.head, f"{step.story}-proposal-{step.number}")
        try:
            touched = self.workspace.watched(folder)
            ending = self._asked(step, order, story, folder, stop)
            changed = touched()
        finally:
            self.workspace.discard(folder)
        blank = ProposalOutcome(step=step.id, story=step.story, number=step.number, ending=ending, agent_ms=ending.ms)
        if ending.reason is Reason.INTERRUPTED or stop.soon():
            return replace(blank, stopped=True)
        began = self.clock.monotonic_ms()
        detail, findings = self._looked_through(ending, order, story, changed, stop)
        return self._kept(replace(blank, verify_ms=self.clock.monotonic_ms() - began), story, detail, findings)

    def _asked(self, step: Propose, order: Order, story: Story, folder: str, stop: Stop) -> AgentEnding:
        before = self.details.get(order.details[0]) if order.details else None
        packet = replace(
            self.packet(story, order, folder),
            log=self.details.log_path(step.story, step.number),
            prompt_file=self.details.prompt_path(step.story, step.number),
            timeout_ms=step.timeout_ms,
            proposes=True,
            proposal=step.number,
            before=detailed_plan.markdown(story, before) if before else "",
            findings=order.findings,
        )
        self.details.keep_prompt(step.story, step.number, self.agent.render(packet))
        began = self.clock.monotonic_ms()
        ending = self.agent.attempt(packet, stop)
        return replace(ending, ms=ending.ms or self.clock.monotonic_ms() - began)

    def _looked_through(
        self, ending: AgentEnding, order: Order, story: Story, changed: tuple[str, ...], stop: Stop
    ) -> tuple[Detail | None, list[str]]:
        """Return the plan and all that is wrong with it, including commands that cannot run here."""
        if ending.reason is not None:
            words = ending.message.strip()[-300:]
            return None, [f"the agent ended without a plan ({ending.reason}){': ' + words if words else ''}"]
        detail, found = read(ending.detail)
        if detail is None:
            return None, found
        files = self.workspace.files(order.head)
        found += faults_of(detail, story, files=files, commands=self.commands(story), changed=changed)
        if (own := detailed_plan.commands(detail)) and not found:
            seen = self.judge.examine(order.head, [replace(story, verify=own)], stop)
            if seen is not None and seen.reason is not None:
                found.append(f"checks: {seen.message}")
        return detail, found

    def _kept(
        self, blank: ProposalOutcome, story: Story, detail: Detail | None, findings: list[str]
    ) -> ProposalOutcome:
        text = (
            detailed_plan.markdown(story, detail, findings)
            if detail
            else "\n".join(("# No detailed plan", "", *findings, ""))
        )
        digest, files = self.details.keep(blank.story, blank.number, detail, text)
        commands = detailed_plan.commands(detail) if detail else ()
        return replace(
            blank,
            digest=digest,
            files=files,
            findings=tuple(findings),
            lacks=lacks(detail, story) if detail else "",
            substeps=detailed_plan.substep_ids(story.id, detail) if detail else (),
            commands=tuple(sha256(command.encode()).hexdigest() for command in commands),
        )


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
        return None, [*few(said), f"the detailed plan{place}: {error.message[:LONGEST_TEXT]}"]
    fault = next(_beyond(detail), None)
    return (None, [*few(said), fault]) if fault else (detail, few(said))


def unwrapped(text: str) -> str:
    """Return the text without the ``` fence that agents often put around JSON."""
    text = text.strip()
    return text[:-3].partition("\n")[2] if text.startswith("```") and text.endswith("```") else text


def _known(data: dict[str, Any], cls: type, place: str, said: list[str]) -> dict[str, Any]:
    """Return an object without its unknown keys. Each of these adds a line to `said`."""
    names = {field.name for field in fields(cls)}
    said += [f"unknown field {short(place + name)}: it was left out" for name in data if name not in names]
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
            elif fault := _unfit(text, name):
                yield f"the detailed plan: {where} {fault}"


def _unfit(text: str, field: str) -> str:
    harmless = _HARMLESS if field in _PROSE else ""
    if len(text) > LONGEST_TEXT:
        return f"has {len(text)} characters; {LONGEST_TEXT} are the most"
    for sign in text:
        if unicodedata.category(sign) in {"Cc", "Cf", "Zl", "Zp"} and sign not in harmless:
            return f"holds the control character U+{ord(sign):04X}; leave it out"
    return ""


def faults_of(
    detail: Detail, story: Story, *, files: Collection[str], commands: tuple[str, ...], changed: tuple[str, ...]
) -> list[str]:
    """Return what is wrong with a plan of a story.

    `files` are those of the repository, `commands` the checks that the story has already, and `changed` what the agent
    changed in its checkout, where it was only to plan.
    """
    there, names = frozenset(files), ", ".join(map(short, changed[:5]))
    more = f" and {len(changed) - 5} more" if len(changed) > 5 else ""
    found = chain(
        _of_texts(detail, ""),
        _of_paths(detail, there),
        _of_checks(detail.checks, "checks"),
        () if commands or given(detail.checks) else ["checks: there is none, so nothing could judge the work"],
        *(
            _of_substep(one, f"substep {name}")
            for name, one in zip(substep_ids(story.id, detail), detail.substeps, strict=True)
        ),
        _of_document(detail, story),
        [f"files were changed while the plan was written, and are thrown away: {names}{more}"] if changed else (),
    )
    return few(list(found))


def lacks(detail: Detail, story: Story) -> str:
    """Return what keeps a plan from plain approval: a `check` of a substep, or a `part` that the document gives the story."""
    if not all(given(one.checks) for one in detail.substeps):
        return "check"
    return "part" if any(name is None for _, _, name in _parts(detail, story)) else ""


def _of_document(detail: Detail, story: Story) -> Iterator[str]:
    for number, title, name in _parts(detail, story):
        if name is None:
            yield f"substeps: Step {number} {short(title)} is left out, and the document gives it to this step"
        elif name:
            yield f"substep {name}, title: the document calls it {short(title)}"


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
    yield from (f"{name}, files: {short(path)} {fault}" for path in substep.files if (fault := _closed(path)))
    yield from _of_checks(substep.checks, f"{name}, checks")
    if not given(substep.checks):
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
                yield f"{field}: {short(path)} {fault}"
            elif plain in seen:
                yield f"{field}: {short(path)} stands under {seen[plain]} already"
            elif field == "create" and plain in there:
                yield f"create: {short(path)} is there already"
            elif field != "create" and plain not in there:
                yield f"{field}: {short(path)} is no file of the repository"
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
            yield f"{name}: {number} stands there twice: {short(check)}"
