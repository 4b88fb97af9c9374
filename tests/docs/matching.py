"""Whether what was printed is what a page shows: `…` stands for anything, and what differs from run to run is no difference."""

import os
import re

RUN = re.compile(r"\b[rp]_\d{8}_\d{6}(?:_\d+)?\b")
VARIES = [
    (re.compile(rf"\b(?:(?:build\d|{re.escape(os.uname().nodename)})-\d+\b|worker(?= +pool\b)) *"), "WORKER "),
    (re.compile(r"\b127\.0\.0\.1:\d{4,5}\b"), "ADDRESS"),
    (RUN, "RUN"),
    (re.compile(r"\bsha256:[0-9a-f]{8}…[0-9a-f]{4}\b"), "DIGEST"),
    (re.compile(r"\b\d{8}T\d{6}_\d{3}Z-\d+\b"), "MOMENT"),
    (re.compile(r"\b\d{4}-\d\d-\d\d (?=\d\d:\d\d:\d\d\b)"), ""),  # named only where it is another day than just before
    (re.compile(r"\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?Z?)?\b"), "DATE"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "TIME"),
    (re.compile(r"\b[0-9a-f]{7,64}\b"), "COMMIT"),
    (re.compile(r"\bbubblewrap \S+?(?=[,;)\s]|$)|\bnamespaces(?=[,; ]|$)"), "FENCE"),
    (re.compile(r"\b\d+\.\d+\.\d+\b"), "VERSION"),
    (re.compile(r" *\b(\d+(\.\d+)? (s|ms)|\d+m\d\ds|\d+h\d\dm|\d+:\d\d)(?![\w:])"), " SPAN"),
    (re.compile(r" *\b\d+(\.\d+)? [KMG]iB\b"), " SIZE"),
    (re.compile(r"(?<=\bRUN) {2,}| {2,}(?=# )"), "  "),  # the second run of a second has a longer id
    (re.compile(r"[ \t]+$"), ""),
]
"""What differs from one run to the next, and what stands for it; the widths of columns beside it differ as well."""
_BESIDE = re.compile(r"TIME beat |│ +[~^]+$")
"""Lines that are not always there: signs of life, and the marks below a line of a traceback of newer Pythons."""


def normal(line: str) -> str:
    for pattern, name in VARIES:
        line = pattern.sub(name, line)
    return line


def fits(shown: list[str], printed: list[str]) -> bool:
    """Say whether a page shows what was printed; a line `…` stands for any lines, `…` within one for any text."""
    expected = [_pattern(line) for line in shown]
    told = [line for line in map(normal, _trimmed(printed)) if not _BESIDE.match(line)]
    return re.fullmatch("".join(expected), "".join(f"{line}\n" for line in told)) is not None


def same_runs(known: dict[str, str], shown: list[str], printed: list[str]) -> dict[str, str]:
    """Return which run of a world each run of the page stands for; both come in the same order."""
    pages, worlds = (dict.fromkeys(RUN.findall("\n".join(lines))) for lines in (shown, printed))
    new = [run for run in worlds if run not in known.values()]
    return {**known, **dict(zip((run for run in pages if run not in known), new, strict=False))}


def as_on_page(known: dict[str, str], printed: list[str]) -> list[str]:
    """Return what was printed with the ids that the page has for its runs, so that a renewed page keeps them."""
    names = {world: page for page, world in known.items()}
    return [RUN.sub(lambda found: names.get(found[0], found[0]), line) for line in printed]


def _pattern(line: str) -> str:
    if line.strip() == "…":
        return r"(?:.*\n)*?"
    return ".*?".join(re.escape(part) for part in normal(line).split("…")) + r"\n"


def _trimmed(lines: list[str]) -> list[str]:
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines
