"""Make a unit of a carrier: read its criteria, dependencies, files and checks from the blocks that belong to it, in one pass.

The readers decide what the units are. What belongs to a unit is the same in every Markdown format, and is decided here. The
label or heading above a block decides what the block says about the unit.
A unit's criteria are the first of these that it has: items under a criteria label, scenarios, paragraphs under a criteria
label, items under a success label, check boxes, bullets under a verification label, and plain bullets directly under it.
"""

from __future__ import annotations

from dataclasses import field

from santiago.contract.lazy_regex import pattern
from santiago.contract.plan import Role
from santiago.contract.record import lean, record
from santiago.planner import commands, hints, ids, words
from santiago.planner.commands import JUDGES, Found
from santiago.planner.draft import Dep, DraftCriterion, Hint, Status, Unit, unique
from santiago.planner.hints import behind_files, listed_files
from santiago.planner.markdown.labels import Label, clean, is_struck, read_label, step_label
from santiago.planner.markdown.outline import Block, Kind, Outline

_SCENARIO = pattern(
    r"(?i)^[\W\d_]*(?:scenario|scénario|escenario|cenário|szenario|szenariusz|scenariusz|сценарий|сценарій|シナリオ|场景|場景|시나리오)"
    r"(?: outline)?\s*\d*\s*[:：\-–—(]",
)
_TICKED_ONLY = pattern(r"\s*`[^`]+`[\s.;]*")
_BREAK = pattern(r"<br\s*/?>|[;；]")
_SEMICOLON = pattern(r"[;；]")
_KEYED = pattern(r"^[*_`]*\w[\w-]*(?: [\w-]+){0,3}[*_`]*(?:[:：][*_`]*\s|：)")

_RUN = pattern(r"(?i)^[*_\s]*Run[*_]*\s*[:：][*_]*\s*(?P<rest>.*)")
_EXPECTED = pattern(r"(?i)(?:^|(?<=[\s—–-]))[*_]*Expected(?: (?:output|results?))?[*_]*\s*[:：][*_]*\s*(?P<rest>.*)")
_STEP_RUNS = pattern(r"(?i)\bstep \d+\b.*\brun\b")
_FAILS = pattern(
    r"(?i)\b(?:run|verify|confirm)\b.{0,60}\b(?:it|they|tests?)\b\s+fails?\b|\bexpect(?:ed)?\b[\s:*_]+(?:to )?fail|^[*_\s]*fail(?:s|ed|ure)?\b",
)
"""Words of a step of test-driven work that say that its test fails before the work."""
_STAYS_RED = pattern(r"(?i)\b(?:will|should|must) (?:still )?fail\b")
_FINDS = pattern(r"(?:git )?grep\b|rg\b")
_NOTHING = pattern(r"(?i)\bno (?:match|output|result|hit)|\bnothing\b|\bempty\b")
_STEP = pattern(r"(?i)[*_\s]*step \d")
_COMMITS = pattern(
    r"(?i)^[*_\s]*(?:step \d+[:.)]\s*)?(?:git )?commit[*_\s]*(?:$|[:.]|(?:changes?|the|all|your|with|and|it|work|code)\b)",
)

_LIKE_SENTENCES = frozenset({"description", "work", "other", "never", "success"})
"""Concepts whose labels also begin ordinary sentences: `Note: …`."""
_LASTING = frozenset({"criteria", "success", "judged", "execute", "work", "other", "never", "actions"})
"""Concepts whose text may go on in the lines below the label's line."""
FIELDS = frozenset({"priority", "role", "id", "title", "status", "chunk", "profile"})
"""Concepts whose value is one short text."""


