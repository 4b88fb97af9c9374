"""Read the order that a section such as "Dependencies & Execution Order" declares between phases, stories and tasks.

Only statements with one possible meaning become edges: `US2 depends on US7`, `Phase 3 depends on Phase 2`,
`T006..T011 before T012..T021`. Other lines with several ids are reported; nothing is guessed.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product

from santiago.contract.lazy_regex import pattern
from santiago.contract.plan import Finding
from santiago.planner import ids, words
from santiago.planner.draft import PLANNED, Dep, Document, DocumentError, GroupEdge, Unit
from santiago.planner.findings import note, warning
from santiago.planner.hints import targets
from santiago.planner.markdown import carriers
from santiago.planner.markdown.outline import Block, Kind
from santiago.planner.source import Source
from santiago.planner.structured import json_tree
from santiago.planner.structured.tree import Object, as_text, items

_PARALLEL = pattern(
    r"(?i)\bparallel|concurrent|parallèle|paralelo|samtidigt|параллельно|паралельно|並列|并行|並行|병렬"
)
_LABELS = pattern(r"^[^:：]{1,40}[:：]\s")
_MOST = 50
"""The most tasks of one sentence that are compared with each other."""

_SECTION = pattern(
    r"(?i)\b(?:dependenc(?:y|ies)|execution order|task order|build order"
    r"|beroenden|abhängigkeiten|dépendances|dependencias|dependências|зависимости)\b|依存|依赖|依賴|의존",
)
_VERB = pattern(
    r"(?i)\s*(?P<verb>(?:all |must |should |each |can(?:not)? )*"
    r"\b(?:depends? (?:up)?on|requires?|blocked by|must follow|needs?"
    r"|(?:starts?|begins?|runs?|do|done|comes?) after)\b|\bdepends\b|beroende av|依存|依赖于?)\s*:?\s*",
)
_BEFORE = pattern(
    r"(?i)\s+(?:must (?:come|finish|complete|be (?:done|complete|finished)) |runs? |comes? |finish(?:es)? |is |are )*(?:before|precedes?|blocks?)\s+",
)
_STORY = pattern(r"(?i)^(?:user stor(?:y|ies)|us|story)\s*-?\s*(?P<number>\d+)$")
_PHASE = pattern(r"(?i)^(?:phase|fas|fase|étape|этап|フェーズ|阶段|단계)\s*(?P<number>\w+)$")
_FILLER = pattern(
    r"(?i)\b(?:completion|completed?|complete|must|should|all|have to|being|is|are|be|done"
    r"|finished|sequential|in sequence|phase tasks|tasks?|the|all of|of|only|first|both)\b|[*_`✅⚠️]",
)
_NONE = pattern(r"(?i)\bno dependenc|\bindependent\b|\bcan start (?:immediately|after)|\bparallel\b")
_CLAUSE = pattern(r"\s+[—–-]\s+|[;。；]|\.(?=\s|$)")
_LIST = pattern(r"(?i)\s*(?:,|;|&|\+|、|，|\band\b|\bund\b|\bet\b|\by\b|\be\b|\boch\b)\s*")
_GROUP_IN_BRACKETS = pattern(r"(?i)[(（]\s*((?:phase|us|user story)\s*-?\s*\w+)\s*[)）]")
_BRACKETS = pattern(r"[(（][^()（）]*[)）]")


_Deps = dict[str, list[Dep]]
"""For each unit id, the dependencies that the section declares."""


def ordered(source: Source, document: Document) -> Document:
    """Add the dependencies that the document's dependency sections declare, and warnings about contradictions."""
    names, deps = _Names(document.units), _Deps()
    inside = [False] * len(source.outline.blocks)
    for index, block in enumerate(source.outline.blocks):
        outer = inside[block.section] if block.section >= 0 else False
        lead = source.leads[index]  # `Task 2: Install dependencies` is a unit and announces none
        announces = block.kind is Kind.HEADING and (lead is None or lead.only_counts) and _SECTION.search(block.text)
        inside[index] = outer or bool(announces)
        if inside[index] and block.kind in (Kind.ITEM, Kind.PARA) and block.box is None:
            _statement(block, names, document, deps)
        elif inside[index] and block.kind is Kind.CODE and '"waves"' in block.text:
            _read_waves(block, document, deps)
    document.units = [replace(unit, deps=(*unit.deps, *deps.get(unit.id or "", ()))) for unit in document.units]
    document.findings += contradictions(source, document.units)
    return document


