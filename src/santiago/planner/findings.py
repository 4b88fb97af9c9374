"""The catalogue of findings: every code that a plan can have, with the sentence that `santiago explain` shows for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from santiago.contract.counting import count
from santiago.contract.plan import Finding
from santiago.planner.draft import Status, Unit

CATALOGUE: dict[str, str] = {
    # Refusals
    "no_units": "No requirement, story or task was recognised. The message says what was seen; `santiago draft` has an agent structure the document.",
    "template": "The document is a template whose placeholders were never filled in, so there is nothing to plan yet.",
    "merge_conflict": "The document holds the markers of an unfinished merge, so parts of it may be there twice.",
    "configuration": "The file is configuration, not a requirements document.",
    "empty_check": "A check such as `true` passes whatever was done, so nothing would prove the work.",
    "cycle": "Some stories depend on each other in a circle, so none of them can come first.",
    "self_dependency": "A story names itself as its own dependency.",
    "later_chunk": "A story depends on one in a later chunk. Chunks run in order, so it could never start.",
    "out_of_order": "In a plan that runs unchanged, a story comes before one that it depends on.",
    "ambiguous_dependency": "A dependency names an id that the document defines more than once.",
    "duplicate_id": "An id is defined more than once. In a document written by people both are planned under unique keys.",
    "unknown_dependency": "A plan written by a program names a dependency that it does not define.",
    "missing_chunk": "A plan written by a program has tasks without a chunk label, so the order of chunks is unknown.",
    "substep_without_step": "A heading such as Step 3.1 is a part of Step 3, and there is no Step 3 before it.",
    "unknown_field": "A strict format has a field that it does not know.",
    "invalid_field": "A field has a value that its format does not allow.",
    "unreadable": "The text is broken as JSON or YAML, or nests too deep to be a requirements document.",
    "unknown_units": "The option --units asks for a list that the document does not have.",
    # Left out of the plan, and reported
    "dropped": "The author marked this as dropped, cancelled or removed.",
    "out_of_scope": "The section says that its content is out of scope, deferred or for later.",
    "optional": "The author marked this as optional; it is planned like the rest.",
    "side_list": "A second list of ids (functional requirements beside stories, say) is not planned on its own.",
    "context_list": "A list of user stories or goals beside the chosen units is context, not work of its own.",
    "criteria_of_no_story": "Acceptance criteria of the whole document belong to no single story.",
    "criteria_shared": "Criteria of the whole document were attached to the last story, which closes it.",
    "fence_not_read": "Code fences are examples; requirements inside them are not read.",
    "check_not_read": "A text under a label for checks looks like a command, but is not written as one, alone in back-ticks; it is not run.",
    "file_not_read": "A list of files holds words that are not paths; they stay in the story's text, and the others are its files.",
    "unknown_label": "A label above a list is not known in any of the languages of the table.",
    "unknown_box": "A check box holds a character whose meaning is not known.",
    "needs_clarification": "The document itself says that something must be clarified.",
    "other_tags": "The file holds several task lists; one was planned.",
    "chunks_joined": "A story depends on one of a later section, so that sections do not divide the plan; phases do.",
    "merged": "One unit is in two places of the document and was planned once.",
    "yaml_repaired": "The YAML was not valid and was read leniently.",
    "scenario_without_then": "A scenario never says what must be the case in the end.",
    "no_title": "The unit has no title of its own.",
    "no_id": "A task block lacks the id that its format asks for.",
    "looks_like_a_unit": "A line outside every story explains an id of the stories' kind.",
    "plain_head": "A plain line begins as the headings of stories do and has a list below it, so it may be meant as one.",
    "checkpoint": "A task is meant for a person: to look at something, to decide, or to do what no program can.",
    "partly_done": "A task is ticked while some of its parts are open; it is planned as open.",
    "renamed": "A requirement only gets another name; there is nothing to build.",
    "conflicts_with": "The document says that tasks must not run at the same time.",
    # Dependencies
    "external_dependency": "The story depends on something that the document does not define; it is blocked unless --assume-external.",
    "mentioned_id": "Prose mentions an id without declaring a dependency; no edge was made.",
    "parallel_contradiction": "The document calls tasks parallel and also makes one wait for the other; the dependency is kept.",
    "dependency_dropped": "A story depends on one that is not planned.",
    "dependency_unclear": "A dependency field names nothing that could be resolved.",
    # Order and execution
    "size_missed": "A planning session was asked for a plan of a certain size, and this one is far from it. It can still be run.",
    "chunk_order": "Chunk labels are numbered in another order than they appear in; they run as they appear.",
    "no_criteria": "A story has no acceptance criteria; only its checks can judge it.",
    "no_focus": "A story names no files, so it runs alone unless --optimistic.",
    "shared_focus": "Stories name the same file, so they will not run side by side.",
    "unknown_profile": "The profile of a story is not known; generalist is used instead.",
    "plan_id": "The id that a PlanSpec gives itself; the board knows the plan by it.",
    "document_commands": "Commands in the document run only after approval.",
    "claimed_done": "The document says that this is done. A check of its own decides; about all others you are asked once (`--trust-ticks`).",
}


def few(names: Sequence[object], most: int = 8) -> str:
    """Return names with commas between them; of a long list the first ones, and the number of the others."""
    shown = ", ".join(map(str, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def note(code: str, line: int, message: str, hint: str) -> Finding:
    """Return a finding that asks nothing of anybody."""
    return Finding(level="note", code=code, line=line, message=message, hint=hint)


def warning(code: str, line: int, message: str, hint: str) -> Finding:
    """Return a finding that somebody should look at."""
    return Finding(level="warning", code=code, line=line, message=message, hint=hint)


def error(code: str, line: int, message: str, hint: str) -> Finding:
    """Return a finding that refuses the plan."""
    return Finding(level="error", code=code, line=line, message=message, hint=hint)


def of_no_story(number: int, label: str, line: int) -> Finding:
    """Return the warning that criteria of a whole document or group judge no story."""
    message = f'{count(number, "criterion", "criteria")} under "{label}" belong{"s" if number == 1 else ""} to no story; not covered by any check'
    hint = "Move each under the story that it judges, or give the run a command that checks them."
    return warning("criteria_of_no_story", line, message, hint)


_SAID = {
    Status.DROPPED: ("dropped", "marked as dropped, cancelled or removed; not planned", "Remove the mark to plan it."),
    Status.FUTURE: ("out_of_scope", "out of scope or put off; not planned", "Remove the mark, or move it, to plan it."),
    Status.OPTIONAL: ("optional", "marked as optional; planned like the others", "Remove it if it is not wanted."),
}


def left_out(units: Iterable[Unit]) -> Iterator[Finding]:
    """Yield a note for every unit that is dropped, out of scope or optional."""
    for unit in units:
        if unit.status in _SAID:
            code, says, hint = _SAID[unit.status]
            name = f"{unit.id} {unit.title}" if unit.id else unit.title
            yield note(code, unit.line, f"{name[:80]}: {says}", hint)