class Walk:
    """The state of the pass. `concept` is what the last label or heading announced."""

    def __init__(self, outline: Outline, at: int, end: int, *, steps: bool = False) -> None:
        self.outline = outline
        self.steps = steps
        """Whether labels of steps count: Actions, Result, Validation."""
        self.blocks = outline.blocks
        self.at, self.end = at, end
        self.found = Gathered()
        self.concept: str | None = None
        self.section: tuple[int, str | None] = (7, None)
        """Level and concept of the last heading inside the unit that had a concept of its own."""
        self.item_level: int | None = None
        self.label_item = -1
        self.scenario_item: int | None = None
        """The place of the open scenario: an item, or -1 for a heading or paragraph; None if no scenario is open."""
        self.pending: tuple[int, str] | None = None
        self.inline: Criteria | None = None
        """The criteria that begin on the line of their label, while the block goes on."""
        self.broken = False
        """The last line of these criteria ended in the middle of a criterion."""
        self.runs: list[Hint] | None = None
        """The commands behind `Run:`, until `Expected:` says how they end; None if no such step is open."""
        self.failing: list[Hint] = []

    def run(self) -> Gathered:
        if self.at >= 0:
            self.head(self.blocks[self.at])
        for index in range(self.at + 1, self.end):
            block = self.blocks[index]
            match block.kind:
                case Kind.HEADING:
                    self.heading(block)
                case Kind.PARA:
                    self.paragraph(block)
                case Kind.ITEM:
                    self.item(index, block)
                case Kind.ROW:
                    self.row(block)
                case Kind.CODE:
                    self.code(block)
                case Kind.QUOTE:
                    self.found.text.append(block.text)
            if block.kind is not Kind.PARA:
                self.pending = None
        self.end_run()
        if not self.found.verify:
            self.found.verify += self.failing  # the tests that failed before the work pass after it
        if self.found.runs:
            self.found.text += [criterion.text for criterion in self.found.boxes.done()]
        return self.found

    # Run and Expected, as in plans of test-driven steps

    def run_line(self, raw: str, line: int) -> bool:
        """Read `Run: …` or `Expected: …`, and tell whether the line was one."""
        if ":" not in raw and "：" not in raw:
            return False
        run, expected = _RUN.match(raw), _EXPECTED.search(raw)
        if run is None and (expected is None or self.runs is None):
            return False
        if run:
            self.end_run()
            told = run["rest"][: expected.start() - run.start("rest")] if expected else run["rest"]
            self.runs = commands.behind_label(told.strip(" —–-"), line, "text").taken
        if expected:
            self.end_run(expected["rest"] or "it passes", line)
        self.found.text.append(raw)
        return True

    def end_run(self, expected: str = "", line: int = 0) -> None:
        """Take the commands of a run as checks, unless they are expected to fail. What they must show is a criterion."""
        runs, self.runs = self.runs or [], None
        if _STAYS_RED.search(expected):
            return  # a later task mends it
        # A search fails where it finds nothing.
        runs = [hint for hint in runs if not (_FINDS.match(hint.value) and _NOTHING.search(expected))]
        if expected and _fails(expected):
            self.failing += runs
            return
        self.found.verify += [hint for hint in runs if expected or JUDGES.search(hint.value)]
        if expected and runs:
            self.found.runs.add(f"{', '.join(f'`{hint.value}`' for hint in runs)}: {expected}", line)

    def label(self, text: str, *, heading: bool = False) -> Label:
        return (step_label(text, heading=heading) if self.steps else None) or read_label(text)

    # One block each

    def head(self, head: Block) -> None:
        """Read the block that defines the unit. Its further lines may be fields, a Given, or more of its text."""
        self.found.is_section = head.kind is Kind.HEADING
        self.take_hints(head, skip_files=head.kind is Kind.ROW)
        for offset, text in enumerate(head.lines[1:], 1):
            label = self.label(text)
            if label.is_label and label.concept is not None:
                self.announce(label.concept, label.rest, head.line + offset)
            elif not self.continues_criteria(text, head.line + offset):
                self.found.text.append(text)
        self.inline = None
        if head.kind is not Kind.ROW:
            self.found.deps += hints.inline_deps(head)

    def heading(self, block: Block) -> None:
        """Set the concept for the heading's section. A heading without a known concept inherits that of the outer section."""
        if _SCENARIO.match(block.text):
            self.scenario(block.text, block.line, -1)
            return
        level, outer = self.section
        label = self.label(block.text, heading=True)
        if label.concept in FIELDS and label.rest:
            self.found.field(label.concept, label.rest)
        known = label.concept if label.concept in ("actions", "judged") else words.concept(block.text)
        inherits = known is None and block.level > level
        concept = outer if inherits else (known or "other")
        if not inherits:
            self.section = (block.level, concept)
        self.label_item = -1  # a label in a list above does not reach below the heading
        self.set_concept(concept)

    def paragraph(self, block: Block) -> None:
        text = block.text
        single = len(block.lines) == 1
        if single and _SCENARIO.match(text):
            self.scenario(text, block.line, -1)
            return
        runs = False
        for offset, raw in enumerate(block.lines):
            if self.run_line(raw, block.line + offset):
                runs = True
            else:
                self.text_line(raw, block.line + offset, single=single and block.parent <= self.at)
        self.inline = None
        self.found.deps += hints.inline_deps(block)
        self.begin_step(text)
        self.take_hints(block, skip_checks=runs)

    def text_line(self, raw: str, line: int, *, single: bool) -> None:
        told = {"criteria": self.found.labelled, None: self.found.scenarios if self.scenario_item is None else None}
        if (into := told.get(self.concept)) is not None and into.given_when_then(raw, line):
            return  # a criterion that is written as a paragraph
        label = self.label(raw)
        if label.is_label and label.concept is not None:
            self.announce(label.concept, label.rest, line)
        elif label.is_label and single:
            self.unknown_label(raw, line)
        elif self.scenario_item is not None:
            self.open_scenarios().go_on(raw)
        elif self.concept in FIELDS:
            self.found.field(self.concept, raw)
            self.concept = None
        elif not self.continues_criteria(raw, line):
            self.found.text.append(raw)
            if self.concept == "judged":
                self.step_result(raw, line)
            elif self.concept == "criteria" and single and words.normal(raw) not in words.NONE_WORDS:
                self.found.spoken.add(raw, line)  # alone under a criteria label; it counts if no list follows

    def unknown_label(self, raw: str, line: int) -> None:
        """Read an unknown label. Under a criteria heading it divides the criteria; elsewhere the items below it are plain."""
        self.set_concept(self.section[1] if self.section[1] in ("criteria", "success", "never") else None)
        self.pending = None if words.opens_story(raw) else (line, raw.strip("*_ :："))

    def item(self, index: int, block: Block) -> None:
        if is_struck(block.text) and block.text.rstrip(" *_.").endswith("~~"):
            return
        if self.pending is not None and self.concept is None and block.box is None:
            self.found.unknown_labels.append(self.pending)
        if self.label_item >= 0 and index >= self.outline.ends[self.label_item]:
            self.label_item = -1
            self.set_concept(None)
        if self.in_scenario(index, block):
            return
        rest = [line for at, line in enumerate(block.lines) if not self.run_line(line, block.line + at)]
        if not rest:
            return
        text = " ".join(filter(None, map(str.strip, rest)))
        self.begin_step(text)
        label = self.label(block.lines[0])
        if block.box is None and self.is_field(index, label):
            self.label_from_item(index, block, label)
            return
        self.plain_item(block, text)
        if self.concept == "execute":
            return  # commands that do the work do not check it
        self.found.deps += hints.inline_deps(block)
        self.take_hints(block, skip_checks=len(rest) < len(block.lines))

    def in_scenario(self, index: int, block: Block) -> bool:
        """Read an item that opens a scenario or continues the open one, and tell whether it was one."""
        if _SCENARIO.match(block.text):
            self.scenario(block.text, block.line, index)
            return True
        if self.scenario_item is not None and (self.scenario_item < 0 or index < self.outline.ends[self.scenario_item]):
            self.open_scenarios().go_on(block.text)
            return True
        self.scenario_item = None
        return False

    def is_field(self, index: int, label: Label) -> bool:
        """Tell whether an item is a field of the unit, and not a criterion that happens to have a colon."""
        if label.concept is None or (self.concept == "criteria" and (label.concept == "criteria" or not label.marked)):
            return False
        if label.concept in ("files", "touched"):
            sure = label.concept == "files" and label.marked
            named = behind_files(label.rest).paths if sure else listed_files(label.rest)
            return self.outline.ends[index] > index + 1 or not label.rest or bool(named)
        if label.marked or not label.rest or label.concept not in _LIKE_SENTENCES:
            return True
        return label.concept == "description" and not words.NOTE.match(self.blocks[index].lines[0])

    def plain_item(self, block: Block, text: str) -> None:
        """Read an item that is no label. It belongs to what the last label announced."""
        if self.item_level is None:
            self.item_level = block.level
        outermost = block.level <= self.item_level
        if self.concept in ("criteria", "success"):
            into = self.criteria()
            if not outermost:
                into.go_on(text)
                return
            if not into.given_when_then(text, block.line):
                into.add(text, block.line)
            self.found.ticked += [block.box in "xX"] if block.box is not None else []
        elif self.concept in ("never", "gates", "judged"):
            if self.concept != "never":
                self.found.take(commands.under_label(text, block.line, "field"))
            self.found.text.append(text)
            if self.concept == "judged":
                self.step_result(text, block.line, outermost=outermost)
        elif block.box is not None:
            self.box(block, text, outermost=outermost)
        else:
            self.boxless_item(block, text, outermost=outermost)

    def boxless_item(self, block: Block, text: str, *, outermost: bool) -> None:
        match self.concept:
            case "depends":  # words that name no id become text
                deps = hints.field_deps(text, block.line, "section") if text and outermost else []
                self.found.deps += [dep for dep in deps if dep.carrier != "unclear"]
                self.found.text += [dep.target for dep in deps if dep.carrier == "unclear"]
            case "files" | "touched" if self.file_list(text, block.line, self.concept, report=outermost):
                pass
            case "verify":
                self.found.take(commands.under_label(text, block.line, "field"))
                self.found.text.append(text)
                if outermost and not _TICKED_ONLY.fullmatch(text):
                    self.found.checks.add(text, block.line)
            case "covers" if (names := hints.targets(text))[1] and names[0]:
                self.found.covers += [_hint(name, block.line, "field") for name in names[0]]
            case None | "description" | "work" | "covers":
                self.bullet(block, text, outermost=outermost)
            case _:
                self.found.text.append(text)

    def step_result(self, text: str, line: int, *, outermost: bool = True) -> None:
        """Read the result that a step must have. A text that is only a command is a check and no criterion."""
        if not outermost:
            self.found.labelled.go_on(text)
        elif not _TICKED_ONLY.fullmatch(text):
            self.found.labelled.add(text, line)
            self.inline, self.broken = self.found.labelled, True

    def criteria(self) -> Criteria:
        return self.found.labelled if self.concept == "criteria" else self.found.success

    def box(self, block: Block, text: str, *, outermost: bool) -> None:
        if self.concept == "verify":
            self.found.take(commands.under_label(text, block.line, "field"))
        if self.concept == "actions" or _COMMITS.match(text) or _fails(text):
            self.found.text.append(text)
        elif outermost or not self.found.boxes:
            self.found.boxes.add(text, block.line)
        else:
            self.found.boxes.go_on(text)
            return
        self.found.ticked.append((block.box or "") in "xX")

    def bullet(self, block: Block, text: str, *, outermost: bool) -> None:
        into = self.found.described if self.concept == "description" else self.found.bullets
        self.found.text.append(text)
        if _COMMITS.match(text) or _fails(text):
            return
        if not outermost:
            into.go_on(text)
        elif not into.given_when_then(text, block.line):
            into.add(text, block.line)
            self.found.keyed += self.concept != "description" and bool(_KEYED.match(text))

    def row(self, block: Block) -> None:
        joined = " | ".join(cell for cell in block.cells if cell)
        concept = words.concept(block.cells[0]) if len(block.cells) == 2 else None
        if self.concept == "criteria":
            self.found.labelled.add(joined, block.line)
        elif concept == "criteria":
            for part in _BREAK.split(block.cells[1]):
                if part.strip(" -–—•."):
                    self.found.labelled.add(part.strip().lstrip("-–—• "), block.line)
        elif concept in {"depends", "files", "touched", "verify", *FIELDS}:
            before = self.concept
            self.announce(concept, block.cells[1], block.line)
            self.concept = before
        else:
            self.found.text.append(joined)

    def begin_step(self, text: str) -> None:
        """Begin a step, which ends a list of files. If it says that it runs something, its commands are in a fence below it."""
        if self.concept in ("files", "touched") and _STEP.match(text):
            self.set_concept(self.section[1])
        if "un" in text and _STEP_RUNS.search(text):
            self.end_run()
            self.runs = None if _fails(text) else []

    def code(self, block: Block) -> None:
        if self.runs == []:
            self.runs = commands.in_fence(block.lines, block.line, "text", block.info).taken
            return
        if self.concept == "execute":
            self.found.text += ["Execute:", *block.lines]
        if self.concept in ("verify", "gates", "judged"):
            self.found.take(commands.in_fence(block.lines, block.line, "field", block.info))

    # Parts

    def label_from_item(self, index: int, block: Block, label: Label) -> None:
        before, level = self.concept, self.item_level
        self.found.item_fields += 1
        wrapped = label.concept not in ("criteria", "success") and bool(label.rest)
        rest = " ".join([label.rest, *block.lines[1:]]) if wrapped else label.rest
        self.announce(label.concept or "", rest, block.line)
        for offset, raw in enumerate([] if wrapped else block.lines[1:], 1):
            if not self.continues_criteria(raw, block.line + offset):
                self.found.text.append(raw)
        self.inline = None
        if self.outline.ends[index] > index + 1:
            self.label_item = index
        elif label.rest or label.concept != "criteria":
            self.concept, self.item_level = before, level

    def announce(self, concept: str, rest: str, line: int) -> None:
        if concept == "touched" and self.concept == "files":
            concept = "files"
        self.set_concept(concept)
        if rest:
            self.concept = concept if concept in _LASTING else None
            self.behind_label(concept, rest, line)

    def behind_label(self, concept: str, rest: str, line: int) -> None:
        found = self.found
        match concept:
            case "criteria" | "success":
                self.inline = self.criteria()
                self.criteria_on_line(self.inline, rest, line)
            case "depends" | "blocks":
                found.deps += (deps := hints.field_deps(rest, line, "field" if concept == "depends" else concept))
                found.text += [dep.target for dep in deps if dep.carrier == "unclear"]
            case "pool":
                found.deps.append(Dep(target=rest, line=line, carrier="field"))
            case "files" | "touched":
                self.file_list(rest, line, concept)
            case "verify" | "gates" | "judged":
                found.take(commands.behind_label(rest, line, "field"))
                found.text.append(rest)
                if concept == "judged":
                    self.step_result(rest, line)
            case "covers":
                found.covers += [_hint(name, line, "field") for name in hints.covered(rest)]
            case "execute":
                found.text.append(f"Execute: {rest}")
            case "description" | "work" | "other" | "never" | "actions":
                found.text.append(rest)
            case _:
                found.field(concept, rest)

    def file_list(self, text: str, line: int, concept: str, *, report: bool = True) -> bool:
        """Read a list of files. Entries that name no file become text. With `report` they also become a warning."""
        paths, left = behind_files(text) if concept == "files" else (listed_files(text), [])
        self.found.files += [_hint(path, line, "field") for path in paths]
        if left:
            self.found.text.append(text)
            self.found.unread += [_hint(", ".join(left), line, "files")] if report else []
        return concept == "files" or bool(paths)

    def criteria_on_line(self, into: Criteria, rest: str, line: int) -> None:
        """Read criteria on one line: `a; b; c`."""
        for part in (part.strip() for part in _SEMICOLON.split(rest)):
            if part.strip(" .") and not into.given_when_then(part, line):
                into.add(part, line)
        self.broken = not rest.rstrip().endswith((";", "；"))

    def continues_criteria(self, raw: str, line: int) -> bool:
        """Read a line that continues criteria which began on their label's line, and tell whether it does."""
        if self.inline is None:
            return False
        rest = raw
        if self.broken and self.inline:
            first, *more = _SEMICOLON.split(raw)
            self.inline.go_on(first)
            rest = ";".join(more)
        self.criteria_on_line(self.inline, rest, line)
        self.broken = not raw.rstrip().endswith((";", "；"))
        return True

    def set_concept(self, concept: str | None) -> None:
        self.concept, self.item_level, self.scenario_item = concept, None, None

    def scenario(self, text: str, line: int, item: int) -> None:
        self.open_scenarios().add(text, line)
        self.scenario_item = item

    def open_scenarios(self) -> Criteria:
        return self.found.labelled if self.concept == "criteria" else self.found.scenarios

    def take_hints(self, block: Block, *, skip_files: bool = False, skip_checks: bool = False) -> None:
        text = block.text
        if not skip_files:
            self.found.files += [_hint(path, block.line, "text") for path in hints.files_in(text)]
        if not skip_checks:
            found = commands.commands_in(text, block.line)
            (self.failing if found and _fails(text) else self.found.verify).extend(found)


