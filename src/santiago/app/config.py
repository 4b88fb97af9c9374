"""Settings: flag, environment, project file, user file, default; each value knows where it comes from."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Any, NamedTuple

from santiago.artifacts.files import read_text
from santiago.contract import codec
from santiago.contract.board import PLANNERS
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.plan import CONTRACT_VERSION
from santiago.contract.policy import RunInput

SECTIONS = ("limits", "verification", "workspace", "agent", "policy")
"""Sections of the run input that a settings file may fill."""
OWN = ("notify", "board", "engine", "mcp")
"""Sections that are not part of a run's input."""
_COMMAND, _WEBHOOK = _NOTICES = ("notify.command", "notify.webhook")
_BOARD: dict[str, Any] = {
    "board.developer": None, "board.scientist": None, "board.planner": None, "board.planners": list(PLANNERS),
    "board.single_entry": True, "board.exhausted_limit": 3, "board.language": None,
}  # fmt: skip
_ENGINE: dict[str, Any] = {
    "engine.url": None, "engine.remote": None, "engine.lease_seconds": 60, "engine.trust": "coordinator"
}  # fmt: skip
_START = "mcp.start"
_OWN: dict[str, Any] = {**dict.fromkeys(_NOTICES), **_BOARD, **_ENGINE, _START: False}
"""The settings of these sections, with their defaults."""
_EXAMPLES: dict[str, Any] = {
    "limits.attempt_timeout_minutes": 10, "limits.run_max_tokens": 2_000_000, "limits.run_max_cost_usd": 5,
    "verification.story_commands": ["pytest -q"], "verification.run_commands": ["pytest -q"], "workspace.setup": ["npm ci"],
    "workspace.env": ["DATABASE_URL"], "agent.command": ["my-agent", "--flag"], "agent.profile": "claude",
    "agent.model_hint": "opus", "agent.playbook": "playbook.yaml", "agent.fallback": ["codex"], _COMMAND: "notify-send santiago",
    _WEBHOOK: "https://example.org/hook", "board.developer": "claude", "board.scientist": "claude", "board.planner": "claude",
    "board.language": "ko", "engine.url": "postgresql://db.example.org/santiago", "engine.remote": "git@example.org:team/project.git",
}  # fmt: skip
"""Example values for settings whose default shows nothing."""


_KINDS = {str: "a name", bool: "true or false", int: "a number above 0", list: "a list of names"}


class Setting(NamedTuple):
    value: Any
    origin: str


def run_input_defaults(root: Path, *, project: bool = True) -> RunInput:
    """Return the run input that the settings make, with or without the repository's own file. The caller sets the paths."""
    return _run_input(root, load(root, project=project))


def effective(root: Path, *, project: bool = True) -> dict[str, Any]:
    """Return the value of every setting in the form of a run input, with or without the repository's own file."""
    settings = load(root, project=project)
    return {**values_of(_run_input(root, settings)), **{name: settings[name].value for name in _OWN}}


def of_project(root: Path) -> tuple[str, dict[str, Any]]:
    """Return the file of the repository's own settings, and their values in one normal form."""
    origin, table = _project_file(root)
    if not table:
        return origin, {}
    settings = defaults()
    _take(settings, table, origin)
    _refuse_wrong_own(settings)
    own = {name: setting for name, setting in settings.items() if setting.origin == origin}
    values = {**values_of(_run_input(root, own)), **{name: settings[name].value for name in _OWN}}
    return origin, {name: values[name] for name in own}


def values_of(run_input: RunInput) -> dict[str, Any]:
    """Return the settings that a run input holds, by their names."""
    data = codec.to_data(run_input)
    return {f"{section}.{key}": value for section in SECTIONS for key, value in data[section].items()}


