"""A whole run as one document, for people who have neither santiago nor the repository: what was done, and why to believe it."""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import TYPE_CHECKING, Any

from santiago.app.loading import record_in
from santiago.contract import codec
from santiago.contract.outcomes import Proof
from santiago.contract.phases import ENDED, RunPhase
from santiago.contract.plan import NOT_UNDERSTOOD
from santiago.contract.reasons import MEANINGS
from santiago.executor.budget import Budget
from santiago.executor.tally import WORDS, status_of, strength_of, summary
from santiago.report import spending
from santiago.report.chunks import rows_of
from santiago.report.endings import ending_of
from santiago.report.evidence import FINDINGS, AttemptEvidence, Check, checks_in, stats_of, totals
from santiago.report.marks import RUNS, Mark, mark
from santiago.report.matrix import matrix
from santiago.report.measures import limit, spoken
from santiago.report.outward import fitted, for_others
from santiago.report.proof import PROOFS
from santiago.report.pull_request import judging
from santiago.report.run_status import headline_of
from santiago.report.spending import dollars
from santiago.report.story import OUTPUT_LINES, look_of, outcome_of, usage_of
from santiago.report.story_status import explanation
from santiago.report.timeline import timeline
from santiago.util.text import count, first

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.app.loading import AttemptStory, Run
    from santiago.contract.plan import Story
    from santiago.report.chunks import ChunkRow

PARTS = ("patches", "output", "answers")
"""What can be left out."""
LARGEST, EACH, SMALLEST = 2_900_000, 1_200, 300_000
"""Bytes that a report should have; what a story or an attempt takes of them; what is left for patches and output in any case."""
LONGEST_TEXT = 600
"""Characters of one text of the document, or of a person."""
MOST_NAMES = 20
MOST_NODES = 60
"""A larger plan is drawn by its chunks."""
_CHECKS = {
    "pass": Mark("✓", "passed", "good"),
    "fail": Mark("✗", "failed", "bad"),
    "inherited": Mark("!", "fails as before", "warn"),
}