def _fails(text: str) -> bool:
    return ("ail" in text or "AIL" in text) and bool(_FAILS.search(text))


def _hint(value: str, line: int, carrier: str) -> Hint:
    return Hint(value=value, line=line, carrier=carrier)


_ROLE = pattern(r"(?i)\b(?:developer|(scientist))\b")
_OWN_ID = pattern(
    r"(?i)^[*_`\[]*((?:AC|CA|KA|CS|AK)[-_ ]?\d+(?:[.\-]\d+)*|#\d+|(?:AC|CA)-[A-Z]+-?\d+)[*_`\]]*\s*[:：.)\-–—]*\s*[*_]*\s*",
)
_SAYS_WHAT_FOLLOWS = pattern(r"(?i)\b(?:then|shall|alors|entonces|então|dann)\b|→|->|,\s*the\b")


@lean()
class _Draft:
    """One criterion. Its parts are joined only at the end, which keeps the time linear."""

    parts: list[str]
    line: int
    id: str | None
    complete: bool
    """The sentence already says what follows, as in `When …, then …` or an EARS line."""


@lean()
class Criteria:
    """A list of criteria that is still growing. A Given begins a criterion; When and Then continue it."""

    drafts: list[_Draft] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.drafts)

    def add(self, raw: str, line: int) -> None:
        """Begin a criterion. An id at its beginning is the criterion's id."""
        own = _OWN_ID.match(raw)
        text = (clean(raw[own.end() :]) if own else "") or clean(raw)
        self.drafts.append(_Draft([text], line, own[1].strip() if own else None, bool(_SAYS_WHAT_FOLLOWS.search(text))))

    def go_on(self, raw: str) -> None:
        """Add a text to the last criterion, if there is one."""
        if self.drafts:
            text = clean(raw)
            self.drafts[-1].parts.append(text)
            self.drafts[-1].complete |= bool(_SAYS_WHAT_FOLLOWS.search(text))

    def given_when_then(self, raw: str, line: int) -> bool:
        """Add a Given, When or Then line that begins or continues a criterion, and tell whether it was one."""
        if words.GIVEN.match(raw):
            self.add(raw, line)
            return True
        last = self.drafts[-1] if self.drafts else None
        if last is None or not (
            words.GIVEN.match(last.parts[0]) or (words.WHEN.match(last.parts[0]) and not last.complete)
        ):
            return False
        then = words.THEN.match(raw)  # `E-mail` and `I see` only look like it
        goes_on = then is not None and raw[then.end() - 1] in "*_:, \t" and not raw.startswith("I ")
        if goes_on or (words.WHEN.match(raw) and not last.complete):
            self.go_on(raw)
            return True
        return False

    def done(self) -> list[DraftCriterion]:
        return [DraftCriterion(text=" ".join(draft.parts), line=draft.line, id=draft.id) for draft in self.drafts]


