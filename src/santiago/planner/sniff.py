"""Tell the format of a text by its content, never by its file name."""

from __future__ import annotations

from santiago.contract.patterns import pattern
from santiago.planner import gherkin_words, ids

_YAML_KEY = pattern(r"^(?:- )?[\w\"'.-]+[ \t]*:(?:[ \t]|$)")
_ID_LINE = pattern(r"^(?:- )?[A-Z][A-Za-z-]*\d[\w.-]*[ \t]*:[ \t]+[^\s|>&{\[]")
"""`- FR-1: The system …`: a Markdown list of requirements that looks like YAML."""
_JSON_LIST = pattern(r"\[\s*(?:[\[{\"\]\d-]|(?:true|false|null)\b)")
_NOT_JSON = pattern(r"\[[^\]\n]*\]\(|\[[ xX]\]\s|\{[{%#:]")
_BOX_LINE = pattern(r"[-*] \[[ xX~-]?\] ")
"""A check box at the left margin. No YAML value begins like this."""
_HEADING = pattern(r"#{2,6} (\S.*)")


def looks_like(text: str, *, front_matter: bool) -> str:
    """Return `json`, `csv`, `gherkin`, `yaml` or `markdown`."""
    head = text.lstrip()
    if (head[:1] == "{" or _JSON_LIST.match(head)) and not _NOT_JSON.match(head):
        return "json"
    if is_csv(text):
        return "csv"
    if gherkin_words.is_gherkin(text):
        return "gherkin"
    return "yaml" if not front_matter and _is_yaml(text) else "markdown"


def is_csv(text: str) -> bool:
    """Tell whether a text is a table of tickets: its first line holds column names that issue trackers use."""
    if not any(mark in text[:2000].partition("\n")[0] for mark in ",;\t"):
        return False
    from santiago.planner.readers.tickets import columns_of

    return columns_of(text) is not None


def _is_yaml(text: str) -> bool:
    """Tell whether a text is a mapping or a list of mappings. Lines that look like headings must be comments between keys."""
    lines = [line for line in text.split("\n", 400)[:400] if line.strip()]
    rows = [line for line in lines if not line.lstrip().startswith("#") and line.strip() not in ("---", "...")]
    if not rows or not _opens_yaml(rows[0]) or any(map(_BOX_LINE.match, rows)):
        return False
    others = sum(not row.startswith((" ", "\t", "- ")) and not _YAML_KEY.match(row) for row in rows)
    headings = [found[1] for line in lines if (found := _HEADING.match(line))]
    if not headings:
        return others < 0.15 * len(rows)
    return not others and _are_records(rows) and not any(map(ids.lead, headings))


def _opens_yaml(row: str) -> bool:
    return bool(_YAML_KEY.match(row)) and not _ID_LINE.match(row)


def _are_records(rows: list[str]) -> bool:
    """Tell whether the lines are nested records that all begin with the same key, and not a list of fields."""
    bullets = [row for row in rows if row.startswith(("- ", "* "))]
    nested = any(row[0] == " " for row in rows) and not any(row.startswith(("- [", "* ")) for row in bullets)
    return nested and len({row.partition(":")[0] for row in bullets}) < 2
