"""What people say to a run: their letters, and what an answer means. Each kind of question takes a few fixed words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, Protocol

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.phases import StoryPhase
from santiago.contract.record import record

if TYPE_CHECKING:
    from santiago.contract.state import Question, RunState


Via = Literal["", "terminal", "screen", "page"]
"""How a person's word came: typed at a question or as a command, on the screens, or on the page in a browser."""
LetterKind = Literal["stop-now", "stop", "stop-detach", "answer", "change", "hint", "pause"]


@record
class Letter:
    """What somebody outside wants of the run."""

    kind: LetterKind
    subject: str = ""
    """The question that is answered, or the story that is to change or to get a hint."""
    answer: str = ""
    """Of an answer its word; of a `pause` after each chunk `on` or `off`."""
    text: str = ""
    scope: str = ""
    """How far an approval reaches beyond what was asked: `chunk` or `run`."""
    actor: str = "user"
    via: str = ""
    """How it came (`Via`). It is what the sender says, for people who read the log; nothing depends on it."""
    name: str = ""
    """Its file in the inbox."""
    fault: str = ""
    """Why it cannot be understood; it is then only reported and put away."""


class Mailbox(Protocol):
    """The inbox of a run or of a planning session. After a crash, letters that were not put away are read again."""

    def collect(self) -> list[Letter]:
        """Return what waits."""

    def put_away(self, letters: Sequence[Letter], void: Collection[str]) -> None:
        """Move letters away, once their events are in the log. Those in `void` answered nothing; their questions stay open."""


_STOP = "pause the run here"
_JUDGED = {"defer": "leave the story for later and go on with others", "stop": _STOP}

KINDS: Mapping[str, Mapping[str, str]] = MappingProxyType({
    "detail": {
        "approve": "implement the step as it is planned here",
        "drop": "implement it as it is planned here, without the part of the document that it leaves out",
        "adjust": "have the plan of the step revised by what you say",
        "defer": "leave the step for later and go on with others",
        "stop": _STOP,
    },
    "result": {
        "validate": "take the step as complete",
        "change": "have the work changed by what you say",
        "defer": "leave the step for later and go on with others",
        "stop": _STOP,
    },
    "continue": {"continue": "go on with the next step", "stop": _STOP},
    "changed_expectation": {
        "accept": "take the work with the tests that it changed",
        "refuse": "have it done again, with the tests as they were",
        **_JUDGED,
    },
    "doubt": {
        "accept": "take the work in spite of the doubt",
        "refuse": "have it done again, without what raised the doubt",
        **_JUDGED,
    },
    "refusal": {
        "accept": "take the work as it is, against the verdict",
        "refuse": "have it done again",
        **_JUDGED,
    },
    "there": {
        "accept": "take the story as done, on your word",
        "refuse": "have it attempted again",
        **_JUDGED,
    },
    "unproven": {
        "accept": "take the story as done, on your word",
        "change": "have the work changed by what you say, in one more attempt",
        "retry": "have one more attempt add the test that is missing",
    },
    "agent": {
        "adjust": "tell the agent, in your own words",
        "defer": "leave the story for later and go on with others",
        "stop": _STOP,
    },
    "grant": {"grant": "give what is asked for", "refuse": "keep the limit as it is", "stop": _STOP},
    "import": {"approve": "take these steps as the plan", "refuse": "take none of them", "stop": _STOP},
    "pick": {"pick": "go on with the one that you name, and put the others off", "stop": _STOP},
    "resume": {
        "continue": "go on with the step that was under way",
        "complete": "take the step that was under way as complete",
        "stop": _STOP,
    },
    "plan": {
        "approve": "make this plan final",
        "adjust": "have the plan revised by what you say, by all agents of the session",
        "edit": "have the plan revised by what you say, by one agent",
        "cancel": "end the review without a run",
        "stop": "leave the review open and go",
    },
})  # fmt: skip
"""The words that each kind of question takes, and what each does."""

APPROVING: Mapping[str, str] = MappingProxyType({"detail": "approve", "result": "validate", "continue": "continue"})
"""Kind of question → the fixed word that plain consent ("ok", "yes") stands for. Other kinds need one of their own words."""
CONSENT = frozenset({"ok", "yes", "looks good", "proceed", "go ahead"})
"""What counts as plain consent. An answer that says anything more is not plain consent."""

FREE = {"detail": "adjust", "result": "change", "agent": "adjust"}
"""Kind of question → the fixed word that free text stands for."""
JUDGED = frozenset({"changed_expectation", "doubt", "refusal"})
"""Kinds of questions about work that the verdict did not accept."""
NEEDS_TEXT = {
    "adjust": "say what should be different",
    "change": "say what should be different",
    "edit": "say what should be different",
    "pick": "say which one",
}
_WORDS = sorted({word for words in KINDS.values() for word in words})
_LONGEST = max(map(len, _WORDS)) + 3
"""A longer text cannot be a misspelled fixed word, so it is not compared with them."""


UNFIT: Mapping[str, str] = MappingProxyType({
    "plan": "there is no detailed plan to approve; say what should be different, or defer it",
    "check": "a substep has no check, so nothing could judge it; say what should be different, or defer it",
    "part": "the plan leaves out a part that the document gives this step; `drop` approves it all the same, "
    "or say what should be different",
    "": "no part of the document is left out, so there is nothing to drop; `approve` approves the plan",
})  # fmt: skip
"""Why the answer to a detailed plan is refused, by what the plan lacks."""


