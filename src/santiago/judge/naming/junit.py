"""Test results in files of JUnit's form, as pytest writes them when asked and build tools by themselves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from itertools import islice
from pathlib import Path

from santiago.contract.lazy_regex import pattern
from santiago.judge.naming.named_tests import Status, Tests, numbered, worst
from santiago.util import regular

LARGEST = 32 * 1024 * 1024
MOST_FILES = 1000
_MOST_FOLDERS = 5000
_SKIPPED_FOLDERS = frozenset({".git", "node_modules", ".venv", "venv", ".tox", ".nox", "__pycache__", ".mypy_cache"})
_NOT_RUN = frozenset({"notrun", "disabled", "skipped", "suppressed"})
_BEGINS = pattern(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--[^>]*>\s*)?<testsuites?[\s>/]")
"""Matches a report without entity declarations. No runner writes these, and they can turn a small file into a huge one."""
_CLASS = pattern(r"\.(?=[A-Z])")


class UnreadError(Exception):
    """More was written than is read."""


def read(reports: Path, folder: Path, since_ns: int) -> list[Tests]:
    """Return the tests of each report in the check's own folder, and of reports written below the checkout since then."""
    paths = dict.fromkeys([*_files(reports, 0), *_files(folder, since_ns)])
    contents = (regular.content(path, LARGEST + 1, follow=False) for path in list(paths)[: 10 * MOST_FILES])
    found = [tests_of(raw, f"{folder}/") for raw in contents if raw is not None]
    tests = [one for one in found if one is not None]
    if len(tests) > MOST_FILES or len(paths) > 10 * MOST_FILES:
        raise UnreadError(f"writes more than the {MOST_FILES} test reports that are read")
    return tests


def _files(folder: Path, since_ns: int) -> Iterator[Path]:
    for place, folders, names in islice(os.walk(folder), _MOST_FOLDERS):
        folders[:] = sorted(set(folders) - _SKIPPED_FOLDERS)
        for path in (Path(place, name) for name in sorted(names) if name.endswith(".xml")):
            with suppress(OSError):
                if path.lstat().st_mtime_ns > since_ns:
                    yield path


def tests_of(raw: bytes, root: str) -> Tests | None:
    """Return the tests of one report, with paths relative to a root; None if it is not a report, broken, or has entities."""
    if not _BEGINS.match(raw):
        return None
    if len(raw) > LARGEST:
        raise UnreadError(f"writes a test report of more than {LARGEST // 2**20} MiB, which is not read")
    try:
        cases = list(_cases(raw))
    except (SyntaxError, ValueError, LookupError):  # the first is the parser's
        return None
    named = [(_id(case, root), _status(case, marks)) for case, marks in cases]
    # pytest writes a second entry if a test failed and then its teardown failed too
    is_pytest = any(case.get("file", "").endswith(".py") for case, _ in cases)
    return worst(named) if is_pytest else numbered(named)


def _cases(raw: bytes) -> Iterator[tuple[dict[str, str], set[str]]]:
    """Yield each test case with the tags inside it. Its texts, which may be long, are dropped."""
    from xml.etree.ElementTree import iterparse  # loaded here, since many checks write no report

    for _, element in iterparse(BytesIO(raw)):  # noqa: S314  # no entities, by how it begins
        if element.tag == "testcase":
            yield dict(element.attrib), {mark.tag for mark in element if mark.get("type") != "pytest.xfail"}
            element.clear()


def _status(case: dict[str, str], marks: set[str]) -> Status:
    if marks & {"failure", "error"}:
        return "failed"
    return "skipped" if "skipped" in marks or {case.get("status"), case.get("result")} & _NOT_RUN else "passed"


def _id(case: dict[str, str], root: str) -> str:
    file, name = case.get("file", "").removeprefix(root), case.get("name", "")
    dotted = case.get("classname", "")
    if not file.endswith(".py"):
        return "::".join(filter(None, (file, dotted, name)))
    module = file.removesuffix(".py").replace("/", ".")
    if not dotted and name == module:
        return file  # the file itself failed, as when it could not be imported
    _, own, classes = f"{dotted}.".partition(f"{module}.")
    if not own:
        # The function is in another file, such as that of a base class. The id begins with the file that pytest collected.
        parts = _CLASS.split(dotted, maxsplit=1)
        file, classes = parts[0].replace(".", "/") + ".py", "".join(parts[1:])
    return "::".join(filter(None, (file, *classes.split("."), name)))