@lean()
class Gathered:
    """Everything found in one unit. Possible criteria are kept apart by how they were written."""

    labelled: Criteria = field(default_factory=Criteria)
    scenarios: Criteria = field(default_factory=Criteria)
    success: Criteria = field(default_factory=Criteria)
    spoken: Criteria = field(default_factory=Criteria)
    """Paragraphs under a criteria label. They are criteria if no list follows."""
    runs: Criteria = field(default_factory=Criteria)
    """What `Run: …` and `Expected: …` say. They are criteria rather than the steps around them."""
    boxes: Criteria = field(default_factory=Criteria)
    checks: Criteria = field(default_factory=Criteria)
    """Bullets under a verification label that are more than a command."""
    bullets: Criteria = field(default_factory=Criteria)
    described: Criteria = field(default_factory=Criteria)
    """Bullets under a description. They are criteria only if the unit has nothing else."""
    keyed: int = 0
    """How many of the bullets are `Key: value`."""
    item_fields: int = 0
    """How many items are fields with a known name."""
    is_section: bool = False
    """The unit is a heading with its section. There a list of `Key: value` is usually a form, not criteria."""
    ticked: list[bool] = field(default_factory=list)
    deps: list[Dep] = field(default_factory=list)
    covers: list[Hint] = field(default_factory=list)
    files: list[Hint] = field(default_factory=list)
    verify: list[Hint] = field(default_factory=list)
    unread: list[Hint] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    unknown_labels: list[tuple[int, str]] = field(default_factory=list)

    def field(self, concept: str | None, text: str) -> None:
        """Keep the text of a field. The first field of a name counts."""
        if concept and (said := text.strip(" *_`.")):
            self.fields.setdefault(concept, said)

    @property
    def role(self) -> Role:
        found = _ROLE.search(self.fields.get("role", ""))
        return "scientist" if found and found[1] else "developer"

    def take(self, checks: Found) -> None:
        self.verify += checks.taken
        self.unread += checks.left

    @property
    def criteria(self) -> list[DraftCriterion]:
        marked = (self.labelled, self.scenarios, self.spoken, self.success, self.runs, self.boxes, self.checks)
        return next((criteria.done() for criteria in marked if criteria), [])

    @property
    def implied(self) -> list[DraftCriterion]:
        """The plain bullets, unless all of them are fields."""
        is_form = self.keyed == len(self.bullets) > 0 and self.item_fields > (0 if self.is_section else 1)
        return [] if is_form else (self.bullets or self.described).done()


