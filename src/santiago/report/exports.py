"""A run in the forms that CI services read: JUnit's XML for what is shown, SARIF for lines that somebody should look at."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from xml.etree import ElementTree as Xml

from santiago import __version__
from santiago.app.loading import record_in
from santiago.artifacts.names import VERIFICATION, attempt_folder
from santiago.contract.lazy_regex import pattern
from santiago.contract.reasons import MEANINGS, Reason
from santiago.executor.tally import WORDS, criteria_of, status_of, strength_of
from santiago.planner.findings import CATALOGUE
from santiago.report.evidence import AttemptEvidence
from santiago.report.proof import UNPROVEN, shown_by
from santiago.report.run_status import headline_of
from santiago.util.text import flat, harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.app.loading import AttemptStory, Run
    from santiago.contract.plan import Story

LONGEST = 64 * 1024
"""Characters of one failure's text."""
_NOT_XML = pattern(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DOUBT = "doubt"


def junit(run: Run) -> bytes:
    """Return JUnit's XML: a suite for each story; in it a case for the story itself, and one for each of its criteria.

    What no test shows is a skipped case and never a passed one. A story that keeps the run from its end is a failed case.
    """
    suites = [_suite(run, planned) for planned in run.plan.stories]
    totals = {name: str(sum(int(suite.attrib[name]) for suite in suites)) for name in ("tests", "failures", "errors")}
    root = Xml.Element("testsuites", {"name": run.run_id, **totals, "time": _seconds(run.state.used_ms)})
    root.extend(suites)
    Xml.indent(root)
    content: bytes = Xml.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _suite(run: Run, planned: Story) -> Xml.Element:
    story = run.state.stories[planned.id]
    tried = run.history.of(planned.id)
    spent = sum(one.agent_ms + one.verify_ms for one in tried)
    cases = [_story_case(run, planned, tried), *_criterion_cases(run, planned)]
    known = {
        "status": status_of(story), "proof": WORDS[strength_of(planned, story)] if status_of(story) == "done" else "",
        "attempts": str(story.counted), "commit": story.commit or "",
    }  # fmt: skip
    suite = Xml.Element("testsuite", {
        "name": _text(f"{planned.id} {flat(planned.title)}"), "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)), "errors": "0",
        "skipped": str(sum(case.find("skipped") is not None for case in cases)), "time": _seconds(spent),
    })  # fmt: skip
    if tried:
        suite.set("timestamp", tried[0].started[:19])
    properties = Xml.SubElement(suite, "properties")
    for name, value in known.items():
        if value:
            Xml.SubElement(properties, "property", {"name": name, "value": value})
    cases[0].set("time", _seconds(spent))
    suite.extend(cases)
    return suite


def _case(run: Run, planned: Story, name: str) -> Xml.Element:
    return Xml.Element(
        "testcase", {"name": _text(flat(name)), "classname": f"{run.run_id}.{planned.id}", "time": _seconds(0)}
    )


def _story_case(run: Run, planned: Story, tried: list[AttemptStory]) -> Xml.Element:
    story, case = run.state.stories[planned.id], _case(run, planned, planned.title)
    status = status_of(story)
    if story.is_unproven:
        _failure(case, Reason.UNPROVEN, UNPROVEN, "")
    elif status in ("failed", "blocked"):
        reason = story.reason or Reason.BLOCKED_DEPENDENCY
        critique = AttemptEvidence(run.out_dir, planned.id, tried[-1].number).critique() if tried else ""
        _failure(case, reason, MEANINGS[reason].sentence, critique)
    elif status != "done":
        word = "left out by a person" if status == "skipped" else "not done yet"
        Xml.SubElement(case, "skipped", {"message": word})
    return case


def _failure(case: Xml.Element, reason: Reason, sentence: str, text: str) -> None:
    failure = Xml.SubElement(case, "failure", {"message": _text(flat(sentence)), "type": str(reason)})
    failure.text = _text(harmless(text)[:LONGEST])


def _criterion_cases(run: Run, planned: Story) -> Iterator[Xml.Element]:
    """Yield a case for each criterion. It passes if a named test shows it in a story that is done."""
    story = run.state.stories[planned.id]
    texts = run.plan.criteria
    rows = {row.id: row for row in criteria_of(story)}
    is_done = status_of(story) == "done"
    shows = is_done and strength_of(planned, story) == "shown"
    for name in planned.criteria:
        case = _case(run, planned, f"{planned.name_of(name)}: {texts[name]}" if name in texts else name)
        if not (shows and name in rows and rows[name].is_shown):
            said = shown_by(rows[name]) if name in rows else "no test was named for it"
            Xml.SubElement(case, "skipped", {"message": _text(said if is_done else "its story is not done")})
        yield case


def _text(text: str) -> str:
    """Return a text without what XML cannot hold."""
    return _NOT_XML.sub("\ufffd", text)


def _seconds(ms: int) -> str:
    return f"{ms / 1000:.3f}"


def sarif(run: Run) -> bytes:
    """Return SARIF 2.1.0: the findings of the plan at lines of the document, and doubts at lines of the work that is on the branch."""
    results = [*_findings(run), *_doubts(run)]
    named = sorted({str(result["ruleId"]) for result in results})
    rules = [{"id": name, "shortDescription": {"text": _rule(name)}} for name in named]
    document = {
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "santiago", "version": __version__, "rules": rules}},
                "automationDetails": {"id": f"santiago/{run.run_id}"},
                "columnKind": "unicodeCodePoints",
                "properties": {"headline": str(headline_of(run))},
                "results": results,
            }
        ],
    }
    return json.dumps(document, indent=2).encode() + b"\n"


def _rule(name: str) -> str:
    if name.startswith(f"{_DOUBT}/"):
        return "A line of the work could deceive its checks, and no test can show it to be harmless."
    return CATALOGUE.get(name, name)


def _findings(run: Run) -> Iterator[dict[str, Any]]:
    for one in run.plan.findings:
        message = flat(f"{one.message}. {one.hint}" if one.hint else one.message)
        yield _result(one.code, one.level, message, run.plan.source.path, one.line)


def _doubts(run: Run) -> Iterator[dict[str, Any]]:
    for planned in run.plan.stories:
        tried = [one for one in run.history.of(planned.id) if one.commit]
        if not tried or status_of(run.state.stories[planned.id]) not in ("done", "blocked"):
            continue
        folder = run.out_dir / attempt_folder(planned.id, tried[-1].number)
        for doubt in record_in(folder / VERIFICATION).get("doubts", []):
            said = f"{planned.id}: {flat(str(doubt['sentence']))}"
            yield _result(f"{_DOUBT}/{doubt['rule']}", "warning", said, str(doubt["path"]), int(doubt["line"]))


def _result(rule: str, level: str, message: str, path: str, line: int) -> dict[str, Any]:
    """Return one result. A path outside the repository is no address that a service could show, so that it is only told."""
    inside = bool(path) and not path.startswith("/") and ".." not in path.split("/")
    if not inside:
        told = f"{message} ({flat(path)})" if path else message
        return {"ruleId": rule, "level": level, "message": {"text": harmless(told)}}
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(path), "uriBaseId": "%SRCROOT%"}}
    if line > 0:
        place["region"] = {"startLine": line}
    return {
        "ruleId": rule, "level": level, "message": {"text": harmless(message)},
        "locations": [{"physicalLocation": place}],
    }  # fmt: skip


FORMS = {"junit": junit, "sarif": sarif}
