"""What a page offers to ask for, and an act of a person between its two presses: understood and shown, and not done yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple
from urllib.parse import quote

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.lazy_regex import pattern
from santiago.contract.record import record
from santiago.report.page import Line
from santiago.util.text import flat

AGREE = "agree"
"""What a person types who gives a consent."""
_NUMBER = pattern(r"[0-9]+(\.[0-9]*)?|\.[0-9]+")


class Field(NamedTuple):
    """What somebody types into a form."""

    label: str
    name: str = "text"
    kind: Literal["text", "line", "number"] = "text"


@record
class Form:
    """What a page offers to ask for. All of them look alike: a button, or a fold with fields and one button or several."""

    act: str
    about: Mapping[str, str]
    """What it is about: run, story, question, plan or ticket."""
    command: str
    """The command that does the same. It stands in place of the form where nothing can be asked for."""
    means: Callable[[Mapping[str, str]], Step]
    """Returns what was pressed and typed asks for; raises where that is nothing that can be done."""
    button: str = "Show what that means"
    word: str = ""
    """What the button says besides."""
    words: tuple[tuple[str, str], ...] = ()
    """Buttons in place of the one: what each says, and what that does."""
    title: str = ""
    """What it is folded under; empty where it stands open."""
    told: tuple[str, ...] = ()
    """What stands above its fields."""
    fields: tuple[Field, ...] = ()
    key: str = ""
    """The key that leads to it."""
    look: str = ""
    is_over: bool = False
    """Whether it was answered, so that its buttons cannot be pressed."""


@record
class Step:
    """An act that was understood, and is shown before it is done."""

    title: str
    lines: Sequence[Line]
    """What it means, with everything that its person agrees to."""
    command: str
    """The command that does the same."""
    do: Callable[[], str]
    """Does it, and returns what to tell."""
    button: str = "Send it"
    agreed: str = ""
    """The word that must be typed; empty where none is needed."""
    form: Mapping[str, str]
    """What was pressed and typed, so that it is not lost."""


def page_of(form: Mapping[str, str]) -> str:
    """Return the address, below the path, of the page that a form is on; what it leads to is shown there."""
    if "ticket" in form:  # what is accepted or closed has no page any more
        return f"board/{quote(form['ticket'])}" if form.get("act") == "ticket-move" else "board"
    if "session" in form:
        return f"plans/{quote(form['session'])}"
    at, name = ("questions", form["question"]) if form.get("question") else ("stories", form.get("story", ""))
    return f"runs/{quote(form['run'])}{f'/{at}/{quote(name)}' if name else ''}" if form.get("run") else ""


def text_of(form: Mapping[str, str], otherwise: str) -> str:
    """Return what was typed; raise with what should have been, if that is nothing."""
    if text := form.get("text", "").strip():
        return text
    raise SantiagoError(Kind.USAGE, f"the text is empty; {otherwise}")


def number_of(form: Mapping[str, str], name: str, most: float, *, whole: bool = False) -> float:
    """Return a number of a form; 0 where its field is empty."""
    text = form.get(name, "").strip() or "0"
    number = float(text) if _NUMBER.fullmatch(text) else -1.0
    if not 0 <= number <= most or (whole and number % 1):
        what = f"a {'whole ' if whole else ''}number from 0 to {most:,}"
        raise SantiagoError(Kind.USAGE, f"{name}: {flat(text)[:20]!r} is not {what}")
    return number
