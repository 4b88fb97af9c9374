"""Kinds of change that a test of their own can hardly show. No agent is asked for one; whether the story is done is still a question."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from santiago.contract import globs
from santiago.contract.plan import PROSE

Read = Callable[[str], bytes | None]
REASON = "no_test"
"""The key under which an agent's evidence says why it added no test."""
_SETTINGS = (
    "**/*.lock", "**/*-lock.json", "**/*-lock.yaml", "**/go.sum", "**/*.lockb", "**/npm-shrinkwrap.json",
    ".github/**", ".gitlab/**", ".gitlab-ci.yml", ".circleci/**", "**/Jenkinsfile", "azure-pipelines.yml", ".travis.yml",
    "**/*.toml", "**/*.ini", "**/*.cfg", "**/*.conf", "**/*.properties", "**/*.yml", "**/*.yaml", "**/.*",
    "**/Dockerfile", "**/tsconfig*.json", "**/package.json", "**/*.config.*",
)  # fmt: skip
"""Continuous integration, configuration and lock files."""


def excuse(
    paths: Sequence[str], judges: Callable[[str], bool], before: Read, after: Read, evidence: Mapping[str, str]
) -> str:
    """Return why no test is asked for; empty if one is."""
    if said := evidence.get(REASON, "").strip():
        return f"the agent says: {said}"
    # Texts for people come along with most changes. Alone they are no excuse: they may be all that an agent did.
    kinds = [_kind(path, judges, before, after) for path in paths if not path.lower().endswith(PROSE)]
    return f"only {' and '.join(sorted(set(kinds)))} changed" if kinds and all(kinds) else ""


def _kind(path: str, judges: Callable[[str], bool], before: Read, after: Read) -> str:
    if judges(path):
        return "tests"
    if globs.matches(path, _SETTINGS):
        return "settings"
    return "comments or layout" if path.endswith(".py") and _is_same_program(before(path), after(path)) else ""


def _is_same_program(before: bytes | None, after: bytes | None) -> bool:
    try:
        return None not in (before, after) and ast.dump(ast.parse(before or b"")) == ast.dump(ast.parse(after or b""))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
