"""Fitting actions to the tools that a program declares; what has no tool of its own goes through the shell."""

import posixpath
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.agents.conversation import Conversation, Json, Tool, smallest
from tests.agents.script import Action, Call, Edit, Plan, Read, Say, Shell, Write


@dataclass(frozen=True)
class Use:
    """One tool call of the model."""

    name: str
    arguments: Json
    kind: str = "function"


def use(action: Action, asked: Conversation) -> Use | None:
    """Return the call that carries out an action; None where it is words."""
    if isinstance(action, Say):
        return None
    if isinstance(action, Call):
        return Use(action.name, dict(action.arguments))
    for name, arguments in _WAYS[type(action)]:
        tool = asked.tools.get(name)
        if tool is not None:
            return Use(name, _complete(tool, arguments(action, asked.folder)), tool.kind)
    return None if isinstance(action, Shell) else use(Shell(_in_shell(action)), asked)


def _complete(tool: Tool, given: Json) -> Json:
    """Fill in what the tool's schema requires besides."""
    properties: Json = tool.schema.get("properties", {})
    missing = [name for name in tool.schema.get("required", ()) if name not in given and name in properties]
    return {**{name: smallest(properties[name]) for name in missing}, **given}


def _in_shell(action: Read | Write | Edit | Plan) -> str:
    if isinstance(action, Plan):
        return "true"
    if isinstance(action, Read):
        return f"cat {shlex.quote(action.path)}"
    if isinstance(action, Write):
        return f"printf %s {shlex.quote(action.content)} > {shlex.quote(action.path)}"
    program = "import sys; p, o, n = sys.argv[1:]; t = open(p).read(); open(p, 'w').write(t.replace(o, n, 1))"
    return shlex.join(["python3", "-c", program, action.path, action.old, action.new])


Ways = list[tuple[str, Callable[[Any, str], Json]]]


def _at(folder: str, path: str) -> str:
    return posixpath.join(folder, path)


def _patch(kind: str, path: str, lines: list[str]) -> Json:
    return {"input": "\n".join(["*** Begin Patch", f"*** {kind} File: {path}", *lines, "*** End Patch", ""])}


def _replaced(edit: Edit) -> list[str]:
    old, new = edit.old.splitlines(), edit.new.splitlines()
    return ["@@", *(f"-{line}" for line in old), *(f"+{line}" for line in new)]


def _listed(text: str, plan: Plan, more: Json | None = None) -> list[Json]:
    return [{text: words, "status": status, **(more or {})} for words, status in plan.items]


_WAYS: dict[type, Ways] = {
    Read: [
        ("Read", lambda read, folder: {"file_path": _at(folder, read.path)}),
        ("read_file", lambda read, folder: {"file_path": _at(folder, read.path)}),
        ("read", lambda read, folder: {"filePath": _at(folder, read.path)}),
    ],
    Write: [
        ("Write", lambda write, folder: {"file_path": _at(folder, write.path), "content": write.content}),
        ("write_file", lambda write, folder: {"file_path": _at(folder, write.path), "content": write.content}),
        ("write", lambda write, folder: {"filePath": _at(folder, write.path), "content": write.content}),
        ("apply_patch", lambda write, _: _patch("Add", write.path, [f"+{x}" for x in write.content.splitlines()])),
    ],
    Edit: [
        (name, lambda edit, folder: {"file_path": _at(folder, edit.path), "old_string": edit.old, "new_string": edit.new})
        for name in ("Edit", "replace")
    ]
    + [
        ("edit", lambda edit, folder: {"filePath": _at(folder, edit.path), "oldString": edit.old, "newString": edit.new}),
        ("apply_patch", lambda edit, _: _patch("Update", edit.path, _replaced(edit))),
    ],
    Shell: [
        ("Bash", lambda shell, _: {"command": shell.command}),
        ("run_shell_command", lambda shell, _: {"command": shell.command}),
        ("bash", lambda shell, _: {"command": shell.command}),
        ("exec_command", lambda shell, _: {"cmd": shell.command}),
    ],
    Plan: [
        ("TodoWrite", lambda plan, _: {"todos": [{**one, "activeForm": one["content"]} for one in _listed("content", plan)]}),
        ("write_todos", lambda plan, _: {"todos": _listed("description", plan)}),
        ("todowrite", lambda plan, _: {"todos": _listed("content", plan, {"priority": "medium"})}),
        ("update_plan", lambda plan, _: {"plan": _listed("step", plan)}),
    ],
}  # fmt: skip
"""For each action the tools that can do it, by name, and how they want to be told; the first that is declared is taken."""