def document(run: Run, without: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return what a report shows, fit for other people: without paths and names of this machine, and not too long."""
    stories = [_story(run, planned, without) for planned in run.stories]
    chunks = [chunk_data(row) for row in rows_of(run, run.history.last)]
    told = {
        "contract_version": 1, **_verdict(run), "run_checks": _run_checks(run, without), "left": _left(run),
        "graph": graph_of(stories, chunks), "timeline": timeline(run), "spending": spending.by_story(run), "evidence": _evidence(run),
        "chunks": chunks, "stories": stories, "answers": [] if "answers" in without else list(_answers(run)), "digests": _digests(run),
        "without": [part for part in PARTS if part in without],
    }  # fmt: skip
    found: dict[str, Any] = for_others(run, told)
    rows = len(stories) + sum(len(one["attempts"]) for one in stories)
    room = max(LARGEST - rows * EACH, SMALLEST)
    cut = fitted(_long_texts(found), room, lambda text: len(escape(text).encode("utf-8", "replace")))
    return {**found, "holds": _holds(found, cut)}


# The verdict


def _verdict(run: Run) -> dict[str, Any]:
    state, line = run.state, headline_of(run)
    sentence = MEANINGS[state.reason].sentence if state.reason and state.phase is not RunPhase.SUCCESS else ""
    return {
        "run_id": run.run_id, "title": first(run.plan.title, LONGEST_TEXT), "document": run.plan.source.path,
        "state": line.word, "tone": RUNS.get(line.word, ""), "headline": line.text, "reason": state.reason, "sentence": sentence,
        "finished": state.phase in ENDED,
        "began": run.history.first, "last": run.history.last, "seq": state.seq, "agent": run.history.start.get("agent", ""),
        "sandbox": run.history.start.get("sandbox", ""), "summary": codec.to_data(summary(run.plan, state)), "figures": list(_figures(run)),
        "proofs": list(_proofs(run)), "checks": judging(run),
    }  # fmt: skip


def _figures(run: Run) -> Iterator[dict[str, str]]:
    state, found, budget = run.state, summary(run.plan, run.state), Budget(run.run_input.limits, run.state)
    used = spending.by_story(run)
    tokens, money = budget.tokens, budget.money
    for name, value, of in (
        ("Stories done", f"{found.completed} of {len(run.plan.stories)}", f"{found.unproven} not proven" if found.unproven else ""),
        ("Criteria shown", f"{found.criteria_shown} of {found.criteria}", "by a named test"),
        ("Attempts", f"{state.counted}", f"limit {budget.run_attempts}"),
        ("Working time", spoken(state.used_ms), f"limit {limit(budget.run_ms)}"),
        ("Tokens", used["tokens"], f"limit {tokens.most:,}" if tokens else ""),
        ("Cost", used["cost"], f"limit {dollars(money.most)}" if money else ""),
    ):  # fmt: skip
        yield {"name": name, "value": value, "of": of}


def _proofs(run: Run) -> Iterator[dict[str, Any]]:
    """Yield each word that says how strongly finished stories are shown, with its meaning and these stories."""
    by: dict[tuple[str, str], list[str]] = {}
    for planned in run.plan.stories:
        story = run.state.stories[planned.id]
        if status_of(story) == "done":
            word = WORDS[strength_of(planned, story)]
            by.setdefault((story.proof or Proof.REGRESSION, word), []).append(planned.id)
    for proof, meaning in PROOFS.items():
        for (word, strength), names in by.items():
            if word == proof:
                yield {"word": proof, "strength": strength, "meaning": meaning, "stories": names}


def _run_checks(run: Run, without: frozenset[str]) -> list[dict[str, Any]]:
    """Return what the run's checks said of the final head; none before they ran."""
    rounds = run.state.verify_rounds
    record = record_in(run.out_dir / "evidence" / f"run-{rounds}.json") if rounds else {}
    return [_check(check, "", without) for check in checks_in(record)]


# What is left


def _left(run: Run) -> dict[str, Any]:
    rows = [row for row in run.plan.account if row.became == "left_out"]
    pairs = ((planned, run.state.stories[planned.id]) for planned in run.stories)
    return {
        "stories": [planned.id for planned, story in pairs if status_of(story) != "done"],
        "questions": [_asked(one.id, one.story, one.text) for one in run.state.open_questions()],
        "parts": [
            {"title": row.title, "lines": list(row.lines), "why": row.why, "planned": row.why != NOT_UNDERSTOOD}
            for row in rows
        ],
    }


def _asked(name: str, story: str | None, text: str) -> dict[str, Any]:
    return {"id": name, "story": story, "text": first(text, LONGEST_TEXT)}


def _answers(run: Run) -> Iterator[dict[str, Any]]:
    """Yield what people were asked and said, and whose work they took on their word."""
    for one in run.state.questions.values():
        if one.answer is not None:
            answer = {"answer": first(one.answer, LONGEST_TEXT), "detail": first(one.detail, LONGEST_TEXT)}
            yield {**_asked(one.id, one.story, one.text), **answer, "who": one.actor, "when": one.answered_at}
    answered = {one.story for one in run.state.questions.values() if one.answer is not None}
    for name, said in run.history.attested.items():
        if name not in answered:
            text = "Is its work done, whatever the checks said?"
            yield {**_asked("", name, text), "answer": "accepted", "detail": said.why, "who": said.actor, "when": ""}


# The plan


def chunk_data(row: ChunkRow) -> dict[str, Any]:
    """Return what pages show of a chunk."""
    return {
        "id": f"chunk-{row.number}", "number": row.number, "label": row.label, "mark": row.mark._asdict(), "done": row.done,
        "of": row.stories, "ms": row.ms, "note": row.note,
    }  # fmt: skip


def graph_of(stories: list[dict[str, Any]], chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the boxes of the plan's graph: its stories, or the chunks of a large plan."""
    whole = [one for one in stories if not one["parent"]]
    if len(whole) <= MOST_NODES:
        return {
            "of": "story",
            "nodes": [{name: one[name] for name in ("id", "title", "after", "mark")} for one in whole],
        }
    at = {row["label"]: row["number"] for row in chunks}
    chunk_of = {one["id"]: at[one["chunk"]] for one in whole}
    after: dict[int, set[int]] = {number: set() for number in at.values()}
    for one in whole:
        after[chunk_of[one["id"]]] |= {chunk_of[name] for name in one["after"] if name in chunk_of}
    return {
        "of": "chunk",
        "nodes": [
            {
                "id": str(row["number"]), "title": f"{row['done']}/{row['of']} {row['label']}", "mark": row["mark"],
                "after": [str(one) for one in sorted(after[row["number"]]) if one < row["number"]],
            }
            for row in chunks
        ],
    }  # fmt: skip


def _evidence(run: Run) -> list[dict[str, Any]]:
    return [
        {**row, "text": first(row["text"], LONGEST_TEXT), "test": first(row["test"], LONGEST_TEXT)}
        for row in matrix(run)
    ]


# Stories and attempts


def _story(run: Run, planned: Story, without: frozenset[str]) -> dict[str, Any]:
    story = run.state.stories[planned.id]
    most = Budget(run.run_input.limits, run.state).attempts_of(story)
    return {
        "id": planned.id, "title": first(planned.title, LONGEST_TEXT), "chunk": planned.chunk, "parent": story.parent,
        "after": list(planned.depends_on), "mark": mark(story, at_rest=run.worker is None)._asdict(), "proof": story.proof,
        "tries": f"{story.counted} of {count(most, 'attempt')}" if story.attempts else "", "commit": story.commit or "",
        "why": [first(text, LONGEST_TEXT) for text in explanation(run.state, planned, run.run_input)],
        "told": [] if "answers" in without else [first(note, LONGEST_TEXT) for note in story.notes],
        "attempts": [attempt_data(run, planned, one, without) for one in run.history.of(planned.id)],
    }  # fmt: skip


def attempt_data(run: Run, planned: Story, one: AttemptStory, without: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return what pages show of an attempt."""
    evidence, ending = (
        AttemptEvidence(run.out_dir, planned.id, one.number),
        ending_of(run.out_dir, planned.id, one.number),
    )
    symbol, tone = look_of(one)
    patch, critique = evidence.patch(), evidence.critique()
    stats = stats_of(patch)
    talks = "output" not in without
    return {
        "number": one.number, "mark": Mark(symbol, outcome_of(one), tone)._asdict(), "started": one.started, "ended": one.ended or None,
        "agent": one.agent, "own_work": bool(one.own_work), "agent_ms": one.agent_ms, "verify_ms": one.verify_ms,
        "usage": usage_of(one, ending) if not one.own_work else "", "commit": one.commit, "message": first(one.message, LONGEST_TEXT) if talks else "",
        "said": list(ending.words) if talks else [], "findings": list(_findings(evidence)),
        "checks": [_check(check, critique, without) for check in evidence.checks()],
        "critique": _text(critique) if critique and talks else None, "files": [file._asdict() for file in stats],
        "totals": totals(stats), "patch": _text(patch) if patch and "patches" not in without else None,
    }  # fmt: skip


def _check(check: Check, critique: str, without: frozenset[str]) -> dict[str, Any]:
    """Return how a check ended; with the output of one that failed, unless the critique quotes it."""
    shown = check.verdict in ("fail", "inherited") and not critique and "output" not in without
    return {
        "mark": _CHECKS.get(check.verdict, Mark("-", check.verdict, "warn"))._asdict(), "command": first(check.command, LONGEST_TEXT),
        "ended": check.ended, "tests": check.checks, "output": _text("\n".join(check.lines(OUTPUT_LINES))) if shown else None,
    }  # fmt: skip


def _findings(evidence: AttemptEvidence) -> Iterator[dict[str, Any]]:
    for field, words in FINDINGS.items():
        if names := evidence.verdict(field):
            kept = [first(name, LONGEST_TEXT) for name in names[:MOST_NAMES]]
            yield {"what": words, "names": kept, "more": len(names) - len(kept)}


def _text(text: str) -> dict[str, Any]:
    """Return a text that may be cut, and how many of its lines were."""
    return {"text": text, "cut": 0}


def _long_texts(found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the texts that may be cut."""
    for one in (attempt for story in found["stories"] for attempt in story["attempts"]):
        yield from (text for text in (one["patch"], one["critique"]) if text)
        yield from (check["output"] for check in one["checks"] if check["output"])
    yield from (check["output"] for check in found["run_checks"] if check["output"])


# What it rests on, and what it holds


def _digests(run: Run) -> dict[str, Any]:
    state = run.state
    return {
        "plan": run.plan.digest, "plan_file": state.plan_digest, "input_file": state.input_digest, "log_seq": state.seq,
        "log_hash": run.log_hash, "base": state.base or "", "head": state.head or "", "branch": state.branch or "",
        "audit": f"santiago audit {run.run_id}",
    }  # fmt: skip


def _holds(found: dict[str, Any], cut: int) -> dict[str, int]:
    """Return what whoever sends the report should know."""
    attempts = [one for story in found["stories"] for one in story["attempts"]]
    outputs = Counter(bool(check["output"]) for one in attempts for check in one["checks"])
    return {
        "stories": len(found["stories"]), "attempts": len(attempts), "patches": sum(bool(one["patch"]) for one in attempts),
        "files": len({file["path"] for one in attempts if one["patch"] for file in one["files"]}),
        "outputs": outputs[True] + sum(bool(one["critique"]) + bool(one["said"]) for one in attempts),
        "answers": len(found["answers"]), "cut": cut,
    }  # fmt: skip
