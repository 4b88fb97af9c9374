"""A question for people, on any front end: its subject, what to look at, and the words that answer it."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from santiago.app.finding import target
from santiago.app.loading import frozen_input, titles_of
from santiago.artifacts.files import read_bytes
from santiago.artifacts.names import DETAILS, OUTCOME, PATCH, attempt_folder
from santiago.artifacts.run_locations import resolved
from santiago.contract import codec
from santiago.contract.answers import APPROVING, UNFIT, Understood, lacks, offers, understood, words_of
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.lazy_regex import pattern
from santiago.contract.outcomes import AttemptOutcome, CheckVerdict
from santiago.contract.plan import Detail
from santiago.contract.record import record
from santiago.executor import detailed_plan
from santiago.report.page import Line
from santiago.util.text import count, flat, harmless
from santiago.workspace.inspect import ask

if TYPE_CHECKING:
    from pathlib import Path

    from santiago.contract.plan import Plan
    from santiago.contract.state import Question, RunState, StoryState
    from santiago.report.session_review import Review

T = TypeVar("T")
MOST_FILES = 20
MOST_LINES = 120
"""How many lines of a difference are shown. `santiago show STORY --patch` has all of them."""
LARGEST = 1 << 22
"""Largest file that is read for a question, in bytes."""
_FILE = pattern(rb"^diff --git a/(.+?) b/", re.MULTILINE)
_SAID = {CheckVerdict.INHERITED: "as before"}
"""Result of a check whose failures were all there before."""
_SCOPED = frozenset({"detail", "result"})
REST = "a"
"""Typed alone, it approves this and the rest of the chunk."""
TEST = "t"
"""Typed alone, it opens a shell in which the work can be tried by hand."""


@record
class Card:
    """One open question with everything that a person needs to answer it."""

    id: str
    kind: str
    story: str
    title: str
    """Of the story."""
    text: str
    lines: tuple[str, ...]
    """What to look at. This is untrusted text that must still be made harmless."""
    words: tuple[tuple[str, str], ...]
    """What may be answered, and what each word does."""
    lacks: str
    """What keeps a detailed plan from plain approval; else empty."""
    options: tuple[str, ...]
    """For a question that asks to pick a story: the names of all."""
    command: str
    """The command that answers it, without the answer."""
    trying: tuple[str, ...] = ()
    """Commands with which the work can be tried by hand."""
    chunk: str = ""
    """The chunk whose remaining questions can be approved too; empty if that is not offered."""


def card(plan: Plan, state: RunState, question: Question, out_dir: Path) -> Card:
    """Return a question with what it is about."""
    story = state.stories.get(question.story or "")
    lines: tuple[str, ...] = ()
    trying: tuple[str, ...] = ()
    if story is not None and question.kind == "detail":
        lines = _of_detail(story, out_dir)
    elif story is not None and question.kind in ("result", "changed_expectation", "doubt", "refusal", "unproven"):
        lines = _of_work(story, out_dir)
        trying = (f"santiago try{target(out_dir)} {story.id}",) if story.commit or story.unshown else ()
        if question.kind == "result":
            lines = (*_difference(story, out_dir), *lines)
    words = words_of(state, question)
    scoped = question.kind in _SCOPED and APPROVING[question.kind] in words
    return Card(
        id=question.id,
        kind=question.kind,
        story=question.story or "",
        title=titles_of(plan, state, out_dir).get(question.story or "", ""),
        text=question.text,
        lines=lines,
        words=tuple(words.items()),
        lacks=lacks(state, question),
        options=question.options if question.kind == "pick" else (),
        command=f"santiago answer{target(out_dir)} {question.id}",
        trying=trying,
        chunk=story.chunk if story and scoped else "",
    )


def question_lines(asked: Card, *, most: int = 0, typed: bool = False) -> list[Line]:
    """Return what to look at, at `most` so many lines of it, the question, and the words that answer it.

    With `typed`, also what is a word only where it is typed at once.
    """
    seen = asked.lines[: most or None]
    lines = [Line(f"  {harmless(line)}") for line in seen]
    if len(seen) < len(asked.lines):
        more = count(len(asked.lines) - len(seen), "more line")
        lines.append(Line(f"  … and {more}: `santiago show {asked.story}`"))
    lines += [Line(line, "warn") for line in harmless(asked.text).splitlines() if line]
    words = [Line(f"  {word:<9} {means}") for word, means in asked.words]
    if typed and asked.chunk:
        words.append(Line(f"  {REST:<9} {asked.words[0][0]}, and the rest of chunk {flat(asked.chunk)} too"))
    return [*lines, *words]


def cards_of(review: Review) -> list[Card]:
    """Return what a planning session asks."""
    found = [(name, text, ()) for name, text in review.others]
    cards = []
    if review.question:
        counts = ", ".join(review.counts()[:1])
        text = f"Is revision {review.revision} the plan? {counts}; `santiago review {review.session_id}` shows it"
        cards.append((review.question, text, review.words))
    return [
        Card(
            id=name, kind="plan" if words else "agent", story="", title=review.title[:80], text=text, lines=(), words=words,
            lacks="", options=(), command=f"santiago answer {review.session_id} {name}",
        )
        for name, text, words in [*cards, *found]
    ]  # fmt: skip


def meant(asked: Card, line: str) -> tuple[Understood, str]:
    """Return the meaning of a typed line, and its scope (`chunk` or empty); raise if it has no meaning."""
    typed = line.strip()
    if typed == REST and asked.chunk:
        return Understood(word=asked.words[0][0]), "chunk"
    if typed in (REST, TEST):
        message = f"{typed!r} is not offered here; say one of the words, or what should be different"
        raise SantiagoError(Kind.USAGE, message)
    word, _, text = typed.partition(" ")
    fixed = word.lower() in dict(asked.words)
    answer = understood(asked.kind, word if fixed else line, text if fixed else "", asked.options)
    if not offers(dict(asked.words), answer):
        raise SantiagoError(Kind.INPUT, UNFIT[asked.lacks], where=asked.id)
    return answer, ""


def _of_detail(story: StoryState, out_dir: Path) -> tuple[str, ...]:
    """Return the detailed plan as text, and what changed since the previous one."""
    if story.detail is None:
        return ()
    number = story.detail.revision
    text = _text(out_dir, f"{DETAILS}/{story.id}/{number}.md")
    lines = tuple(text.splitlines())
    now, before = _detail(story.id, number, out_dir), _detail(story.id, number - 1, out_dir)
    if now is None or before is None:
        return lines
    changes = detailed_plan.difference(before, now) or "nothing"
    return (*lines, f"proposal {number}, changed:", *(f"  {line}" for line in changes.splitlines()))


def _of_work(story: StoryState, out_dir: Path) -> tuple[str, ...]:
    """Return which files the work changes, and what its checks said."""
    folder = attempt_folder(story.id, story.unshown.attempt if story.unshown else story.attempts)
    files = [name.decode("utf-8", "replace") for name in _FILE.findall(_bytes(out_dir, f"{folder}/{PATCH}"))]
    more = [f"  and {len(files) - MOST_FILES} more"] if len(files) > MOST_FILES else []
    lines = ["files:", *(f"  {name}" for name in files[:MOST_FILES]), *more] if files else []
    if outcome := _read(AttemptOutcome, out_dir, f"{folder}/{OUTCOME}"):
        checks = outcome.verdict.results if outcome.verdict else ()
        told = [f"  {_SAID.get(one.verdict, one.verdict):<9} $ {one.command}" for one in checks]
        lines += ["checks:", *told] if told else []
    if story.parts:
        lines += [f"substeps: {', '.join(story.parts)} are done; its own checks pass on their work"]
    if story.proof:
        lines.append(f"proof: {story.proof}")
    return tuple(lines)


def _difference(story: StoryState, out_dir: Path) -> list[str]:
    """Return the work as a difference; where the person saw other work before, also what has changed since that."""
    patch = _shortened(_text(out_dir, f"{attempt_folder(story.id, story.attempts)}/{PATCH}"))
    lines = ["difference:", *patch] if patch else []
    if not story.seen or not story.commit or story.seen == story.commit:
        return lines
    changes = _shortened(_since(story.seen, story.commit, out_dir)) or ["nothing"]
    return [*lines, "changed since the work that you saw before:", *changes]


def _shortened(patch: str) -> list[str]:
    """Return the lines of a patch, indented, without what only programs need; cut where it is long."""
    found = [f"  {line}" for line in patch.splitlines() if not line.startswith(("index ", "--- ", "+++ "))]
    more = [f"  … and {count(len(found) - MOST_LINES, 'more line')}"] if len(found) > MOST_LINES else []
    return found[:MOST_LINES] + more


def _since(before: str, now: str, out_dir: Path) -> str:
    """Return the difference between two commits of a run."""
    with suppress(SantiagoError):
        repo = resolved(out_dir / frozen_input(out_dir).repo_path)
        return ask(repo, "diff", "--no-color", "--no-ext-diff", "--no-renames", before, now).text
    return ""


def _detail(story: str, number: int, out_dir: Path) -> Detail | None:
    return _read(Detail, out_dir, f"{DETAILS}/{story}/{number}.json") if number else None


def _read(kind: type[T], out_dir: Path, path: str) -> T | None:
    content = _bytes(out_dir, path)
    with suppress(SantiagoError):
        return codec.decode(kind, content, path) if content else None
    return None


def _text(out_dir: Path, path: str) -> str:
    return _bytes(out_dir, path).decode("utf-8", "replace")


def _bytes(out_dir: Path, path: str) -> bytes:
    with suppress(SantiagoError):
        return read_bytes(out_dir / path, LARGEST)
    return b""