def _read_waves(block: Block, document: Document, deps: _Deps) -> None:
    """Read Kiro's graph: the tasks of a wave wait for those of the wave before it, or of the waves that it names.

    Where a task waits for one of a later parent, parents are no stages: they become tags.
    """
    try:
        root = json_tree.parse("\n".join(line for line in block.lines if not line.lstrip().startswith(("```", "~~~"))))
    except DocumentError:
        return
    members: dict[str, list[str]] = {}
    place = {unit.id: unit.chunk for unit in document.units if unit.id and unit.status in PLANNED}
    chunks = list(dict.fromkeys(place.values()))
    pairs: list[tuple[str, str]] = []
    before = ""
    for number, node in enumerate(items(root.get("waves")) if isinstance(root, Object) else ()):
        wave = node if isinstance(node, Object) else Object(node.line)
        tasks = list(map(as_text, items(wave.get("tasks") if wave is node else node)))
        stated = wave.field("depends_on", "dependsOn")
        waits_for = list(map(as_text, items(stated.value))) if stated else [before]
        before = wave.text("id", "wave") or str(number)
        named = set(map(ids.fold, tasks))
        members[before] = [n for n in place if ids.fold(n) in named or any(carriers.extends(n, t) for t in tasks)]
        pairs += product(members[before], [each for name in waits_for for each in members.get(name, ())])
    for task, needed in pairs:
        deps.setdefault(task, []).append(Dep(target=needed, line=block.line, carrier="section"))
    if any(chunks.index(place[needed]) > chunks.index(place[task]) for task, needed in pairs):
        document.units = [replace(unit, chunk=None, tags=(*unit.tags, unit.chunk or "")) for unit in document.units]


class _Names:
    """The names that a statement may use for groups and units."""

    def __init__(self, units: list[Unit]) -> None:
        self.units = {ids.fold(unit.id): unit.id for unit in units if unit.id}
        self.tags = {tag for unit in units for tag in unit.tags if tag.startswith("US")}
        self.chunks: dict[str, str] = {}
        for chunk in dict.fromkeys(unit.chunk for unit in units if unit.chunk):
            head, _, title = re.sub(r"[：]", ":", chunk).partition(":")
            self.chunks.setdefault(words.normal(head), chunk)
            self.chunks.setdefault(words.normal(re.split(r"\s*[(（]|\s+[-–—]\s+", title)[0]), chunk)
        self.chunks.pop("", None)
        number = {chunk: place for place, chunk in enumerate(dict.fromkeys(unit.chunk for unit in units))}
        self.places: dict[str, tuple[int, int]] = {}
        """For each chunk and tag the numbers of its first and last chunk."""
        for name, place in ((name, number[unit.chunk]) for unit in units for name in (unit.chunk, *unit.tags) if name):
            first, last = self.places.get(name, (place, place))
            self.places[name] = (min(first, place), max(last, place))

    def is_kept(self, group: str, target: str) -> bool:
        """Tell whether the order of the chunks already makes one group wait for the other."""
        first, last = self.places.get(group), self.places.get(target)
        return first is not None and last is not None and last[1] < first[0]

    def group(self, text: str) -> str | None:
        """Return the tag or chunk that a text names, or None."""
        text = text.strip(" *_`:.,")
        if (story := _STORY.match(text)) and f"US{int(story['number'])}" in self.tags:
            return f"US{int(story['number'])}"
        text = _FILLER.sub(" ", text).strip()
        if (phase := _PHASE.match(text)) is not None:
            return self.chunks.get(words.normal(f"phase {phase['number']}"))
        named = words.normal(text)
        return self.chunks.get(named) or self.chunks.get(re.sub(r"\s*phase$", "", named))

    def resolve(self, text: str) -> tuple[list[str], list[str]] | None:
        """Return (groups, unit ids) that a list names, or None if any part of it is something else."""
        bracketed = _GROUP_IN_BRACKETS.search(text)
        group = self.group(bracketed[1]) if bracketed else None
        if group:
            return [group], []
        body = _BRACKETS.sub(" ", text)
        found, sure = targets(_FILLER.sub(" ", body))
        if found and sure and self.units.keys() >= set(map(ids.fold, found)):
            return [], [self.units[ids.fold(name)] for name in found]
        groups = [self.group(part) for part in _LIST.split(body) if part.strip(" *_`.")]
        return (list(filter(None, groups)), []) if groups and all(groups) else None


