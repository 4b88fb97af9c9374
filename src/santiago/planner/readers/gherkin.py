"""Gherkin feature files, in every language of `gherkin_words`: a feature or rule is a unit, its scenarios are its criteria."""

from __future__ import annotations

from dataclasses import field

from santiago.contract.counting import count
from santiago.contract.lazy_regex import pattern
from santiago.contract.record import lean
from santiago.planner import hints, ids
from santiago.planner.draft import Document, DraftCriterion, Hint, Unit, unique
from santiago.planner.findings import warning
from santiago.planner.sniff import HEADER, HEADERS, STEP, THEN
from santiago.planner.source import Source

_TAG = pattern(r"@([^\s@#]+)")
_CRITERION_ID = pattern(r"(?i)[\[(]?((?:AC|CA|TC|SC)[-_ ]?\w*?\d+(?:[.\-]\d+)*)[\])]?(?![\w])")


@lean()
class _Scenario:
    title: str
    line: int
    tags: list[str]
    said: list[str] = field(default_factory=list)
    has_steps: bool = False
    has_then: bool = False


@lean()
class _Unit:
    title: str
    line: int
    tags: list[str]
    chunk: str | None = None
    text: list[str] = field(default_factory=list)
    scenarios: list[_Scenario] = field(default_factory=list)
    has_rules: bool = False


class _Reading:
    """Reads line by line. A plain line belongs to the open scenario, else to the text of the unit."""

    def __init__(self) -> None:
        self.units: list[_Unit] = []
        self.feature: _Unit | None = None
        self.tags: list[str] = []
        self.quote = ""
        self.scenario: _Scenario | None = None

    def take(self, raw: str, number: int) -> None:
        line = raw.strip()
        if self.quote or line.startswith(('"""', "```")):
            self.doc_string(line)
        elif not line or line.startswith("#"):
            return
        elif line.startswith("@"):
            self.tags += _TAG.findall(line)
        elif header := HEADER.match(line):
            self.header(header[1], header[2].strip(), number)
            self.tags = []
        elif self.units:
            self.plain(line)

    def doc_string(self, line: str) -> None:
        """Take a line in triple quotes. It belongs to its step, whatever it looks like."""
        if not self.quote:
            self.quote = line[:3]
            if line.count(self.quote) > 1 and len(line) > 3:
                self.quote = ""
        elif line.startswith(self.quote):
            self.quote = ""
        if line.strip('"`') and self.units:
            self.plain(line.strip('"`'), quoted=True)

    def header(self, keyword: str, title: str, line: int) -> None:
        if keyword in HEADERS["feature"]:
            self.feature, self.scenario = _Unit(title, line, self.tags), None
            self.units.append(self.feature)
        elif keyword in HEADERS["rule"]:
            above = self.feature
            if above is not None:
                above.has_rules = True
            tags = [*(above.tags if above else ()), *self.tags]
            self.units.append(_Unit(title, line, tags, above.title if above else None))
            self.scenario = None
        elif not self.units:
            return
        elif keyword in HEADERS["scenario"] or keyword in HEADERS["outline"]:
            self.scenario = _Scenario(title, line, self.tags)
            self.units[-1].scenarios.append(self.scenario)
        elif keyword in HEADERS["background"]:
            self.scenario = None
            self.units[-1].text.append(f"{keyword}: {title}".strip())
        else:
            self.plain(f"{keyword}: {title}".strip())

    def plain(self, line: str, *, quoted: bool = False) -> None:
        if self.scenario is None:
            self.units[-1].text.append(line)
            return
        self.scenario.said.append(line)
        if not quoted and STEP.match(line):
            self.scenario.has_steps = True
            self.scenario.has_then = self.scenario.has_then or bool(THEN.match(line)) or line.startswith("*")


def read(source: Source) -> Document:
    reading = _Reading()
    for number, raw in enumerate(source.text.split("\n"), 1):
        reading.take(raw, number)
    units = [unit for unit in reading.units if unit.scenarios or not unit.has_rules]
    every = [scenario for unit in units for scenario in unit.scenarios]
    document = Document(
        format="gherkin",
        evidence=(f"{count(len(units), 'feature or rule', 'features or rules')} with {count(len(every), 'scenario')}",),
        title=reading.units[0].title,
        units=[_unit(unit) for unit in units],
    )
    for scenario in (scenario for scenario in every if not scenario.has_then):
        what = "has no steps" if not scenario.has_steps else "has no Then"
        message = f'the scenario "{scenario.title}" {what}: it does not say what must be the case'
        hint = "Add a Then step that can be checked."
        document.findings.append(warning("scenario_without_then", scenario.line, message, hint))
    return document


def _unit(unit: _Unit) -> Unit:
    name, title = _named(unit)
    text = "\n".join(unit.text)
    return Unit(
        id=name,
        title=title,
        line=unit.line,
        text=text,
        chunk=unit.title if unit.chunk is None and unit.has_rules else unit.chunk,
        tags=tuple(dict.fromkeys(unit.tags)),
        criteria=tuple(_criterion(scenario) for scenario in unit.scenarios),
        files=unique(Hint(value=path, line=unit.line, carrier="text") for path in hints.files_in(text)),
    )


def _named(unit: _Unit) -> tuple[str | None, str]:
    """Return the id and the title. The id is in the title, or it is the one tag of a feature that is an id."""
    lead = ids.lead(unit.title)
    if lead is not None and lead.kind not in ("number", "dotted") and lead.rest:
        return lead.id, lead.rest
    leads = [found for tag in unit.tags if (found := ids.lead(tag)) and found.kind == "prefix" and found.id == tag]
    names = [found.id for found in leads if found.prefix not in ids.SIDE]
    return names[0] if len(names) == 1 and unit.chunk is None else None, unit.title


def _criterion(scenario: _Scenario) -> DraftCriterion:
    own = _CRITERION_ID.match(scenario.title)
    tagged = [tag for tag in scenario.tags if _CRITERION_ID.fullmatch(tag)]
    title = scenario.title[own.end() :].lstrip(" :.-–—") if own else scenario.title
    text = " ".join(filter(None, (f"{title}:" if title else "", *scenario.said)))
    name = own[1] if own else tagged[0] if len(tagged) == 1 else None
    return DraftCriterion(text=text.strip() or scenario.title, line=scenario.line, id=name)
