"""Doubts: added lines that look like cheating, and that restoring the old tests cannot expose. A person is asked about them.

Files of the judge are not searched, since they are put back. The rules are a closed list of names; doubts.toml has patterns
of each for each language. tests/judge/test_doubts.py has examples of cheating for each, and docs/doubts.md says how many
honest commits each rule would stop.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice

from santiago.contract.lazy_regex import pattern
from santiago.contract.outcomes import DoubtfulLine
from santiago.contract.ports.workspace import Change
from santiago.judge.commandline import STEERED_BY
from santiago.judge.python_text import statements
from santiago.judge.runner_tables import table
from santiago.judge.sections import dotted

Judges = Callable[[str], bool]
Read = Callable[[str], bytes | None]
Lines = dict[int, str]
"""Lines by number."""
Seen = Iterator[tuple[int, str]]
"""Yields lines, each with the rule that it matches."""
_EXITS_WELL = "exits_well"
"""Not a rule by itself: an exit with code 0 is doubtful only in a file that is not a program."""
_LIBRARY = sorted(sys.stdlib_module_names - {"sys", "os", "this"})


@cache
def _patterns() -> dict[str, dict[str, re.Pattern[str]]]:
    """Return the expressions of each rule, by file ending."""
    parts = {**table("doubts")["parts"], "library": "|".join(_LIBRARY)}
    found: dict[str, dict[str, re.Pattern[str]]] = {}
    for language in (one for one in table("doubts").values() if "endings" in one):
        rules = {rule: "|".join(some) for rule, some in language.items() if rule != "endings"}
        for name, part in parts.items():
            rules = {rule: text.replace(f"<{name}>", part) for rule, text in rules.items()}
        compiled = {rule: pattern(text) for rule, text in rules.items()}
        found |= dict.fromkeys(language["endings"], compiled)
    return found


_PROCESS = pattern(r"/proc/(?:self|1|\{[^}]{1,40}\})/")
_TEST_WORD = pattern(r"(?:\b|_|py|unit)tests?(?:\b|_|ing)", re.IGNORECASE)
_WORDS = ("pytest_current_test", "unittest", "discover", "santiago")
_MOST = 50
_LARGEST = 1024 * 1024
_OPENED = pattern(r"(?:\bopen\(|\bPath\(|\.joinpath\(|\.with_name\()['\"]([^'\"]{1,200})['\"]")
_REPLACED = pattern(r"([A-Za-z_][\w.]{0,100})\.\w{1,80} = (?!['\"\d\[{]|None|True|False)")
_COMMENT = ("//", "/*", "*", "# ")


def doubts(changes: Iterable[Change], judges: Judges, before: Read, after: Read) -> tuple[DoubtfulLine, ...]:
    """Return the doubts about an attempt's changes. `judges` tells which files judge; `before` and `after` read base and work."""
    asked = (change for change in changes if not judges(change.path))
    return tuple(islice((doubt for change in asked for doubt in _about(change, judges, before, after)), _MOST))


def _about(change: Change, judges: Judges, before: Read, after: Read) -> Iterator[DoubtfulLine]:
    """Yield one doubt for each rule, at its first line."""
    path, data = change.path, (after(change.path) or b"")[:_LARGEST]
    added = _added((before(path) or b"")[:_LARGEST], data)
    found: dict[str, set[int]] = {}
    for line, rule in _in_file(change, data, added, judges, before, after):
        found.setdefault(rule, set()).add(line)
    for rule, lines in found.items():
        first, more = min(lines), f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
        sentence, text = f"{path}:{first}{more} {table('doubts')['rules'][rule]}", added.get(first, "").strip()[:200]
        yield DoubtfulLine(path=path, line=first, rule=rule, sentence=sentence, text=text)


def _added(old: bytes, new: bytes) -> Lines:
    """Return the lines that a file holds more often than before. Which of several equal lines is the new one does not matter."""
    then, now = (re.split("\r\n?|\n", data.decode("utf-8", "replace")) for data in (old, new))
    had, has = Counter(then), Counter(now)
    return {number: line for number, line in enumerate(now, 1) if has[line] > had[line] and line.strip()}