def contradictions(source: Source, units: list[Unit]) -> list[Finding]:
    """Report tasks that a sentence calls parallel although one depends on the other."""
    needs = {unit.id: {dep.target for dep in unit.deps if dep.is_declared} for unit in units if unit.id}
    found = []
    plain = (b for b in source.outline.blocks if b.kind in (Kind.ITEM, Kind.PARA) and b.box is None)
    for block in (block for block in plain if _PARALLEL.search(block.text)):
        names = [name for name in targets(_LABELS.sub(" ", block.text))[0] if name in needs][:_MOST]
        pairs = [(name, other) for name in names for other in names if other in needs[name]]
        for name, other in pairs:
            says = f"{name} and {other} are called parallel here, but {name} depends on {other}; the dependency is kept"
            found.append(warning("parallel_contradiction", block.line, says, "Remove the dependency, or the claim."))
    return found


def _statement(block: Block, names: _Names, document: Document, deps: _Deps) -> None:
    sentence = block.text.replace("**", "").replace("__", "")
    if block.text.rstrip().endswith((":", "：")) or (_NONE.search(sentence) and not _VERB.search(sentence)):
        return
    if read := _read(sentence, names):
        (groups, units), (on_groups, on_units) = read
        for group in groups:
            on_groups = [target for target in on_groups if not names.is_kept(group, target)]
            others = [target for target in (*on_groups, *on_units) if target != group]
            document.edges += [GroupEdge(group=group, target=target, line=block.line) for target in others]
        waits = [Dep(target=target, line=block.line, carrier="section") for target in (*on_groups, *on_units)]
        for unit in units:
            deps.setdefault(unit, []).extend(dep for dep in waits if dep.target != unit)
    elif len(set(ids.mentioned(sentence)) & set(names.units.values())) > 1:
        text = block.text if len(block.text) <= 80 else block.text[:79] + "…"
        message = f'the order in "{text}" could be read in more than one way; no dependency was taken from it'
        hint = 'Write "T012 depends on T008", or put "(depends on T008)" behind the task.'
        document.findings.append(note("mentioned_id", block.line, message, hint))


_Parts = tuple[tuple[list[str], list[str]], tuple[list[str], list[str]]]


def _read(sentence: str, names: _Names) -> _Parts | None:
    """Read `A depends on B`, `A: depends on B`, or else `A before B`."""
    parts = _BEFORE.split(_CLAUSE.split(sentence)[0])
    told = [parts[::-1]] if len(parts) == 2 else []
    if verb := _VERB.search(sentence):
        told = [[sentence[: verb.start()].strip(" :：—–-"), _CLAUSE.split(sentence[verb.end() :])[0]], *told]
    for subject, target in told:
        if (waits := names.resolve(subject)) and (first := names.resolve(target)):
            return waits, first
    return None
