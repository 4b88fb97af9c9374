"""The scripted agent: plays a playbook, needs no network. It serves the demo, the tests and the conformance kit.

stories:
  R1:                          # by origin id, story id or title
    - write: {src/a.py: "…"}   # first attempt
      say: half of it
    - write: {src/a.py: "…"}   # second attempt
      delete: [old.py]
      exit: 0
      seconds: 0.2
      tokens: 1200
tests:                         # where tests are written first, the same for the attempts that write them
  R1:
    - write: {tests/test_a.py: "…"}
proposals:                     # where a person approves each story first: its detailed plans, one after the other
  R1:
    - detail: {objective: "…", modify: [src/a.py], actions: ["…"], checks: ["…"]}   # or the text of the file
      say: a first idea
drafts:                        # where a planning session asks for the whole plan, one after the other
  plan:
    - detail: {contract_version: 1, title: "…", stories: […]}
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from santiago.agent.packet import render
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.outcomes import AgentEnding, Usage
from santiago.contract.plan import LONGEST_DETAIL
from santiago.contract.quantities import Usd
from santiago.contract.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from santiago.contract.plan import Story
    from santiago.contract.ports.agent import Packet
    from santiago.contract.ports.run import Stop

STEP_SECONDS = 0.02


def _is_path(name: Any) -> bool:
    return isinstance(name, str) and bool(name) and not name.startswith("/") and ".." not in name.split("/")


def _are_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_path(name) and isinstance(text, str) for name, text in value.items())


def _are_paths(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_path, value))


def _is_evidence(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(one, str) for pair in value.items() for one in pair)


def _is_detail(value: Any) -> bool:
    try:
        return isinstance(value, str) or (isinstance(value, dict) and bool(json.dumps(value)))
    except (TypeError, ValueError):  # a date, or an anchor that refers to itself
        return False


def _is_said(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_amount(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _MOST


_MOST = 1e9
_TEXTS = ("relative paths, each with a text", _are_texts)
KEYS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "write": _TEXTS,
    "append": _TEXTS,
    "delete": ("a list of relative paths", _are_paths),
    "evidence": ("criteria, each with the test that shows it", _is_evidence),
    "detail": ("a text, or a mapping as `santiago schema detail` has it", _is_detail),
    "say": ("a text", _is_said),
    "ask": ("a text", _is_said),
    "exit": ("a whole number from 0", _is_count),
    "seconds": ("a number from 0", _is_amount),
    "tokens": ("a whole number from 0", _is_count),
    "cost_usd": ("a number from 0", _is_amount),
}
"""The keys of a move: what each must be, in words, and a function that checks it."""


Moves = dict[str, list[dict[str, Any]]]
"""Story → what its attempts do, one after the other."""


def load(text: str, where: str) -> tuple[Moves, Moves, Moves, Moves]:
    """Return a playbook: the moves for attempts, for tests, for proposals (each by story), and for drafts of a whole plan."""
    import yaml

    try:
        data = yaml.safe_load(text)
        stories = _moves_of(data, "stories")
        tests, proposals, drafts = (_moves_of({key: {}, **data}, key) for key in ("tests", "proposals", "drafts"))
        return stories, tests, proposals, drafts
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SantiagoError(
            Kind.INPUT,
            f"not a playbook: {error}",
            where=where,
            hint="It needs `stories:` with a list of attempts for each; put texts that YAML reads as something else into quotes.",
            reason=Reason.INVALID_INPUT,
        ) from None


def _moves_of(data: Any, key: str) -> Moves:
    stories = data.get(key) if isinstance(data, dict) else None
    if isinstance(stories, dict):
        return {str(name): _moves(moves, name) for name, moves in stories.items()}
    raise ValueError(f"there is no `{key}:` with names below it")


def _moves(moves: Any, name: object) -> list[dict[str, Any]]:
    found = moves if isinstance(moves, list) else [moves]
    for number, move in enumerate(found, 1):
        if fault := next(_faults(move), None):
            raise ValueError(f"{name}, attempt {number}: {fault}")
    return found


def _faults(move: Any) -> Iterator[str]:
    """Yield what is wrong with one move, so that playing it cannot fail later."""
    if not isinstance(move, dict):
        yield f"it must hold some of {', '.join(KEYS)}"
        return
    for key, value in move.items():
        if key not in KEYS:
            yield f"unknown key {key}"
        elif not KEYS[key][1](value):
            yield f"{key} must be {KEYS[key][0]}"


class Scripted:
    """Plays the next move of a story. Without a move, nothing is changed."""

    def __init__(
        self, stories: Moves, tests: Moves | None = None, proposals: Moves | None = None, drafts: Moves | None = None
    ) -> None:
        self.stories = stories
        self.tests = tests or {}
        self.proposals = proposals or {}
        self.drafts = {"PLAN": (drafts or {}).get("plan", [])}

    def render(self, packet: Packet) -> str:
        return render(packet)

    def attempt(self, packet: Packet, stop: Stop) -> AgentEnding:
        move = self._next(packet)
        # Written line by line, so that the log always shows how far it is.
        with Path(packet.log).open("w", encoding="utf-8", buffering=1) as log:
            log.write(f"{move['say']}\n" if move.get("say") else "")
            seconds, most = float(move.get("seconds", 0)), packet.timeout_ms / 1000
            deadline = time.monotonic() + min(seconds, most)
            while time.monotonic() < deadline:
                if stop.now():
                    return _ended(Reason.INTERRUPTED, move)
                time.sleep(STEP_SECONDS)
            if seconds > most:
                return _ended(Reason.AGENT_TIMEOUT, move)
            log.writelines(f"{done}\n" for done in _play(Path(packet.folder), move))
        if move.get("ask"):
            return _ended(Reason.AGENT_ASKED, move)
        return _ended(Reason.AGENT_EXIT_NONZERO if move.get("exit") else None, move)

    def _next(self, packet: Packet) -> dict[str, Any]:
        if packet.drafting:
            return _move(self.drafts, packet.story, packet.attempt)
        if packet.proposes:
            return _move(self.proposals, packet.story, packet.proposal)
        moves = self.tests if packet.tests_only else self.stories
        return _move(moves, packet.story, packet.attempt - packet.tests_by)


def _move(playbook: Moves, story: Story, attempt: int) -> dict[str, Any]:
    for name in (story.origin.id, story.id, story.title):
        if name and name in playbook:
            moves = playbook[name]
            return moves[min(attempt, len(moves)) - 1] if moves else {}
    return {}


def _play(folder: Path, move: dict[str, Any]) -> Iterator[str]:
    """Carry out a move, and yield each thing that was done."""
    for name, content in {**move.get("write", {}), **move.get("append", {})}.items():
        path = _inside(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a" if name in move.get("append", {}) else "w", encoding="utf-8") as file:
            file.write(content)
        yield f"wrote {name}"
    for name in move.get("delete", []):
        _inside(folder, name).unlink(missing_ok=True)
        yield f"deleted {name}"


def _inside(folder: Path, name: str) -> Path:
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise SantiagoError(Kind.INPUT, f"the playbook writes outside the worktree: {name}", hint="Use relative paths.")
    return path


def _ended(reason: Reason | None, move: dict[str, Any]) -> AgentEnding:
    cost = move.get("cost_usd")
    return AgentEnding(
        reason=reason,
        exit_code=int(move.get("exit", 0)),
        message=str(move.get("say", "")),
        usage=Usage(tokens=move.get("tokens", 0), cost_usd=Usd.of(cost) if cost is not None else Usd(0)),
        question=str(move["ask"]) if move.get("ask") else None,
        evidence=tuple(move.get("evidence", {}).items()),
        detail=None if reason in _CUT_OFF else _detail(move.get("detail")),
    )


_CUT_OFF = (Reason.INTERRUPTED, Reason.AGENT_TIMEOUT)
"""Reasons that end an attempt before anything was written."""


def _detail(given: Any) -> str | None:
    """Return the text that an agent would write into its file."""
    text = given if isinstance(given, str) or given is None else json.dumps(given, ensure_ascii=False, indent=2)
    return text and text[: LONGEST_DETAIL + 1]
