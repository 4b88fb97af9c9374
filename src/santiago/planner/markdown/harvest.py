"""Make a unit of a carrier: read its criteria, dependencies, files and checks from the blocks that belong to it.

The readers decide what the units are. What belongs to a unit is the same in every Markdown format, and is decided here.
A unit's criteria are the first of these that it has: items under a criteria label, scenarios, paragraphs under a criteria
label, items under a success label, check boxes, bullets under a verification label, and plain bullets directly under it.
"""

from __future__ import annotations

import re

from santiago.contract.lazy_regex import pattern
from santiago.contract.record import record
from santiago.planner import ids
from santiago.planner.draft import Dep, Status, Unit, unique
from santiago.planner.markdown.gather import Gathered, Walk
from santiago.planner.markdown.labels import clean
from santiago.planner.markdown.outline import Outline


@record
class Carrier:
    """A place that defines a unit: its first block, the index behind its last block, and what the place itself says."""

    at: int
    """-1 if the whole document is the unit and no block is its head."""
    end: int
    title: str
    id: str | None = None
    line: int = 0
    """0 means the line of the block."""
    chunk: str | None = None
    tags: tuple[str, ...] = ()
    status: Status = Status.OPEN
    priority: str | None = None


_DONE = pattern(
    r"^\W*(?:done|completed?|closed|finished|implemented|shipped|merged|passed|validated|fertig|erledigt|abgeschlossen|terminée?"
    r"|termin[ée]|terminado|completad[oa]|conclu[ií]d[oa]|klar|gereed|готово|выполнено|завершено|完了|完成|已完成|완료)(?!\w|\s*\?)|^\[x\]|^✅",
    re.IGNORECASE,
)
_DROPPED = pattern(
    r"^\W*(?:cancell?ed|dropped|rejected|removed|obsolete|won'?t (?:do|fix)|wontfix|superseded|abandoned|annulée?|cancelad[oa]|verworfen|отменено)(?!\w)",
    re.IGNORECASE,
)

_UNDERWAY = pattern(
    r"^\W*(?:to[- ]?do|open|pending|not started|in[- ]?progress|in[- ]?review|review|ready"
    r"|draft|approved|planned|active|blocked|backlog|new|wip|offen|en cours|em andamento|en progreso|pendiente|進行中|进行中|未着手|未开始|진행)",
    re.IGNORECASE,
)
"""Status words for work that is not done, even if all boxes are ticked."""


def status_of(word: str) -> Status | None:
    """Return the status that a word such as `Done` or `cancelled` claims, or None if it claims neither."""
    if _DONE.match(word.strip()):
        return Status.DONE
    return Status.DROPPED if _DROPPED.match(word.strip()) else None


class Harvester:
    """Reads the units of one outline."""

    def __init__(self, outline: Outline, *, implicit: bool = True, steps: bool = False) -> None:
        self.blocks = outline.blocks
        self.outline = outline
        self.implicit = implicit
        self.steps = steps
        self.unknown_labels: list[tuple[int, str]] = []

    def unit(self, carrier: Carrier) -> Unit:
        found = Walk(self.outline, carrier.at, carrier.end, steps=self.steps).run()
        criteria = found.criteria
        if not criteria:
            self.unknown_labels += found.unknown_labels
            criteria = found.implied if self.implicit else []
        own = found.fields.get("title") if carrier.title == (carrier.id or "") else None
        return Unit(
            id=carrier.id or found.fields.get("id", "").strip(" `*") or None,
            title=own or carrier.title,
            line=carrier.line or self.blocks[carrier.at].line,
            end=self.last_line(carrier),
            text="\n".join([*self.rest_of_head(carrier), *found.text]),
            status=_status(carrier.status, found),
            chunk=found.fields.get("chunk", carrier.chunk),
            tags=carrier.tags,
            priority=carrier.priority or found.fields.get("priority"),
            role=found.role,
            profile=found.fields.get("profile"),
            criteria=tuple(criteria),
            deps=_unique_deps(found.deps),
            covers=unique(found.covers),
            files=unique(found.files),
            verify=unique(found.verify),
            unread=unique(found.unread),
        )

    def last_line(self, carrier: Carrier) -> int:
        """Return the last line of a unit; 0 if its line is that of a box and its text stands elsewhere."""
        begins = self.blocks[carrier.at].line if carrier.at >= 0 else carrier.line
        return self.blocks[carrier.end - 1].end if self.blocks and carrier.line in (0, begins) else 0

    def rest_of_head(self, carrier: Carrier) -> list[str]:
        """Return the carrier's whole first line if the title is only a part of it, so that nothing is lost."""
        line = clean(self.blocks[carrier.at].lines[0]) if carrier.at >= 0 else ""
        return [line] if carrier.title and len(line) > len(carrier.title) + len(carrier.id or "") + 12 else []


def _status(claimed: Status, found: Gathered) -> Status:
    """Return the status of a unit. A ticked unit that is under way or has open boxes is open; an open one with all boxes ticked claims to be done."""
    word = found.fields.get("status", "").strip()
    underway, half_done = bool(_UNDERWAY.match(word)), not all(found.ticked)
    if claimed is Status.DONE and (half_done or underway):
        return Status.OPEN
    if claimed is not Status.OPEN:
        return claimed
    said = status_of(word)
    if said is not None or underway:
        return said or claimed
    return Status.DONE if found.ticked and not half_done else claimed


def _unique_deps(found: list[Dep]) -> tuple[Dep, ...]:
    first: dict[str | int, Dep] = {}
    for dep in sorted(found, key=lambda dep: not dep.is_declared):
        first.setdefault(dep.line if dep.carrier == "unclear" else ids.fold(dep.target), dep)
    return tuple(sorted(first.values(), key=lambda dep: dep.line))
