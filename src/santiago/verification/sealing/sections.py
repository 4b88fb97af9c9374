"""The part of a project file that steers its checks: only that part is sealed, the rest of the file is the story's."""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

from santiago.verification.commandline import runners
from santiago.verification.commandline.recipes import plain_words

if TYPE_CHECKING:
    from collections.abc import Sequence

_PLACEHOLDER = "no test specified"
"""What a new package's test script says: no judge, so it may be replaced."""
_RUNNER_KEYS = ("jest", "mocha", "ava", "vitest", "nyc", "c8", "tap")
_TOML_TABLES = {
    "pyproject.toml": re.compile(r"pytest.*|coverage|tox|nox|hatch|poe|pdm|taskipy|uv"),
}
_INI_SECTIONS = re.compile(r"(?:tool:)?pytest|testenv.*|tox.*|coverage:.*|aliases")
_ENTRY_POINTS = "options.entry_points"
_PLUGINS = "pytest11"
"""By this name a package has pytest load it, once it is installed."""
_LOOSENING = re.compile(
    r"skipTests|maven\.test\.skip|testFailureIgnore|ignoreFailures|<skip>|enabled\s*=\s*false|excludeTestsMatching"
)


def steers(path: str) -> bool:
    """Whether a file is one of those of which only a part is sealed."""
    return path.rpartition("/")[2] in _READERS


def part(path: str, raw: bytes | None, commands: Sequence[str]) -> Any:
    """Return the part of a file that steers checks, in a form that can be compared; None where there is none."""
    if raw is None:
        return None
    name = path.rpartition("/")[2]
    try:
        return _READERS[name](raw, commands) or None
    except (ValueError, RecursionError, configparser.Error, AttributeError, TypeError):
        return ("unreadable", raw)


def _toml(raw: bytes, _: Sequence[str]) -> Any:
    data = tomllib.loads(raw.decode("utf-8"))
    tools = data.get("tool", {})
    wanted = {name: table for name, table in tools.items() if _TOML_TABLES["pyproject.toml"].fullmatch(name)}
    found = {
        name: table for name, table in wanted.items() if name.startswith("pytest") or name in {"coverage", "tox", "nox"}
    }
    found |= {name: table["scripts"] for name, table in wanted.items() if name == "pdm" and "scripts" in table}
    found |= {name: table["tasks"] for name, table in wanted.items() if name in {"poe", "taskipy"} and "tasks" in table}
    found |= {name: table["envs"] for name, table in wanted.items() if name == "hatch" and "envs" in table}
    plugins = [data.get("project", {}).get("entry-points", {}), tools.get("poetry", {}).get("plugins", {})]
    return found | {f"/{_PLUGINS}": table[_PLUGINS] for table in plugins if _PLUGINS in table}


def _ini(raw: bytes, _: Sequence[str]) -> Any:
    parser = configparser.RawConfigParser(strict=False, interpolation=None)
    parser.read_string(raw.decode("utf-8"))
    found = {name: dict(parser[name]) for name in parser.sections() if _INI_SECTIONS.fullmatch(name)}
    plugins = parser.get(_ENTRY_POINTS, _PLUGINS, fallback="")
    return found | ({_ENTRY_POINTS: plugins} if plugins else {})


def _package(raw: bytes, commands: Sequence[str]) -> Any:
    data = json.loads(raw)
    scripts = runners.package_scripts(raw)
    waiting = [name for command in commands for name in _script_names(command)]
    found: dict[str, Any] = {}
    while waiting:
        name = waiting.pop()
        script = scripts.get(name)
        if name not in found and isinstance(script, str) and _PLACEHOLDER not in script:
            found[name] = script
            waiting += _script_names(script)
    found |= {f"/{key}": data[key] for key in _RUNNER_KEYS if key in data}
    return found


def _script_names(command: str) -> list[str]:
    found: list[str] = []
    for argv in runners.programs(command):
        words = plain_words(argv)
        name = argv[0].rpartition("/")[2]
        if name in {"npm", "yarn", "pnpm", "bun"}:
            found += runners.script_names(name, words)
        elif name in {"run-s", "run-p", "npm-run-all"}:
            found += [around + word for word in words for around in ("pre", "", "post")]
    return found


def _scripts(raw: bytes, commands: Sequence[str]) -> Any:
    """Return the tasks of other package managers, where a check runs one of them."""
    programs = {argv[0].rpartition("/")[2] for command in commands for argv in runners.programs(command)}
    data = json.loads(raw)
    return {key: data[key] for key in ("scripts", "tasks") if key in data} if programs & {"composer", "deno"} else None


def _cargo(raw: bytes, commands: Sequence[str]) -> Any:
    if not any("cargo" in runners.known_runners(command) for command in commands):
        return None
    data = tomllib.loads(raw.decode("utf-8"))
    found = {name: data.get("package", {}).get(name) for name in ("autotests", "autobins", "autoexamples")}
    found |= {name: {key: data.get(name, {}).get(key) for key in ("test", "doctest", "harness")} for name in ("lib",)}
    found["test"] = data.get("test")
    return (
        found
        if any(value not in (None, {"test": None, "doctest": None, "harness": None}) for value in found.values())
        else None
    )


def _build(raw: bytes, _: Sequence[str]) -> Any:
    """Build scripts are programs, so only what makes them pass over tests is looked for."""
    return sorted(_LOOSENING.findall(raw.decode("utf-8", "replace")))


def _npm_settings(raw: bytes, _: Sequence[str]) -> Any:
    return re.findall(
        r"(?m)^[ \t]*[\"']?(?:script-shell|node-options|userconfig|globalconfig|shell|prefix|yarnPath|nodeLinker|ignore-scripts|if-present|dry-run"
        r"|workspaces?(?:\[\])?|include-workspace-root)[\"']?[ \t]*(?:[=:].*)?$",
        raw.decode("utf-8", "replace"),
    )


def _vite(raw: bytes, _: Sequence[str]) -> Any:
    text = raw.decode("utf-8", "replace")
    return text if re.search(r"\btest\s*:", text) else None


_READERS = {
    "pyproject.toml": _toml, "setup.cfg": _ini, "tox.ini": _ini, "package.json": _package, "Cargo.toml": _cargo,
    "composer.json": _scripts, "deno.json": _scripts, "pom.xml": _build, "build.gradle": _build, "build.gradle.kts": _build, "gradle.properties": _build,
    ".npmrc": _npm_settings, ".yarnrc": _npm_settings, ".yarnrc.yml": _npm_settings,
    **{f"vite.config.{kind}": _vite for kind in ("js", "ts", "mjs", "mts", "cjs", "cts")},
}  # fmt: skip
