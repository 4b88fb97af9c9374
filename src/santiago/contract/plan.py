"""The plan: what `santiago plan` compiles and `santiago execute` carries out; `plan.json` is this, field by field."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Annotated, Literal

from santiago.contract.ids import STORY_ID
from santiago.contract.lazy_regex import pattern
from santiago.contract.record import AtLeast, Matching, record

CONTRACT_VERSION: Literal[1] = 1

Name = Annotated[str, Matching(STORY_ID)]
"""The id of a story."""
Line = Annotated[int, AtLeast(0)]
Digest = Annotated[str, Matching("[0-9a-f]{64}")]

Level = Literal["error", "warning", "note"]
Role = Literal["developer", "scientist"]
Became = Literal["planned", "context", "left_out"]
HEADING = "a heading"
"""Why of a row: it is a heading with nothing below it but other parts, each with a row of its own."""
NOT_UNDERSTOOD = "not understood"
"""Why a part of the document is left out, if nothing in it says that it is no work."""
DRAFTED = "planning-session"
"""The format of a plan that agents wrote in a planning session."""
PROSE = (".md", ".mdx", ".rst", ".txt", ".adoc", ".asciidoc", ".org", ".tex")
"""How the names of texts for people end."""
_OF_TESTS = pattern(r"(?i)\b(?:tests?|specs?|expectations?|assertions?|snapshots?)\b|(?<![a-z])test_")


@record
class Finding:
    """Something that was not understood, was left out, or looks wrong; nothing is dropped without one."""

    level: Level
    code: str
    """An entry of the catalogue in `planner.findings`, so that `santiago explain CODE` can tell more."""
    line: Line
    """1-based; 0 where the finding concerns the whole document."""
    message: str
    hint: str


@record
class Source:
    path: str
    """The path of the document as it was given, with forward slashes; relative to the repository if it lies inside one."""
    sha256: Digest
    """Digest of the text with LF line ends and every box unticked, since ticks tell the progress and not the task."""
    format: str
    evidence: tuple[str, ...]
    """Why this format was chosen."""

    @property
    def is_drafted(self) -> bool:
        """Whether agents wrote the plan in a planning session. Its commands then stand in no document."""
        return self.format == DRAFTED


@record
class Criterion:
    id: str
    text: str
    line: Line


@record
class Requirement:
    id: str
    title: str
    text: str
    line: Line
    criteria: tuple[Criterion, ...]


def substep_line(number: str, title: str, *, done: bool) -> str:
    """Return the line in a story's description that begins a part which the document gives it."""
    return f"Step {number}{' (done)' if done else ''}: {title}"


_SUBSTEP = pattern(r"(?m)^Step (\d+(?:\.\d+)+): (.*)$")


@record
class Origin:
    id: str | None
    """The id that the document gives, as written."""
    line: Line


@record
class Provenance:
    """Where a dependency, file, command or role of a story stands in the document."""

    field: Literal["depends_on", "external_depends_on", "files", "verify", "covers"]
    value: str
    line: Line
    carrier: str
    """What declared it: `field`, `front-matter`, `json`, `inline`, `range`, `section`, `table`, `text`."""


POOL = pattern("[a-z][a-z0-9_-]{0,62}")
"""What a pool of workers may be called."""


@record
class Story:
    id: Name
    title: str
    description: str
    requirements: tuple[str, ...]
    criteria: tuple[str, ...]
    depends_on: tuple[Name, ...]
    external_depends_on: tuple[str, ...]
    chunk: str
    role: Role
    profile: str | None
    files: tuple[str, ...]
    verify: tuple[str, ...]
    priority: str | None
    claimed_done: bool
    origin: Origin
    provenance: tuple[Provenance, ...]

    @property
    def pool(self) -> str:
        """The pool of workers that it needs, where a run has workers; empty if any will do.

        It is named by a dependency that nothing in the document defines, if that is the only one and one plain word in
        small letters, such as `gpu`. `R9` is rather the id of something that is missing.
        """
        names = self.external_depends_on
        return names[0] if len(names) == 1 and POOL.fullmatch(names[0]) else ""

    @property
    def substeps(self) -> tuple[tuple[str, str], ...]:
        """The parts that the document itself gives it and that are open: number and title."""
        own = f"{self.origin.id}."
        return tuple(found for found in _SUBSTEP.findall(self.description) if found[0].startswith(own))

    @property
    def is_prose(self) -> bool:
        """Whether it is about texts for people alone, by the files that the plan names."""
        return bool(self.files) and all(path.lower().endswith(PROSE) for path in self.files)

    def name_of(self, criterion: str) -> str:
        """Return a criterion's id for people and agents. If its requirement has no id of its own, it is named by its story."""
        own = not criterion.startswith("~") or criterion not in self.criteria
        return criterion if own else f"{self.id}#{self.criteria.index(criterion) + 1}"

    def speaks_of(self, test: str) -> bool:
        """Whether it is about tests by its title, or its description names this one, so that the test may be what is wrong."""
        named = rf"(?<![\w/]){re.escape(test)}(?!\w|\.\w)" if test.lower().startswith("test") else r"(?!)"
        return _OF_TESTS.search(self.title) is not None or re.search(named, self.description) is not None


