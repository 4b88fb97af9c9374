"""Ticking what is done on evidence in the document itself, in the document's own form: a box, a flag, a status."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.app.compiling import Document, asked_for
from santiago.app.paths import scratch_of
from santiago.app.start.identity import repository_of
from santiago.artifacts.files import MAX_DOCUMENT, read_bytes, write_whole
from santiago.artifacts.names import LOG
from santiago.artifacts.reader import Reader
from santiago.contract.box_ticks import lines_of, tick
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.lazy_regex import pattern
from santiago.contract.phases import RunPhase
from santiago.contract.plan import contents_of
from santiago.contract.record import record
from santiago.executor.messages import ticks_message
from santiago.executor.tally import status_of, strength_of
from santiago.planner.draft import Status
from santiago.planner.structured import json_tree, yaml_tree
from santiago.planner.structured.record_units import status_of_word
from santiago.planner.structured.record_words import DONE_FLAGS, STATUS
from santiago.planner.structured.tree import Array, Object, Scalar, as_bool
from santiago.workspace.workspace import GitWorkspace

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from santiago.app.loading import Run
    from santiago.contract.plan import Plan
    from santiago.planner.structured.tree import Field, Node

_EVIDENCE = ("shown", "attested", "claimed")
_LINE_ENDS = pattern(rb"(\r\n|\r|\n)")
_PARSERS: dict[str, Callable[[str], Node]] = {
    ".json": json_tree.parse, ".jsonl": json_tree.parse_lines, ".yaml": yaml_tree.parse, ".yml": yaml_tree.parse,
}  # fmt: skip


@record
class Ticks:
    """A document before and after, and which finished stories have no tick that could be set, with the reason."""

    name: str
    before: bytes
    after: bytes
    left: tuple[tuple[str, str], ...]


class Ticking:
    """One run's document: in the working tree, or on the run's branch."""

    def __init__(self, run: Run, *, here: bool) -> None:
        self.run, self.here, self.name = run, here, run.run_input.prd_path
        if run.plan.source.is_drafted:
            raise SantiagoError(Kind.INPUT, f"the plan of {run.run_id} was made by agents, so it has no document")
        self.repo = repository_of(run.out_dir, run.run_id, Path(run.run_input.repo_path))
        self.workspace = GitWorkspace(self.repo, run.run_id, scratch_of(self.repo))
        self.head = "" if here else self.workspace.head() or run.state.head or "HEAD"

    def found(self) -> Ticks:
        """Return the document with all ticks that evidence allows."""
        content = (
            read_bytes(self.repo / self.name, MAX_DOCUMENT) if self.here else self.workspace.read(self.head, self.name)
        )
        if content is None:
            hint = "`--here` ticks the file in your working tree."
            raise SantiagoError(Kind.INPUT, "it is not on the run's branch", where=self.name, hint=hint)
        plan = self._compiled(content)
        due, left = _due(self.run, plan, "" if self.here else "on the run's branch ")
        after = with_ticks(self.name, content, plan, due)
        again = self._compiled(after)
        if contents_of(again) != contents_of(plan):
            message = "a tick would change what its stories ask for, so nothing was written"
            raise SantiagoError(Kind.INPUT, message, where=self.name, hint="Tick it by hand.")
        claimed = {story.id for story in again.stories if story.claimed_done}
        left += [(name, "the document has no box, flag or status for it") for name in due if name not in claimed]
        return Ticks(name=self.name, before=content, after=after, left=tuple(left))

    def _compiled(self, content: bytes) -> Plan:
        text = content.decode("utf-8-sig", "replace")
        found = Document(text, self.run.plan.source.path).compiled(asked_for(self.run.run_input), against=self.run.plan)
        if found.plan is None:
            why = found.errors[0]
            raise SantiagoError(Kind.INPUT, why.message, where=f"{self.name}:{why.line}", hint=why.hint)
        return found.plan

    def keep(self, ticks: Ticks) -> str:
        """Write the document where it was read; return the new head of the run's branch, or nothing."""
        if self.here:
            write_whole(self.repo / self.name, ticks.after)
            return ""
        if self.run.worker or self.run.state.phase is not RunPhase.SUCCESS:
            message = f"{self.run.run_id} has not ended, and only it may move its branch"
            hint = "`--here` writes the file in your working tree; `--write-back` of the start ticks at the end of the run."
            raise SantiagoError(Kind.BLOCKED, message, hint=hint)
        reader = Reader(self.run.out_dir / LOG)
        for _ in reader:
            pass
        message = ticks_message(self.run.run_id, self.name, f"{reader.seq}:{reader.hash}")
        with self.workspace.working():
            made = self.workspace.compose(self.head, self.head, (), {self.name: ticks.after}, message)
            return self.workspace.advance(self.head, made)


def _due(run: Run, plan: Plan, where: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the stories to tick, and why other finished ones are left alone."""
    now, then, due, left = contents_of(plan), contents_of(run.plan), [], []
    for planned in run.plan.stories:
        if status_of(story := run.state.stories[planned.id]) != "done":
            continue
        if strength_of(planned, story) not in _EVIDENCE:
            left.append((planned.id, "no test shows it, and nobody attested it"))
        elif now.get(planned.id) != then[planned.id]:
            left.append((planned.id, f"its text {where}is not what was planned"))
        else:
            due.append(planned.id)
    return due, left


def with_ticks(name: str, content: bytes, plan: Plan, due: Collection[str]) -> bytes:
    """Return a document with the boxes of these stories ticked; in JSON and YAML, with their flags and statuses set."""
    parse = _PARSERS.get(Path(name).suffix.lower())
    if parse is None:
        return tick(content, lines_of(plan, due))
    lines = {story.origin.line for story in plan.stories if story.id in due}
    pieces = _LINE_ENDS.split(content)  # a line, its end, the next line, and so on
    for found in _records(parse(content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n"))):
        if lines & {found.line, *(one.line for one in found.fields.values() if isinstance(one.value, Scalar))}:
            for names, word in ((DONE_FLAGS, b"true"), (STATUS, b"done")):
                for entry in found.pick(names):
                    at = 2 * (entry.line - 1)
                    pieces[at] = _set(pieces[at], entry, word)
    return b"".join(pieces)


def _records(node: Node) -> Iterator[Object]:
    if isinstance(node, Object):
        yield node
        for entry in node.fields.values():
            yield from _records(entry.value)
    elif isinstance(node, Array):
        for item in node.items:
            yield from _records(item)


def _set(line: bytes, entry: Field, word: bytes) -> bytes:
    """Return a line with this value in place of an open one. Where that would be a guess, the line stays as it is."""
    value = entry.value
    if not isinstance(value, Scalar) or as_bool(value) or status_of_word(value.text) is Status.DONE:
        return line
    key, text = (re.escape(part.encode()) for part in (entry.key, value.text))
    place = re.compile(rb"""(["']?\b%b["']?\s*:\s*(["']?))%b(?=\2\s*(?:[,}\]#]|$))""" % (key, text))
    written, times = place.subn(rb"\g<1>%b" % word, line)
    return written if times == 1 else line