def lacks(state: RunState, question: Question) -> str:
    """Return what keeps a detailed plan from plain approval; empty where nothing does, or where it asks about none."""
    story = state.stories.get(question.story or "")
    if question.kind != "detail" or story is None:
        return ""
    return story.detail.lacks if story.detail and story.detail.digest else "plan"


def words_of(state: RunState, question: Question) -> dict[str, str]:
    """Return the words that a question takes, and what each does. A plan that lacks something cannot simply be approved."""
    if question.kind == "pick":
        stories = [state.stories[name] for name in question.options if name in state.stories]
        phases = {StoryPhase.VERIFIED: "its work passes its checks", StoryPhase.PROPOSED: "its plan is written"}
        doing = [phases.get(story.phase, "it was interrupted") for story in stories]
        told = zip(stories, doing, strict=True)
        picked = {one.id: f"go on with it ({words}), and put the others off" for one, words in told}
        return {**picked, "stop": KINDS["pick"]["stop"]}
    words = dict(KINDS.get(question.kind, {}))
    if question.kind == "detail":
        lack = lacks(state, question)
        words = {word: does for word, does in words.items() if word not in {"approve", "drop"} - {_APPROVES.get(lack)}}
    return words


_APPROVES = {"": "approve", "part": "drop"}
"""What a detailed plan lacks → the word that approves it."""


def offers(words: Mapping[str, str], answer: Understood) -> bool:
    """Tell whether an answer is one of the words that a question takes."""
    return (answer.text if answer.word == "pick" else answer.word) in words


@record
class Understood:
    """An answer as it takes effect."""

    word: str
    """One of the fixed words that the question's kind takes."""
    text: str = ""
    """What the person said in addition to the fixed word."""


def understood(kind: str, given: str, text: str = "", options: Sequence[str] = ()) -> Understood:
    """Return what an answer means. Raise where it is no answer, or where it is ambiguous.

    `given` is a fixed word or free text; `text` is what was said in addition to a fixed word. `options` are what a person
    can pick from, where the question asks for a pick.
    """
    words = KINDS.get(kind)
    if words is None:
        raise SantiagoError(Kind.USAGE, f"this version of santiago cannot answer questions of the kind {kind!r}")
    given, text = given.strip(), text.strip()
    said = f"{given} {text}".strip()
    if not said:
        raise SantiagoError(Kind.USAGE, f"the answer is empty; this question takes {_listed(words)}", hint=_hint(kind))
    word = given.lower()
    if kind == "pick" and options and word != "stop":
        return _picked(text if word == "pick" else said, options)
    if word in words and word in NEEDS_TEXT and not text:
        raise SantiagoError(Kind.USAGE, f"{word} alone says nothing: {NEEDS_TEXT[word]}", hint=_hint(kind))
    if word in words:
        return Understood(word=word, text=text)
    if kind in APPROVING and not text and _folded(given) in CONSENT:
        return Understood(word=APPROVING[kind])
    if kind not in FREE or word in _WORDS:
        message = f"{said[:80]!r} is no answer to this question, which takes {_listed(words)}"
        raise SantiagoError(Kind.USAGE, message, hint=_hint(kind))
    _refuse_slip(kind, word)
    return Understood(word=FREE[kind], text=said)


def describe(answer: Understood) -> str:
    """Return an answer on one line, as it is shown before it takes effect: `adjust "in Euros"`."""
    shown = " ".join("".join(one if one.isprintable() else " " for one in answer.text).split())
    return f'{answer.word} "{shown}"' if shown else answer.word


def _picked(said: str, options: Sequence[str]) -> Understood:
    """Return the option that was picked. Its name alone is enough, in upper or lower case."""
    name = said.removeprefix("pick ").strip()
    found = next((one for one in options if one.lower() == name.lower()), None)
    if found is None:
        message = f"{name[:80]!r} is none of those to pick from: {', '.join(options[:20])}; or stop"
        raise SantiagoError(Kind.USAGE, message, hint=_hint("pick"))
    return Understood(word="pick", text=found)


def _folded(given: str) -> str:
    """Return the text in lower case, without extra blanks and without a full stop or exclamation marks at the end."""
    bare = given[:-1] if given.endswith(".") else given.rstrip("!")
    return " ".join(bare.lower().split())


def _refuse_slip(kind: str, word: str) -> None:
    """Raise where a word looks like a misspelled fixed word: it was hardly meant as free text for an agent."""
    if len(word) > _LONGEST or len(word.split()) > 1:
        return
    known = [*KINDS[kind], *_WORDS]  # the question's own words first, where two are equally near
    from difflib import get_close_matches  # loaded here, since most answers are spelled right

    if close := get_close_matches(word, known, 1, cutoff=0.8):
        message = (
            f"{word!r} is none of the answers; did you mean {close[0]!r}? This question takes {_listed(KINDS[kind])}"
        )
        raise SantiagoError(Kind.USAGE, message, hint=_hint(kind))


def _listed(words: Mapping[str, str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}"


def _hint(kind: str) -> str:
    """Say what each word does."""
    return "; ".join(f"{word}: {means}" for word, means in KINDS[kind].items()) + "."