@record
class Carrier:
    """A place that defines a unit: its first block, the index behind its last block, and what the place itself says."""

    at: int
    """-1 if the whole document is the unit and no block is its head."""
    end: int
    title: str
    id: str | None = None
    line: int = 0
    """0 means the line of the block."""
    chunk: str | None = None
    tags: tuple[str, ...] = ()
    status: Status = Status.OPEN
    priority: str | None = None


_DONE = pattern(
    r"(?i)^\W*(?:done|(?:implementation[- ])?complete|completed|closed|finished|implemented|shipped|merged|passed|validated|fertig|erledigt|abgeschlossen"
    r"|terminée?|termin[ée]|terminado|completad[oa]|conclu[ií]d[oa]|klar|gereed|готово|выполнено|завершено|完了|完成|已完成|완료)(?!\w|\s*\?)|^\[x\]|^✅",
)
_DROPPED = pattern(
    r"(?i)^\W*(?:cancell?ed|dropped|rejected|removed|obsolete|won'?t (?:do|fix)|wontfix|superseded|abandoned|annulée?|cancelad[oa]|verworfen|отменено)(?!\w)",
)

_UNDERWAY = pattern(
    r"(?i)^\W*(?:to[- ]?do|open|pending|not started|in[- ]?progress|in[- ]?review|review|ready"
    r"|draft|approved|planned|active|blocked|backlog|new|wip|offen|en cours|em andamento|en progreso|pendiente|進行中|进行中|未着手|未开始|진행)",
)
"""Status words for work that is not done, even if all boxes are ticked."""