def _run_input(root: Path, settings: dict[str, Setting]) -> RunInput:
    settings = {name: setting for name, setting in settings.items() if setting.origin != "default"}
    if not settings:
        return RunInput(contract_version=CONTRACT_VERSION, repo_path=str(root), prd_path="-")
    try:
        return _decoded(root, settings)
    except SantiagoError:
        for name, setting in settings.items():  # one by one, to find out which one is wrong and where it comes from
            try:
                _decoded(root, {name: setting})
            except SantiagoError as error:
                raise _wrong(name, setting.origin, error.message) from None
        raise


def is_named(root: Path, name: str) -> bool:
    """Tell whether a setting has a value that is not the default's."""
    return load(root)[name].origin != "default"


def _decoded(root: Path, settings: dict[str, Setting]) -> RunInput:
    data: dict[str, Any] = {"contract_version": CONTRACT_VERSION, "repo_path": str(root), "prd_path": "-"}
    for name, setting in settings.items():
        section, _, key = name.partition(".")
        if section not in OWN:
            data.setdefault(section, {})[key] = setting.value
    return codec.decode(RunInput, json.dumps(data, default=str).encode(), "settings")


def _wrong(name: str, origin: str, message: str) -> SantiagoError:
    default = defaults()[name].value
    example = json.dumps(_EXAMPLES.get(name, default))
    if origin.startswith("$"):
        hint = f"For example: export {origin[1:]}={shlex.quote(example)}"
    else:
        section, _, key = name.partition(".")
        hint = f"For example, under [{section}]: {key} = {example}"
    return SantiagoError(Kind.USAGE, message, where=origin, hint=hint)


def load(root: Path, *, project: bool = True) -> dict[str, Setting]:
    """Return every setting with its origin; a later layer wins."""
    settings = defaults()
    for origin, table in (_user_file(), *([_project_file(root)] if project else [])):
        _take(settings, table, origin)
    _take_variables(settings)
    _refuse_wrong_own(settings)
    return settings


def _take_variables(settings: dict[str, Setting]) -> None:
    names = {"SANTIAGO_" + name.upper().replace(".", "_"): name for name in settings if name != _START}
    sections = tuple(f"SANTIAGO_{section.upper()}_" for section in (*SECTIONS, *OWN))
    for variable in sorted(os.environ):
        if variable in names:
            settings[names[variable]] = Setting(_from_text(os.environ[variable]), f"${variable}")
        elif variable.startswith(sections):
            section = "_".join(variable.split("_")[:2]) + "_"
            raise _unknown("environment", variable, [name for name in names if name.startswith(section)])


def _refuse_wrong_own(settings: dict[str, Setting]) -> None:
    """Check the settings that are not part of a run input, since nothing else checks their types."""
    for name, default in {**_BOARD, **_ENGINE, _START: False}.items():
        value, origin = settings[name]
        kind = str if default is None else type(default)
        named = kind is not list or all(isinstance(one, str) for one in value or ())
        if value is not None and not (type(value) is kind and named and (value or kind is bool)):
            raise _wrong(name, origin, f"{name}: {_KINDS[kind]} is expected")
    value, origin = settings["engine.trust"]
    if value not in ("coordinator", "workers"):
        raise _wrong("engine.trust", origin, 'engine.trust: "coordinator" or "workers" is expected')
    value, origin = settings["engine.url"]
    if value is not None:
        from santiago.engine.connect import has_password  # which few projects need

        if has_password(value):
            raise _wrong("engine.url", origin, "engine.url holds a password; name `file:PATH`, or use $SANTIAGO_ENGINE")
    value, origin = settings[_COMMAND]
    words = value if isinstance(value, list) else [value]
    if value is not None and not all(isinstance(word, str) for word in words):
        raise _wrong(_COMMAND, origin, f"{_COMMAND}: a command line or a list of words is expected")
    value, origin = settings[_WEBHOOK]
    if value is not None and not _is_address(value):
        raise _wrong(_WEBHOOK, origin, f"{_WEBHOOK}: an address that begins with https:// or http:// is expected")