def _in_file(change: Change, data: bytes, added: Lines, judges: Judges, before: Read, read: Read) -> Seen:
    path, patterns = change.path, _patterns().get("." + change.path.rpartition(".")[2], {})
    is_target = any(_is_target(path, before(name) or b"") for name in STEERED_BY["make"])
    if change.status == "A" and (
        is_target or re.fullmatch(table("doubts")["names"]["new"], path) or _shadows(path, before, read)
    ):
        yield 1, "takes_name"
    lists = [f"{path.partition('vendor/')[0]}vendor/{name}" for name in table("doubts")["packages"]["lists"]]
    is_kept = "vendor/" in path and any(before(one) is not None and before(one) == read(one) for one in lists)
    if is_kept or (change.status == "M" and swaps(path, before(path) or b"", data)):
        yield min(added, default=1), "swaps_package"
    if _holds_code(data) or (patterns and (change.new_mode == "120000" or len(data) == _LARGEST)):
        yield 1, "hides_code"
        return
    seen = _in_python(data, added, judges, read) if path.endswith(".py") else _in_lines(added, patterns)
    for line, rule in seen:
        if rule != _EXITS_WELL:
            yield line, rule
        elif not re.search(table("doubts")["names"]["program"].encode(), data):
            yield line, "ends_process"


def _in_python(data: bytes, added: Lines, judges: Judges, read: Read) -> Seen:
    try:
        every = statements(data, added)
    except ValueError:  # this Python cannot parse it
        yield from _in_lines(added, _patterns()[".py"])
        return
    for one in every:
        for rule in (rule for rule, known in _patterns()[".py"].items() if known.search(one.text)):
            if rule != "loads_runner" or one.where != "main":  # a file that is run as a program may test itself
                yield one.line, "ends_process" if rule == _EXITS_WELL and one.where == "module" else rule
        if _asks(one.text, one.compared):
            yield one.line, "asks_for_tests"
        if any(judges(path) and read(path) is not None for path in _imported(one.text)):
            yield one.line, "loads_runner"
        if any(judges(path) and read(path) is not None for path in _OPENED.findall(one.text)):
            yield one.line, "touches_tests"
        if (found := _REPLACED.match(one.text)) and _is_module(found[1], data, read):
            yield one.line, "replaces_work"


def _imported(statement: str) -> list[str]:
    """Return the files of the modules that a statement may import."""
    words = statement.replace(",", " ").split()
    names = words[1:] if words[0] == "import" else []
    if words[0] == "from":
        names = [words[1], *(f"{words[1]}.{name}" for name in words[3:])]
    return [f"{name.replace('.', '/')}.py" for name in names]


def _is_module(name: str, data: bytes, read: Read) -> bool:
    """Tell whether a file imports this module, and the work contains it."""
    path = name.replace(".", "/")
    imported = re.search(rf"\bimport\b[^\n]{{0,200}}\b{name.rpartition('.')[2]}\b".encode(), data)
    return imported is not None and any(read(f"{folder}{path}.py") is not None for folder in ("", "src/"))


def _in_lines(added: Lines, patterns: dict[str, re.Pattern[str]]) -> Seen:
    whole, first = "", 0
    for number, line in added.items() if patterns else ():
        whole, first = (whole + line, first) if whole else (line, number)
        if line.endswith("\\"):
            whole = whole[:-1]  # the statement continues on the next line
            continue
        if not whole.lstrip().startswith(_COMMENT):
            yield from ((first, rule) for rule, known in patterns.items() if known.search(whole))
        whole = ""