def status_of(word: str) -> Status | None:
    """Return the status that a word such as `Done` or `cancelled` claims, or None if it claims neither."""
    if _DONE.match(word.strip()):
        return Status.DONE
    return Status.DROPPED if _DROPPED.match(word.strip()) else None


@lean()
class Harvester:
    """Reads the units of one outline."""

    outline: Outline
    implicit: bool = True
    steps: bool = False
    unknown_labels: list[tuple[int, str]] = field(default_factory=list)

    def unit(self, carrier: Carrier) -> Unit:
        found = Walk(self.outline, carrier.at, carrier.end, steps=self.steps).run()
        criteria = found.criteria
        if not criteria:
            self.unknown_labels += found.unknown_labels
            criteria = found.implied if self.implicit else []
        own = found.fields.get("title") if carrier.title == (carrier.id or "") else None
        blocks = self.outline.blocks
        line = clean(blocks[carrier.at].lines[0]) if carrier.at >= 0 else ""
        # The whole first line is kept if the title is only a part of it.
        is_cut = bool(carrier.title) and len(line) > len(carrier.title) + len(carrier.id or "") + 12
        return Unit(
            id=carrier.id or found.fields.get("id", "").strip(" `*") or None,
            title=own or carrier.title,
            line=carrier.line or blocks[carrier.at].line,
            end=_last_line(blocks, carrier),
            text="\n".join([*([line] if is_cut else []), *found.text]),
            status=_status(carrier.status, found),
            chunk=found.fields.get("chunk", carrier.chunk),
            tags=carrier.tags,
            priority=carrier.priority or found.fields.get("priority"),
            role=found.role,
            profile=found.fields.get("profile"),
            criteria=tuple(criteria),
            deps=_unique_deps(found.deps),
            covers=unique(found.covers),
            files=unique(found.files),
            verify=unique(found.verify),
            unread=unique(found.unread),
        )


