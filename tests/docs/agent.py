"""An agent that is no agent: it plays what it was given, and prints what Claude Code, or Codex CLI, would print.

`World.agent` writes it below the name of a real one, with its plays in front: (words, turns), where the words are the id of a
story, or stand in the prompt; the first that fits is played, and the number of the attempt picks the turn. A turn has
`write` (files), `draft` (what a plan, a detailed plan or the evidence says), `say`, `tools`, `sleep`, `fails`, `tokens`, `cost`.
"""

import json
import os
import pathlib
import sys
import time
import typing

PLAYS: list[tuple[str, list[dict[str, typing.Any]]]] = []
name = pathlib.Path(sys.argv[0]).name
if "--version" in sys.argv:
    print({"claude": "2.1.325 (Claude Code)", "codex": "codex-cli 0.166.0"}.get(name, "1.0.0"))
    sys.exit(0)
prompt = "" if sys.stdin.isatty() else sys.stdin.read()
story = os.environ.get("SANTIAGO_STORY", "")
number = int(os.environ.get("SANTIAGO_ATTEMPT") or 1)
fitting = [turns for words, turns in PLAYS if words in (story, "") or (len(words) > 3 and words in prompt)]
turns = fitting[0] if fitting else [{}]
turn = turns[min(number, len(turns)) - 1]
said, tokens = turn.get("fails", turn.get("say", "Done.")), turn.get("tokens", 0 if "fails" in turn else 1200)
usage = {"input_tokens": tokens - tokens // 6, "output_tokens": tokens // 6}


def line(**fields: object) -> None:
    print(json.dumps(fields), flush=True)


def work() -> None:
    time.sleep(turn.get("sleep", 0))
    for path, text in turn.get("write", {}).items():
        target = pathlib.Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    for kind in ("DRAFT", "DETAIL", "EVIDENCE"):
        if "draft" in turn and (path := os.environ.get(f"SANTIAGO_{kind}")):
            pathlib.Path(path).write_text(
                turn["draft"] if isinstance(turn["draft"], str) else json.dumps(turn["draft"])
            )


def as_claude() -> None:
    line(type="system", subtype="init", session_id="5e55-10")
    for tool, given in turn.get("tools", []):
        line(type="assistant", message={"content": [{"type": "tool_use", "name": tool, "input": given}]})
    work()
    error = {"is_error": True, "api_error_status": turn.get("status", 429)} if "fails" in turn else {"is_error": False}
    cost = turn.get("cost", 0 if "fails" in turn else 0.0345)
    line(type="result", subtype="success", result=said, session_id="5e55-10", usage=usage, total_cost_usd=cost, **error)


def as_codex() -> None:
    line(type="thread.started", thread_id="5e55-10")
    work()
    line(type="item.completed", item={"type": "agent_message", "text": said})
    if "fails" in turn:
        line(type="turn.failed", error={"message": said})
    else:
        line(type="turn.completed", usage=usage)


def as_robo() -> None:
    """Print what a page says that it prints."""
    work()
    print((pathlib.Path.home() / ".robo" / "lines").read_text(), end="")


{"claude": as_claude, "codex": as_codex, "robo": as_robo}.get(name, work)()
sys.exit(1 if "fails" in turn else 0)
