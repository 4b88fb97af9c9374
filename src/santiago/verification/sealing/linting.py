"""Settings of linters, type checkers and formatters: where a check runs such a tool, they say what it must not find."""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from santiago.verification.sealing import globs

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from santiago.verification.commandline.steps import Step

    Read = Callable[[str, Literal["base", "now"]], bytes | None]


class _Tool(NamedTuple):
    files: str
    """A pattern of the names of its own files; what is inside belongs to it as a whole."""
    looks_at: str
    """Endings of what it looks at."""
    table: str = ""
    """Its table in `pyproject.toml`, its sections in `setup.cfg` and `tox.ini`, its keys in `package.json`."""


_PYTHON, _WEB, _RUST = ".py .pyi", ".js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte", ".rs"
_TOOLS: dict[str, _Tool] = {
    "ruff": _Tool(r"\.?ruff\.toml", _PYTHON, "ruff"), "mypy": _Tool(r"\.?mypy\.ini", _PYTHON, "mypy"), "flake8": _Tool(r"\.flake8", _PYTHON, "flake8"),
    "pylint": _Tool(r"\.?pylintrc(?:\.toml)?", _PYTHON, "pylint"), "pyright": _Tool(r"pyrightconfig\.json", _PYTHON, "pyright|basedpyright"),
    "ty": _Tool(r"ty\.toml", _PYTHON, "ty"), "black": _Tool(r"(?!)", _PYTHON, "black"), "isort": _Tool(r"\.isort\.cfg", _PYTHON, "isort"),
    "bandit": _Tool(r"\.bandit|bandit\.ya?ml", _PYTHON, "bandit"), "pycodestyle": _Tool(r"(?!)", _PYTHON, "pycodestyle"),
    "lint-imports": _Tool(r"\.importlinter", _PYTHON, "importlinter"),
    "eslint": _Tool(r"eslint\.config\.\w+|\.eslintrc(?:\.\w+)?|\.eslintignore", _WEB, "eslintConfig|eslintIgnore"),
    "biome": _Tool(r"biome\.jsonc?", _WEB), "xo": _Tool(r"\.?xo-config.*|xo\.config\.\w+", _WEB, "xo"), "oxlint": _Tool(r"\.oxlintrc\.json", _WEB),
    "prettier": _Tool(r"\.prettierrc(?:\.\w+)?|prettier\.config\.\w+|\.prettierignore", f"{_WEB} .css .md .json", "prettier"),
    "stylelint": _Tool(r"\.stylelintrc(?:\.\w+)?|stylelint\.config\.\w+|\.stylelintignore", ".css .scss .less", "stylelint"),
    "tsc": _Tool(r"tsconfig(?:[.-][\w.-]+)?\.json", ".ts .tsx .mts .cts .vue"),
    "golangci-lint": _Tool(r"\.golangci\.(?:ya?ml|toml|json)", ".go"), "staticcheck": _Tool(r"staticcheck\.conf", ".go"),
    "clippy": _Tool(r"\.?clippy\.toml", _RUST, "lints"), "fmt": _Tool(r"\.?rustfmt\.toml", _RUST),
    "rubocop": _Tool(r"\.rubocop(?:_todo)?\.yml", ".rb"), "phpstan": _Tool(r"phpstan\S*\.neon(?:\.dist)?", ".php"),
    "shellcheck": _Tool(r"\.?shellcheckrc", ".sh .bash"), "yamllint": _Tool(r"\.yamllint(?:\.ya?ml)?", ".yml .yaml"),
    "markdownlint": _Tool(r"\.markdownlint.*", ".md"), "pre-commit": _Tool(r"\.pre-commit-config\.yaml", _PYTHON),
}  # fmt: skip
_ALIASES = {
    "vue-tsc": "tsc", "basedpyright": "pyright", "dmypy": "mypy", "rustfmt": "fmt", "cargo-clippy": "clippy", "markdownlint-cli2": "markdownlint",
}  # fmt: skip
_SHARED = frozenset({"pyproject.toml", "setup.cfg", "tox.ini", "package.json", "Cargo.toml"})
"""Files of which only a tool's part is its own."""
_STRICTNESS = re.compile(
    r'"((?:strict|no|skip|allow|check|exactOptional|useUnknown)\w*|extends|include|exclude|files)"\s*:\s*(\[[^\]]*\]|[^,}\n]+)'
)
"""What of a `tsconfig.json` says what is an error, and where; the rest says what is made of the code."""


