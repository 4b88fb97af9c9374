"""The compiler: it turns a document into a plan. The same text always gives the same plan, and every doubt becomes a finding.

text → reader → units → requirements → graph → order → stories → findings → plan
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from santiago.contract import box_ticks
from santiago.contract.codec import sealed
from santiago.contract.counting import count
from santiago.contract.plan import CONTRACT_VERSION, Chunk, Finding, Origin, Plan, Provenance, Source, Story
from santiago.contract.record import lean
from santiago.planner import rebase, requirements
from santiago.planner.account import Account, account
from santiago.planner.commands import NO_CHECK
from santiago.planner.draft import Document, Hint, Status, Unit, by_key
from santiago.planner.findings import error, few, note, warning
from santiago.planner.order import Graph, chunk_labels, link, order, out_of_order
from santiago.planner.reading import read_document, read_plan
from santiago.planner.requirements import Planned, planned_units
from santiago.planner.source import Source as Text


@lean(frozen=True)
class Compilation:
    """The result of compiling: a plan, or no plan and the findings that say why not."""

    plan: Plan | None
    findings: tuple[Finding, ...]
    diff: rebase.Diff | None = None

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.level == "error")


def compile_plan(text: Text, *, strict: bool = False, against: Plan | None = None) -> Compilation:
    """Compile one document.

    `strict` makes every warning refuse the plan. `against` is an earlier plan whose story ids are kept.
    """
    document = read_document(text)
    planned, graph, labels, sequence, found = _arrange(document)
    if not planned and not any(finding.level == "error" for finding in found):
        line, what = document.units[0].line if document.units else 0, count(len(document.units), "unit")
        message = f"nothing is left to plan ({what}): all is out of scope, put off or dropped"
        hint = (
            "Take one of them out of its section or remove its mark; --units plans from another list, if there is one."
        )
        found.append(error("no_units", line, message, hint))
    if refused := _refusals(found, strict=strict):
        return Compilation(None, refused)
    ordered = [planned[position] for position in sequence]
    again = document.format == "santiago-plan"  # a plan.json: its unit ids are story ids
    fresh = [f"S{number}" for number in range(1, len(ordered) + 1)]
    ids = rebase.kept_ids(ordered, against, again=again) if against else fresh
    stories = _stories(planned, sequence, ids, labels, graph)
    run_verify = tuple(dict.fromkeys(hint.value for hint in document.run_verify))
    found += _check(stories, run_verify)
    if refused := _refusals(found, strict=strict):
        return Compilation(None, refused)
    accounted = account(text, document, [(item.unit, name) for item, name in zip(ordered, ids, strict=True)])
    plan = _plan(text, document, ordered, stories, run_verify, _sorted(found), accounted)
    return Compilation(plan, plan.findings, rebase.difference(against, plan) if against else None)


def faults_of_plan(text: Text) -> tuple[Finding, ...]:
    """Return every error in a plan.json that is to run unchanged. The rules are those of the compiler."""
    planned, graph, _, _, found = _arrange(read_plan(text))
    if not any(finding.code == "cycle" for finding in found):
        found += out_of_order(planned, graph)
    return tuple(finding for finding in _sorted(found) if finding.level == "error")


def _arrange(document: Document) -> tuple[list[Planned], Graph, list[str], list[int], list[Finding]]:
    """Return the planned units, their dependency graph, their chunks, their order, and all findings so far."""
    staffed = requirements.staff(document)
    planned, findings = planned_units(document)
    graph = link(document, planned)
    labels = chunk_labels(planned)
    sequence, troubles = order(planned, labels, graph)
    units = [item.unit for item in planned]
    for hint in (*(hint for unit in units for hint in unit.verify), *document.run_verify):
        if hint.value in NO_CHECK:
            message = f"the check `{hint.value}` proves nothing: it passes whatever was done"
            way = "Write a command that fails until the work is done, or leave the check out."
            staffed.append(error("empty_check", hint.line, message, way))
    doubts = [*_unread(units, document.unread), *staffed]
    return planned, graph, labels, sequence, [*document.findings, *findings, *graph.findings, *troubles, *doubts]


def _refusals(found: Sequence[Finding], *, strict: bool) -> tuple[Finding, ...]:
    """Return all findings if one of them is an error (with `strict`: or a warning), else nothing."""
    if strict:
        found = [replace(finding, level="error") if finding.level == "warning" else finding for finding in found]
    return _sorted(found) if any(finding.level == "error" for finding in found) else ()


def _sorted(found: Sequence[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(found, key=lambda f: (f.line, f.level, f.code, f.message)))


def _stories(
    planned: Sequence[Planned], sequence: Sequence[int], ids: Sequence[str], labels: Sequence[str], graph: Graph
) -> tuple[Story, ...]:
    id_at = dict(zip(sequence, ids, strict=True))
    place = {position: number for number, position in enumerate(sequence)}
    stories = []
    for position in sequence:
        needs = sorted(graph.needs[position], key=place.__getitem__)
        depends = [replace(graph.needs[position][needed], value=id_at[needed]) for needed in needs]
        external = list(graph.external[position].values())
        stories.append(_story(planned[position], id_at[position], labels[position], depends, external))
    return tuple(stories)


def _story(item: Planned, name: str, chunk: str, depends: list[Provenance], external: list[Provenance]) -> Story:
    unit = item.unit
    named = {"files": unit.files, "verify": unit.verify, "covers": unit.covers}
    hints = [
        Provenance(field=kind, value=hint.value, line=hint.line, carrier=hint.carrier)  # type: ignore[arg-type]
        for kind, found in named.items()
        for hint in found
    ]
    return Story(
        id=name,
        title=unit.title,
        description=unit.text,
        requirements=(item.key,),
        criteria=tuple(criterion.id for criterion in item.requirement.criteria),
        depends_on=tuple(provenance.value for provenance in depends),
        external_depends_on=tuple(provenance.value for provenance in external),
        chunk=chunk,
        role=unit.role,
        profile=unit.profile,
        files=tuple(hint.value for hint in unit.files),
        verify=tuple(hint.value for hint in unit.verify),
        priority=unit.priority,
        claimed_done=unit.status is Status.DONE,
        origin=Origin(id=unit.id, line=unit.line),
        provenance=(*depends, *external, *hints),
    )


def _plan(
    text: Text,
    document: Document,
    ordered: Sequence[Planned],
    stories: tuple[Story, ...],
    run_verify: tuple[str, ...],
    findings: tuple[Finding, ...],
    accounted: Account,
) -> Plan:
    members = by_key((story.chunk, story.id) for story in stories)
    plan = Plan(
        contract_version=CONTRACT_VERSION,
        title=document.title or text.name,
        source=Source(
            path=text.path, sha256=box_ticks.digest_of(text.text), format=document.format, evidence=document.evidence
        ),
        digest="",
        requirements=tuple(item.requirement for item in ordered),
        stories=stories,
        chunks=tuple(Chunk(label=label, stories=tuple(names)) for label, names in members.items()),
        run_verify=run_verify,
        findings=findings,
        account=accounted.rows,
        certain=accounted.certain,
        chosen=None if accounted.certain else document.chosen,
        rivals=() if accounted.certain else document.rivals,
    )
    return sealed(plan)


_SHOWN = 120
"""The most characters of a text that a finding quotes."""


def _check(stories: Sequence[Story], run_verify: Sequence[str]) -> list[Finding]:
    """Return findings about the finished plan: missing criteria or files, claims of done, shared files, commands to approve."""
    judged = "Say in the document how each is judged; otherwise only its checks judge it."
    focus = "Name files in the document, so that stories which touch different files may run side by side."
    claim = "The mark is a claim: a check of its own decides; otherwise you are asked once (--trust-ticks)."
    bare, alone = [s for s in stories if not s.criteria], [s for s in stories if not s.files]
    done = [s for s in stories if s.claimed_done]
    findings = [
        _about(stories, bare, warning, "no_criteria", "no acceptance criteria", judged),
        _about(stories, alone, note, "no_focus", "no files", focus),
        _about(stories, done, note, "claimed_done", "marked as done in the document", claim),
        _shared(stories),
        _commands(stories, run_verify),
    ]
    return [finding for finding in findings if finding]


def _unread(units: Sequence[Unit], others: Sequence[Hint]) -> Iterator[Finding]:
    """Yield a warning for each text in a list of checks or files that looks like a command or a path but was not used."""
    for hint in (*(hint for unit in units for hint in unit.unread), *others):
        shown = hint.value[:_SHOWN]
        if hint.carrier == "files":
            message = f"this is in a list of files but is not read as a file: {shown}"
            way = "Write each file as its path in the repository (`./name` where it could be any word), with commas between."
            yield warning("file_not_read", hint.line, message, way)
        else:
            message = f"this looks like a command but is not run as a check: {shown}"
            way = "Write the command alone in back-ticks behind `Verify:`; if it is not a command, nothing needs doing."
            yield warning("check_not_read", hint.line, message, way)


def _about(
    stories: Sequence[Story], found: Sequence[Story], level: Callable[..., Finding], code: str, what: str, hint: str
) -> Finding | None:
    """Return one finding about these stories, or None where there are none."""
    if not found:
        return None
    one, many = ("story is", "stories are") if code == "claimed_done" else ("story has", "stories have")
    which = "all of them" if len(found) == len(stories) > 1 else few([story.id for story in found], 12)
    return level(code, found[0].origin.line, f"{count(len(found), one, many)} {what}: {which}", hint)


def _shared(stories: Sequence[Story]) -> Finding | None:
    """Return a note about files that several stories of one chunk name: such stories do not run side by side."""
    users = by_key(((story.chunk, path), story) for story in stories for path in story.files)
    shared = [(path, found) for (_, path), found in users.items() if len(found) > 1]
    if not shared:
        return None
    path, found = shared[0]
    more = f" (and {count(len(shared) - 1, 'more file')})" if len(shared) > 1 else ""
    message = f"{few([story.id for story in found], 4)} name {path}{more}; they will not run side by side"
    return note("shared_focus", found[0].origin.line, message, "Nothing to do; the order is kept.")


def _commands(stories: Sequence[Story], run_verify: Sequence[str]) -> Finding | None:
    found = [story for story in stories if story.verify]
    number = sum(len(story.verify) for story in found) + len(run_verify)
    if not number:
        return None
    line = found[0].provenance[0].line if found and found[0].provenance else 0
    what = count(number, "command stands", "commands stand")
    message = f"{what} in the document and will be run as checks after approval"
    return note("document_commands", line, message, "Read them; approve them when asked, or with --trust-commands.")
