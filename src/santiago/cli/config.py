"""Settings: flag, environment, project file, user file, default; each value knows where it comes from."""

from __future__ import annotations

import json
import os
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import click

from santiago.artifacts import repository
from santiago.artifacts.files import read_text
from santiago.cli.view.text import harmless, paint, say
from santiago.contract import codec
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.plan import CONTRACT_VERSION
from santiago.contract.policy import RunInput

SECTIONS = ("limits", "verification", "workspace", "agent", "policy")
"""Sections of the run input that a settings file may fill."""
OWN = ("notify",)
"""Sections that are no part of a run's input."""


class Setting(NamedTuple):
    value: Any
    origin: str


def run_input_defaults(root: Path) -> RunInput:
    """Return the run input that the settings of this repository make, with its paths left to the caller."""
    data: dict[str, Any] = {"contract_version": CONTRACT_VERSION, "repo_path": str(root), "prd_path": "-"}
    settings = load(root)
    if all(setting.origin == "default" for setting in settings.values()):
        return RunInput(contract_version=CONTRACT_VERSION, repo_path=str(root), prd_path="-")
    for name, setting in settings.items():
        section, _, key = name.partition(".")
        if setting.origin != "default" and section not in OWN:
            data.setdefault(section, {})[key] = setting.value
    return codec.decode(RunInput, json.dumps(data).encode(), _origins(settings))


def _origins(settings: dict[str, Setting]) -> str:
    """Name the places that the settings came from, for an error about one of them."""
    return ", ".join(dict.fromkeys(s.origin for s in settings.values() if s.origin != "default")) or "defaults"


def load(root: Path) -> dict[str, Setting]:
    """Return every setting with its origin; a later layer wins."""
    settings = defaults()
    for origin, table in (_user_file(), _project_file(root)):
        _take(settings, table, origin)
    for name in settings:
        variable = "SANTIAGO_" + name.upper().replace(".", "_")
        if variable in os.environ:
            settings[name] = Setting(_from_text(os.environ[variable]), f"${variable}")
    return settings


def defaults() -> dict[str, Setting]:
    blank = codec.to_data(RunInput(contract_version=CONTRACT_VERSION, repo_path="", prd_path=""))
    found = {
        f"{section}.{key}": Setting(value, "default") for section in SECTIONS for key, value in blank[section].items()
    }
    return {**found, "notify.command": Setting(None, "default")}


def _take(settings: dict[str, Setting], table: dict[str, Any], origin: str) -> None:
    for section, content in table.items():
        if section not in (*SECTIONS, *OWN) or not isinstance(content, dict):
            raise _unknown(origin, section, (*SECTIONS, *OWN))
        for key, value in content.items():
            name = f"{section}.{key}"
            if name not in settings:
                known = [other.partition(".")[2] for other in settings if other.startswith(f"{section}.")]
                raise _unknown(origin, name, [f"{section}.{other}" for other in known])
            settings[name] = Setting(value, origin)


def _unknown(origin: str, name: str, known: Any) -> SantiagoError:
    close = get_close_matches(name, known, 1)
    hint = f"Did you mean {close[0]}?" if close else f"Known are {', '.join(known)}."
    return SantiagoError(Kind.USAGE, f"unknown setting {name}", where=origin, hint=hint)


def _user_file() -> tuple[str, dict[str, Any]]:
    from platformdirs import user_config_path

    path = user_config_path("santiago") / "santiago.toml"
    return str(path), _toml(path)


def _project_file(root: Path) -> tuple[str, dict[str, Any]]:
    """Return santiago.toml, or else the table in pyproject.toml."""
    own, shared = root / "santiago.toml", root / "pyproject.toml"
    if own.is_file():
        return str(own), _toml(own)
    table = _toml(shared).get("tool", {}).get("santiago", {})
    return f"{shared} [tool.santiago]", table


def _toml(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        return tomllib.loads(read_text(path, 2**20))
    except tomllib.TOMLDecodeError as error:
        raise SantiagoError(Kind.USAGE, f"not valid TOML: {error}", where=str(path), hint="Correct the file.") from None


def _from_text(text: str) -> Any:
    """Return the value that a variable's text means: JSON where it is JSON, else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


@click.group("config")
def command() -> None:
    """Settings come from flags, SANTIAGO_* variables, santiago.toml (or pyproject.toml), the user file, defaults."""


@command.command("show")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def show(as_json: bool) -> None:
    """Print each setting with its value and its origin."""
    root = repository.find_root(Path.cwd()) or Path.cwd()
    settings = load(root)
    run_input_defaults(root)
    if as_json:
        click.echo(json.dumps({name: setting._asdict() for name, setting in settings.items()}, indent=2))
        return
    size = max(map(len, settings))
    for name, setting in settings.items():
        origin = setting.origin if setting.origin == "default" else _near(setting.origin, root)
        shown = harmless(json.dumps(setting.value, ensure_ascii=False))
        line = f"{name:{size}}  {shown:24}  {origin}"
        say(line if setting.origin == "default" else paint(line, "green", stderr=False))


def _near(origin: str, root: Path) -> str:
    return origin.replace(f"{root}/", "")