@record
class Chunk:
    label: str
    stories: tuple[Name, ...]


@record
class AccountRow:
    """What became of one section, list, table, fence, comment or referenced file of the document."""

    lines: tuple[Line, ...]
    """The first and the last. A row inside the lines of another one tells of an exception."""
    title: str
    became: Became
    stories: tuple[Name, ...] = ()
    why: str = ""
    """Why it is left out, such as `out of scope`; what it is, such as `code`, if it is no section."""
    text: str = ""
    """What agents are told of it: the text of context, or what stands around the stories. It ends in `…` if it was too long."""

    @property
    def is_context(self) -> bool:
        """Whether it is a section of its own that tells about the work."""
        return self.became == "context" and not self.why


@record
class Offer:
    """A list of the document that could be its units."""

    name: str
    """What a person calls it: `FR-001 to FR-020`, `the check boxes under Small stuff`."""
    units: str
    """The value of `--units` that selects it; empty if there is none."""
    lines: tuple[Line, ...]
    count: int
    """How many units it gives."""


ACCOUNT = frozenset({"account", "certain", "chosen", "rivals"})
"""The fields that older plans do not have."""


@record
class Plan:
    contract_version: Literal[1]
    title: str
    source: Source
    digest: Digest
    """SHA-256 of the canonical JSON of all other fields."""
    requirements: tuple[Requirement, ...]
    stories: tuple[Story, ...]
    """In execution order."""
    chunks: tuple[Chunk, ...]
    run_verify: tuple[str, ...]
    findings: tuple[Finding, ...]
    account: tuple[AccountRow, ...] = ()
    """Every part of the document, by line. Older plans have none."""
    certain: bool = True
    """Whether the document leaves no doubt about which list is the work. If not, the plan is a proposal."""
    chosen: Offer | None = None
    """In a proposal, the list that the stories were made from."""
    rivals: tuple[Offer, ...] = ()
    """The lists that could be the work instead."""

    @property
    def is_older(self) -> bool:
        """Whether it was made before plans had an account."""
        return not self.account and self.certain and self.chosen is None and not self.rivals

    @property
    def criteria(self) -> dict[str, str]:
        """All criteria: id → text."""
        return {one.id: one.text for requirement in self.requirements for one in requirement.criteria}


def contents_of(plan: Plan) -> dict[str, str]:
    """Return the digest of each story of a plan: its words, its criteria and its own checks, however they are wrapped."""
    known = {requirement.id: requirement for requirement in plan.requirements}
    return {
        story.id: _digest(story, [known[name] for name in story.requirements if name in known])
        for story in plan.stories
    }


def content_of(plan: Plan, story: Story) -> str:
    """Return the digest of one story; nothing for a substep, which no document asks for."""
    if not any(one.id == story.id for one in plan.stories):
        return ""
    known = {one.id: one for one in plan.requirements if one.id in story.requirements}
    return _digest(story, [known[name] for name in story.requirements if name in known])


def _digest(story: Story, requirements: Sequence[Requirement]) -> str:
    said = [text for one in requirements for text in (one.title, one.text, *(each.text for each in one.criteria))]
    parts = (story.title, story.description, *said, "", *story.verify)
    return sha256("\0".join(" ".join(part.split()) for part in parts).encode()).hexdigest()


LONGEST_DETAIL = 256 * 1024
"""Bytes of a detailed plan as an agent writes it."""


@record
class Substep:
    """A part of a story that is carried out and judged by itself, before the story as a whole."""

    title: str
    """In a few words, on one line."""
    actions: tuple[str, ...]
    """What is to be done, in order."""
    files: tuple[str, ...] = ()
    """Where, by paths in the repository."""
    checks: tuple[str, ...] = ()
    """Shell commands that judge it; it needs at least one."""


@record
class Detail:
    """How a story is to be carried out."""

    contract_version: Literal[1]
    """Of this document: 1."""
    objective: str
    """What holds when the story is done."""
    create: tuple[str, ...] = ()
    """New files, by their paths in the repository."""
    modify: tuple[str, ...] = ()
    """Files that are there and will be changed."""
    delete: tuple[str, ...] = ()
    """Files that are there and will be removed."""
    actions: tuple[str, ...]
    """What is to be done, in order."""
    checks: tuple[str, ...] = ()
    """Shell commands that judge the story beside those that it has already."""
    substeps: tuple[Substep, ...] = ()
    """Parts that are carried out one by one, in order; none where the story is small enough to be done at once."""
