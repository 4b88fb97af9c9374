"""Promise 2 in other tools' forms: JUnit and SARIF say no more than santiago has seen, and hold whatever a document says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from santiago.app.loading import Run, load
from santiago.executor.tally import counted, status_of, unproven
from santiago.report import exports
from tests.transcripts import recording
from tests.transcripts.playing import call

WORLDS = sorted(world.name for world in recording.WORLDS.iterdir() if (world / "run").exists())
ATTRIBUTES = {
    "testsuites": {"name", "tests", "failures", "errors", "time"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped", "time", "timestamp"},
    "properties": set(), "property": {"name", "value"}, "testcase": {"name", "classname", "time"},
    "skipped": {"message"}, "failure": {"message", "type"},
}  # fmt: skip
"""What the schema that CI services share knows."""


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Xml.Element, dict[str, Any]]]:
    found = {}
    for world in WORLDS:
        repo = recording.load(world, tmp_path_factory.mktemp("worlds") / world)
        told = [call(["export", form], repo, {}) for form in ("junit", "sarif")]
        assert [code for code, _ in told] == [0, 0], told
        found[world] = (repo, Xml.fromstring(told[0][1]), json.loads(told[1][1]))
    return found


def of(repo: Path) -> Run:
    return load(max((repo / ".santiago" / "runs").iterdir()))


def cases(suite: Xml.Element) -> list[str]:
    """Return what became of each case of a suite."""
    return [next((part.tag for part in case), "passed") for case in suite.findall("testcase")]


def test_junit_counts_what_the_first_line_counts(exported: dict[str, Any]) -> None:
    for world, (repo, root, _) in exported.items():
        run = of(repo)
        suites = root.findall("testsuite")
        stories = run.plan.stories
        for element in root.iter():
            assert set(element.attrib) <= ATTRIBUTES[element.tag], world
        assert [suite.get("name", "").split()[0] for suite in suites] == [story.id for story in stories], world
        for suite, planned in zip(suites, stories, strict=True):
            found, status = cases(suite), status_of(run.state.stories[planned.id])
            assert found[0] == {"done": "passed", "failed": "failure", "blocked": "failure"}.get(status, "skipped")
            assert len(found) == 1 + len(planned.criteria) == int(suite.get("tests", ""))
            assert (found.count("failure"), found.count("skipped")) == (
                int(suite.get("failures", "")), int(suite.get("skipped", "")),
            )  # fmt: skip
        shown = sum(found == "passed" for suite in suites for found in cases(suite)[1:])
        told = counted(run.plan, run.state)
        assert f"{shown} of " in told or "shown by a named test" not in told, (world, told)
        assert root.get("tests") == str(sum(len(cases(suite)) for suite in suites))


def test_what_no_test_shows_never_passes(exported: dict[str, Any]) -> None:
    repo, root, _ = exported["unproven"]
    waiting = unproven((run := of(repo)).plan, run.state)
    suites = {suite.get("name", "").split()[0]: suite for suite in root.findall("testsuite")}
    assert waiting
    for name in waiting:
        assert "passed" not in cases(suites[name])
    assert {failure.get("type") for failure in root.iter("failure")} == {"unproven"}


def test_sarif_points_at_lines_that_are_there(exported: dict[str, Any]) -> None:
    seen = 0
    for repo, _, told in exported.values():
        (run,) = told["runs"]
        rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
        for result in run["results"]:
            assert result["ruleId"] in rules
            assert result["level"] in ("error", "warning", "note")
            for location in result.get("locations", []):
                place = location["physicalLocation"]
                assert not place["artifactLocation"]["uri"].startswith(("/", ".."))
                document = repo / place["artifactLocation"]["uri"]
                assert 0 < place["region"]["startLine"] <= len(document.read_text().splitlines())
                seen += 1
    assert seen


def test_hostile_words_stay_words(tmp_path: Path) -> None:
    run = of(recording.load("failed", tmp_path / "failed"))
    evil = "</testcase><failure/> & \x00\x1b[31m \ud800 ]]>"
    plan = replace(run.plan, stories=tuple(replace(story, title=evil) for story in run.plan.stories))
    root = Xml.fromstring(exports.junit(replace(run, plan=plan)))
    assert len(root.findall("testsuite")) == len(plan.stories)
    assert not [case for case in root.iter("testcase") if "\x1b" in str(case.get("name"))]


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    repo = recording.load("finished", tmp_path / "finished")
    assert call(["export", "junit", "-o", "results.xml"], repo, {})[0] == 0
    assert (repo / "results.xml").read_bytes().startswith(b"<?xml")