_IGNORES = re.compile(r"\.(?:git|docker)?ignore")
"""Lists of files that many tools pass over."""
_READ_STUBS = frozenset({"mypy", "pyright", "ty"})
"""Tools that look at a stub in place of the module beside it."""


def tools_of(steps: Iterable[Step]) -> frozenset[str]:
    """Return the tools of the table that steps run."""
    found = {step.argv[1] if step.name == "cargo" and len(step.argv) > 1 else step.name for step in steps}
    return frozenset({_ALIASES.get(name, name) for name in found} & _TOOLS.keys())


def loosened(path: str, read: Read, tools: Collection[str], files: Collection[str]) -> bool:
    """Whether settings of a tool are others now; where there was nothing that it looks at, they are the story's."""
    name = path.rpartition("/")[2]
    if path.endswith(".pyi") and path not in files and path[:-1] in files and not _READ_STUBS.isdisjoint(tools):
        return True
    if tools and _IGNORES.fullmatch(name):
        return _passes_over_more(path, read, tools, files)
    for tool in tools:
        if name in _SHARED or re.fullmatch(_TOOLS[tool].files, name):
            endings = tuple(_TOOLS[tool].looks_at.split())
            before, after = _part(tool, name, read(path, "base")), _part(tool, name, read(path, "now"))
            if before != after and any(one.endswith(endings) for one in files):
                return True
    return False


def _passes_over_more(path: str, read: Read, tools: Collection[str], files: Collection[str]) -> bool:
    """Whether a file that tools look at is ignored now, although it is part of the repository."""
    before, after = (_ignored(path, read(path, side)) for side in ("base", "now"))
    endings = tuple(ending for tool in tools for ending in _TOOLS[tool].looks_at.split())
    more = [
        one for one in files if one.endswith(endings) and globs.matches(one, after) and not globs.matches(one, before)
    ]
    return any(read(one, "now") is not None for one in more)


def _ignored(path: str, raw: bytes | None) -> tuple[str, ...]:
    """Return the patterns of a list of ignored files as globs of the repository."""
    folder = path.rpartition("/")[0]
    found: list[str] = []
    for line in (raw or b"").decode("utf-8", "replace").splitlines():
        plain = line.strip().rstrip("/")
        if plain and not plain.startswith(("#", "!")):
            below = plain.lstrip("/") if "/" in plain else f"**/{plain}"
            found += [f"{folder}/{below}".lstrip("/"), f"{folder}/{below}/**".lstrip("/")]
    return tuple(found)


def _part(tool: str, name: str, raw: bytes | None) -> Any:
    """Return what a file says to a tool, in a form that can be compared; None where it says nothing."""
    if raw is None:
        return None
    text = raw.decode("utf-8", "replace")
    if tool == "tsc":
        return sorted(_STRICTNESS.findall(text)) or None
    if name not in _SHARED:
        return text
    try:
        return _in_shared(name, text, re.compile(rf"(?:tool:)?(?:{_TOOLS[tool].table or '(?!)'})(?:[-:.].*)?")) or None
    except (ValueError, RecursionError, configparser.Error, AttributeError, TypeError):
        return ("unreadable", text)


def _in_shared(name: str, text: str, wanted: re.Pattern[str]) -> dict[str, Any]:
    if name.endswith((".cfg", ".ini")):
        parser = configparser.RawConfigParser(strict=False, interpolation=None)
        parser.read_string(text)
        return {section: dict(parser[section]) for section in parser.sections() if wanted.fullmatch(section)}
    data = json.loads(text) if name.endswith(".json") else tomllib.loads(text)
    data = data.get("tool", {}) if name == "pyproject.toml" else data
    return {key: value for key, value in data.items() if wanted.fullmatch(key)}