def _is_address(url: object) -> bool:
    """Tell whether something is the address of a web server, without blanks and without a password."""
    from urllib.parse import urlsplit

    if not isinstance(url, str) or not url.isascii() or not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
        return (
            parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc and parts.port != 0
        )
    except ValueError:  # a port that is no number, or a bracket that is not closed
        return False


def defaults() -> dict[str, Setting]:
    blank = codec.to_data(RunInput(contract_version=CONTRACT_VERSION, repo_path="", prd_path=""))
    found = {
        f"{section}.{key}": Setting(value, "default") for section in SECTIONS for key, value in blank[section].items()
    }
    return {**found, **{name: Setting(value, "default") for name, value in _OWN.items()}}


def _take(settings: dict[str, Setting], table: dict[str, Any], origin: str) -> None:
    for section, content in table.items():
        if section not in (*SECTIONS, *OWN):
            raise _unknown(origin, section, (*SECTIONS, *OWN))
        if not isinstance(content, dict):
            hint = f"Write [{section}] on a line of its own, and its keys below it."
            raise SantiagoError(Kind.USAGE, f"{section} is a table of settings", where=origin, hint=hint)
        for key, value in content.items():
            name = f"{section}.{key}"
            if name not in settings:
                known = [other.partition(".")[2] for other in settings if other.startswith(f"{section}.")]
                raise _unknown(origin, name, [f"{section}.{other}" for other in known])
            settings[name] = Setting(value, origin)


def _unknown(origin: str, name: str, known: Any) -> SantiagoError:
    from difflib import get_close_matches  # loaded here, since most names are spelled right

    close = get_close_matches(name, known, 1)
    hint = f"Did you mean {close[0]}?" if close else f"The known settings are {', '.join(known)}."
    return SantiagoError(Kind.USAGE, f"unknown setting {name}", where=origin, hint=hint)


def user_file() -> Path:
    """Return where a person's own settings stand."""
    from platformdirs import user_config_path

    return user_config_path("santiago") / "santiago.toml"


def user_lets_start(root: Path) -> bool:
    """Tell whether a person lets models start runs. Neither a repository nor a client's variable can say it for them."""
    return bool(load(root)[_START].value)


def _user_file() -> tuple[str, dict[str, Any]]:
    path = user_file()
    return str(path), _toml(path)


def _project_file(root: Path) -> tuple[str, dict[str, Any]]:
    """Return the repository's own settings; raise if it says what only a person says in theirs."""
    origin, table = _project_table(root)
    if "mcp" in table:
        hint = f"Remove it there; a person writes it in {user_file()}."
        raise SantiagoError(Kind.USAGE, "[mcp] cannot be set by a repository", where=origin, hint=hint)
    return origin, table


def _project_table(root: Path) -> tuple[str, dict[str, Any]]:
    """Return santiago.toml, or else the table in pyproject.toml."""
    own, shared = root / "santiago.toml", root / "pyproject.toml"
    if own.is_file():
        return str(own), _toml(own)
    tools = _toml(shared).get("tool", {})
    table = tools.get("santiago", {}) if isinstance(tools, dict) else {}
    if not isinstance(table, dict):
        hint = "Write [tool.santiago.limits] and the like, with keys below."
        raise SantiagoError(Kind.USAGE, "tool.santiago is a table of settings", where=str(shared), hint=hint)
    return f"{shared} [tool.santiago]", table


def _toml(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    import tomllib  # loaded here, since many projects have no such file

    try:
        return tomllib.loads(read_text(path, 2**20))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        why = error if isinstance(error, ValueError) else "nested too deeply"
        raise SantiagoError(Kind.USAGE, f"not valid TOML: {why}", where=str(path), hint="Correct the file.") from None


def _from_text(text: str) -> Any:
    """Return the value that a variable's text means: JSON where it is JSON, else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text
