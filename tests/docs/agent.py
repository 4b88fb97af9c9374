#!/usr/bin/env python3
"""An agent that is no agent: it plays what NAME.json beside it says, and prints what Claude Code would print.

`{"S1": [turn, …], "draft": […], "detail": […]}`; a turn has `write` (files), `say`, `tools`, `fails`, `tokens`, `cost`.
The number of the attempt picks the turn, and the last one is for all that follow.
"""

import json
import os
import pathlib
import sys

here = pathlib.Path(__file__).resolve()
plays = json.loads(here.with_name(f"{here.name}.json").read_text())
if "--version" in sys.argv:
    print(plays.get("version", "2.1.325 (Claude Code)"))
    sys.exit(0)
if not sys.stdin.isatty():
    sys.stdin.read()


def line(**fields: object) -> None:
    print(json.dumps(fields), flush=True)


def body(**content: object) -> None:
    line(type="assistant", message={"content": [content]})


drafting = next((name for name in ("DRAFT", "DETAIL") if os.environ.get(f"SANTIAGO_{name}")), "")
story = drafting.lower() or os.environ.get("SANTIAGO_STORY", "")
turns = plays.get(story, plays.get("*", [{}]))
number = int(os.environ.get("SANTIAGO_ATTEMPT") or 1)
turn = turns[min(number, len(turns)) - 1]
line(type="system", subtype="init", session_id="5e55-10")
for name, given in turn.get("tools", []):
    body(type="tool_use", name=name, input=given)
for path, text in turn.get("write", {}).items():
    target = pathlib.Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)
if "draft" in turn:
    pathlib.Path(os.environ[f"SANTIAGO_{drafting}"]).write_text(
        turn["draft"] if isinstance(turn["draft"], str) else json.dumps(turn["draft"])
    )
tokens = turn.get("tokens", 1200)
usage = {"input_tokens": tokens - tokens // 6, "output_tokens": tokens // 6}
said = turn.get("fails", turn.get("say", "Done."))
error = {"is_error": True, "api_error_status": turn.get("status", 429)} if "fails" in turn else {"is_error": False}
line(
    type="result", subtype="success", result=said, session_id="5e55-10", usage=usage,
    total_cost_usd=turn.get("cost", 0.0345), **error,
)  # fmt: skip
sys.exit(1 if "fails" in turn else 0)