def _last_line(blocks: list[Block], carrier: Carrier) -> int:
    """Return the last line of a unit; 0 if its line is that of a box and its text stands elsewhere."""
    begins = blocks[carrier.at].line if carrier.at >= 0 else carrier.line
    return blocks[carrier.end - 1].end if blocks and carrier.line in (0, begins) else 0


def _status(claimed: Status, found: Gathered) -> Status:
    """Return the status of a unit. A ticked unit that is under way or has open boxes is open; an open one with all boxes ticked claims to be done."""
    word = found.fields.get("status", "").strip()
    underway, half_done = bool(_UNDERWAY.match(word)), not all(found.ticked)
    if claimed is Status.DONE and (half_done or underway):
        return Status.OPEN
    if claimed is not Status.OPEN:
        return claimed
    said = status_of(word)
    if said is not None or underway:
        return said or claimed
    return Status.DONE if found.ticked and not half_done else claimed


def _unique_deps(found: list[Dep]) -> tuple[Dep, ...]:
    first: dict[str | int, Dep] = {}
    for dep in sorted(found, key=lambda dep: not dep.is_declared):
        first.setdefault(dep.line if dep.carrier == "unclear" else ids.fold(dep.target), dep)
    return tuple(sorted(first.values(), key=lambda dep: dep.line))
