"""Matching paths of a repository: globs with `**`, folders, and the tests that are sealed unless the run says otherwise."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

DEFAULT_PROTECTED: tuple[str, ...] = (
    # folders that hold tests, in most ecosystems
    "tests/**", "test/**", "**/tests/**", "**/test/**", "**/__tests__/**", "**/testdata/**", "**/__snapshots__/**", "**/*.snap",
    "spec/**/*.{rb,js,ts,jsx,tsx,php}", "**/spec/**/*.{rb,js,ts,jsx,tsx,php}", "e2e/**", "**/e2e/**", "cypress/**", "**/*.feature",
    "**/*.Tests/**", "**/*.Test/**", "**/*Tests/*.swift",
    "t/**/*.{t,sh,pl,py}", "spec/fixtures/**", "**/spec/fixtures/**",
    # what results are held against
    "golden/**", "goldens/**", "**/golden/**", "**/goldens/**", "**/*.golden", "**/*.approved.*", "**/expected/**/*.{txt,out,json,csv,xml,yml,yaml,html,md}",
    "**/expected.{txt,out,json,csv,xml,yml,yaml,html,md}", "**/expected[_-]*.{txt,out,json,csv,xml,yml,yaml,html,md}",
    "**/*[._-]expected.{txt,out,json,csv,xml,yml,yaml,html,md}",
    # files that are tests by their name
    "**/test_*.py", "**/*_test.py", "**/tests.py", "**/conftest.py",
    "**/*_test.go", "**/*_test.rs", "**/{test,tests}.rs",
    "**/*.{test,spec,cy,e2e}.{js,jsx,ts,tsx,mjs,cjs,mts,cts,vue,svelte}",
    "**/*{Test,Tests,IT,Spec}.{java,kt,kts,scala,groovy}", "**/Test*.java",
    "**/*_{spec,test}.rb", "**/test_*.rb", "**/*{Test,Cest}.php",
    "**/*{Test,Tests}.{cs,fs,vb}", "**/*{Test,Tests}.swift",
    "**/*_test.{exs,dart,c,cc,cpp,cxx,lua,erl,sh}", "**/test_*.{c,cc,cpp,cxx,sh,lua}", "**/*_SUITE.erl", "**/*.bats", "**/*.t",
    "**/*_test.clj", "**/*Spec.hs", "**/test-*.R", "**/runtests.jl",
    # what steers the runners, and the machines that run them
    "**/pytest.ini", "**/.pytest.ini", "**/pytest.toml", "**/.pytest.toml", "**/tox.ini", "noxfile.py", "**/.coveragerc",
    "**/jest.config.*", "**/jest.setup.*", "**/vitest.config.*", "**/vitest.workspace.*", "**/vitest.setup.*", "**/.mocharc*",
    "**/karma.conf.*", "**/cypress.config.*", "**/playwright.config.*", "**/phpunit.xml", "**/phpunit.xml.dist", "**/.rspec", "**/.proverc",
    "**/CTestConfig.cmake", "**/.config/nextest.toml", "**/*.runsettings",
    ".github/workflows/**", ".gitlab-ci.yml", ".circleci/**", "Jenkinsfile", "azure-pipelines.yml", ".travis.yml",
)  # fmt: skip


def matches(path: str, globs: Iterable[str]) -> bool:
    return _any_of(tuple(globs)).match(path) is not None


@cache
def _any_of(globs: tuple[str, ...]) -> re.Pattern[str]:
    """Return one pattern for many globs: a tree of thousands of files is matched as a whole."""
    return re.compile("|".join(_pattern(glob).pattern for glob in globs) or r"(?!)", re.DOTALL)


def names(files: Iterable[str], path: str) -> bool:
    """Whether a story's files name a path: exactly, by a folder, or by a glob that begins with a name.

    A glob that could mean anything (`**/*.py`) says where a story may work, not that it may change its own judge.
    """
    for file in files:
        plain = file.strip().removeprefix("./").rstrip("/")
        if not plain or plain == "." or _is_wild(plain.partition("/")[0]):
            continue
        if path == plain or path.startswith(plain + "/") or (_is_wild(plain) and _pattern(plain).match(path)):
            return True
    return False


def _is_wild(text: str) -> bool:
    return any(sign in text for sign in "*?[{")


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    """Return a glob as a pattern: `**` crosses folders, `*` does not, `{a,b}` is either; a folder is all below it."""
    glob = glob.strip().removeprefix("./")
    glob = glob + "**" if glob.endswith("/") else glob
    text = ""
    at = 0
    while at < len(glob):
        if glob.startswith("**/", at):
            text, at = text + "(?:.*/)?", at + 3
        elif glob.startswith("**", at):
            text, at = text + ".*", at + 2
        else:
            piece, at = _piece(glob, at)
            text += piece
    return re.compile(text + r"\Z", re.DOTALL)


def _piece(glob: str, at: int) -> tuple[str, int]:
    sign = glob[at]
    if sign in "*?":
        return ("[^/]*" if sign == "*" else "[^/]"), at + 1
    end = glob.find({"[": "]", "{": "}"}.get(sign, "\0"), at + 2)
    if sign == "[" and end > 0:
        inner = glob[at + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
        return f"[{'^' + inner[1:] if inner.startswith('!') else inner}]", end + 1
    if sign == "{" and end > 0:
        choices = "|".join(re.escape(choice) for choice in glob[at + 1 : end].split(","))
        return f"(?:{choices})", end + 1
    return re.escape(sign), at + 1