def _shadows(path: str, before: Read, read: Read) -> bool:
    """Tell whether a new module has the place and name of one of Python's library, of a runner, or of a package that is required."""
    folder, _, name = path.removesuffix(".py").removesuffix("/__init__").rpartition("/")
    is_deep = "/" in folder and name not in {"pytest", "_pytest", "pluggy", "iniconfig", "unittest"}
    if not path.endswith(".py") or is_deep or read(f"{folder}/__init__.py".lstrip("/")) is not None:
        return False
    known = table("doubts")["packages"]
    required = re.compile(known["required"].replace("NAME", re.escape(name).replace("_", "[-_.]")).encode())
    is_known = name in sys.stdlib_module_names or re.fullmatch(known["of_runners"], name)
    return bool(is_known) or any(required.search(before(manifest) or b"") for manifest in known["manifests"])


def _is_target(path: str, makefile: bytes) -> bool:
    """Tell whether make takes a file for done because it is there."""
    rule = rb"(?m)^(?:[^\s:=#][^\n:=#]{0,200}\s)?%b(?:\s[^\n:=]{0,200})?:(?!=)" % re.escape(path).encode()
    return re.search(rule, makefile) is not None


def _holds_code(data: bytes) -> bool:
    """Tell whether a file is a binary program, compiled Python, an archive of modules, or a pickle that calls functions."""
    compiled = data[:4] in (b"\x7fELF", b"\xcf\xfa\xed\xfe") or data[2:4] == b"\r\n"
    is_pickle = data[:1] == b"\x80" and b"builtins" in data
    return is_pickle or (b"\0" in data and (compiled or (data[:2] == b"PK" and b".py" in data)))


def _asks(text: str, compared: tuple[str, ...]) -> bool:
    """Tell whether a statement inspects its surroundings and compares them with names of tests or of test runners."""
    if _PROCESS.search(text):
        return bool(compared)
    pieces = (word for word in compared if len(word) > 2 and any(word.lower() in known for known in _WORDS))
    return bool(re.search(table("doubts")["names"]["looks"], text)) and (
        any(map(_TEST_WORD.search, compared)) or any(pieces)
    )


_PARSED = frozenset({"Cargo.toml", "pyproject.toml", "package.json", "deno.json"})
_LISTS = pattern(r"go\.mod|Gemfile|[\w.-]{0,60}requirements[\w.-]{0,60}\.txt")
_PACKAGE = pattern(r"(?:.*\.)?(?:\w*-?[dD]ependencies|sources|imports)\.([^.]+)(?:\.[\w-]+)?")
_FOR_ALL = pattern(r"(?:.*\.)?(?:patch|replace|overrides|resolutions)\..+")
"""Keys of a package, and keys that hold for packages which other packages ask for, too."""
_PLACE = pattern(r"(?:file|link|portal):.*|\.{0,2}/.*")
_LINE = pattern(
    r"\s*(?:(?:require|replace|gem)\s)?\s*['\"]?([\w./-]{2,200})['\"]?(?:.*?(=>|path:|\s@)\s*['\"]?([^\s'\"]+))?"
)


def swaps(path: str, before: bytes, after: bytes) -> bool:
    """Tell whether a manifest takes a package that it named before from another folder."""
    then, now = dict(_packages(path, before)), dict(_packages(path, after))
    known = {found[1] for key in then if (found := _PACKAGE.fullmatch(key))}
    places = ((key, now[key]) for key in now if key.endswith(".path") or _PLACE.fullmatch(now[key]))
    new = [key for key, place in places if place not in then.values()]
    named = filter(None, map(_PACKAGE.fullmatch, new))
    return any(map(_FOR_ALL.fullmatch, new)) or any(found[1] in known for found in named)


def _packages(path: str, data: bytes) -> Iterator[tuple[str, str]]:
    """Yield what a manifest says, by dotted keys; nothing if it is no manifest, or nobody can read it."""
    name = path.rpartition("/")[2]
    text = data.decode("utf-8", "replace")
    if name in _PARSED:
        yield from ((key, str(value)) for key, value in dotted(name, text).items())
    for found in map(_LINE.match, text.splitlines() if _LISTS.fullmatch(name) else ()):
        if found:
            place = f"./{found[3]}" if found[2] and found[2].endswith(":") else found[3]
            yield f"dependencies.{re.sub('[.]', ' ', found[1])}", place or ""
