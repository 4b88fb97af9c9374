"""Doubts about work: added lines that could reach the runner which judges them, fool its comparisons, or ask who looks.

A doubt is seldom a verdict. It makes santiago provoke the checks in the way that fits, and see how they react.
"""

from __future__ import annotations

import builtins
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from unicodedata import normalize

from santiago.contract.ports.workspace import PATCH_CUT
from santiago.verification.provoking import blind, plant_js

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Kind = Literal["reaches", "asks", "equals", "patches", "ends", "knows", "hides"]
"""Reaches for its process; asks who runs it and where; defines equality; new tests that patch what they test; ends its
process as soon as it is imported, or at once; knows its tests where nothing can hide them; hides a name by its spelling. What
ends decides by itself where nothing can be tried, and the last two always."""

_REACHES = re.compile(
    r"\b(?:unittest|_?pytest\w*|pluggy|cffi|ctypes|importlib|builtins|modules|settrace|setprofile|addaudithook|meta_path"
    r"|path_hooks|path_importer_cache|excepthook|unraisablehook|_?exit|quit|fork|posix|exec[lv]?p?e?|eval|setattr|getattr|attrgetter|methodcaller|globals|locals|vars|breakpoint"
    r"|SystemExit|KeyboardInterrupt|BaseException|_getframe|(?:f|tb)_(?:back|frame|globals|locals|builtins)|get_type_hints|ForwardRef"
    r"|FunctionType|CodeType|ModuleType|(?:dict|file)Config|\w*pickle\w*|joblib|dill|unsafe_load|full_load|pyximport|site-packages|write_bytes|pycache|__pycache__|pyc"
    r"|__(?:class|bases|mro|subclasses|globals|builtins|dict|import|setattr|delattr|code|closure|self|func|loader|spec|path|getattribute"
    r"|getattr|init_subclass|set_name|del|annotations|module|defaults|wrapped|reduce\w*)__)\b"
    r"|(?<!re\.)\bcompile\(|\byaml\.load\b|\.pth\b|\bsys ?\. ?path\b"
)
"""What a module needs to get hold of the process that it is imported into, or to run code that no line shows."""
_PLAIN_IMPORT = re.compile(r"^ ?import (?!.{0,300} as )[\w., ]{1,300}$", re.MULTILINE)
_AS_A_WHOLE = re.compile(r"\bsys\b(?! ?\. ?\w)")
"""The interpreter's own module, under another name or handed on."""
_IMPORT = re.compile(r"(?:^ ?|[;:] ?)(?:import|from) ([\w., ]{1,300})", re.MULTILINE)
_NAMED_AS = re.compile(r"\bimport\b.{0,300}?\bas (\w{1,80})")
_SETS = re.compile(r"\b(\w{1,80}) ?\.[\w. ]{1,100}=(?!=)")
_TAME = (
    "__future__ abc argparse array asyncio base64 binascii bisect bz2 calendar cmath collections colorsys concurrent configparser"
    " contextlib contextvars copy csv dataclasses datetime decimal difflib email enum errno filecmp fnmatch fractions functools getopt"
    " getpass glob graphlib gzip hashlib heapq hmac html http io ipaddress itertools json keyword locale logging lzma math mimetypes"
    " numbers operator os pathlib platform posixpath pprint queue random re reprlib secrets select selectors shlex shutil socket"
    " socketserver sqlite3 ssl statistics string struct subprocess sys tarfile tempfile textwrap threading time tomllib traceback types"
    " typing unicodedata urllib uuid warnings weakref webbrowser xml zlib zoneinfo"
)
"""Modules of the library that neither run texts nor load code; any other one could do so, and is a doubt."""
_UNTAMED = (sys.stdlib_module_names | {"test"}) - frozenset(_TAME.split())
_TEST_REACHES = re.compile(
    r"\b(?:_exit|atexit|modules|setattr|load_tests|pytest_\w+|_pytest|__(?:dict|class|bases|setattr|code|import|builtins)__|exec|eval|ctypes"
    r"|importlib|globals|vars|builtins|os\.kill|settrace|excepthook|BaseException|gc)\b"
    r"|\b(?:unittest|pytest|Test\w+|TextTestRunner) ?\.[\w. ]{1,100}=[^=]"
)
"""The same for new tests, which import the runner as a matter of course."""
_OWN = re.compile(r"\b(?:self|cls) ?\. ?\w+")
_TEST_PATCHES = re.compile(
    r"\. ?\w+ ?(?:\[[^\]\n]{1,60}\] ?)?[)\]]{0,3} ?(?::[\w.\[\] ]{1,60})?[-+*/|&^%@]{0,2}=(?!=)|(?:^|[;:]) ?[^#=()\n]{0,200}\. ?\w+ ?,[^=()\n]{0,100}="
    r"|\b(?:for|as)\b(?:(?!\bin\b)[^\n:]){0,100}\w ?\. ?\w"
    r"|\b(?:setattr|delattr|modules|patch|monkeypatch|import_module|reload|vars|globals|exec|eval|chdir|environ|rename|symlink\w*|shutil"
    r"|write\w*|__(?:dict|setattr|code|defaults|import|builtins)__)\b|\bpath ?\. ?(?:insert|append|extend)\b|\bsys ?\. ?path\b"
    r"|\. ?\w+ ?\. ?(?:update|append|insert|extend|clear|pop|setdefault|remove)\b",
    re.MULTILINE,
)
"""However it is spelled: an attribute of something else that is set, or files that are written."""
_ASKS = re.compile(
    r"\b(?:environb?|getenv\w*|__(?:file|spec|loader|cached|path)__|tempfile|pardir|getcwdb?|(?:orig_)?argv|abspath|realpath|co_filename"
    r"|getsourcefile|getfile|(?:extract|walk|format)_stack|getouterframes|SANTIAGO\w*|PYTEST_\w+)\b|\binspect ?\. ?stack\b"
    r"|\.(?:cwd|resolve|absolute)\(|/proc\b|[\"']\.\.(?!\.)"
)
_EQUALS = re.compile(
    r"\b(?:__eq__|__ne__|__prepare__|metaclass|ANY|ALWAYS_EQ|make_dataclass|new_class)\b|\btype ?\([^()\n]{0,100},|\btype ?\. ?__new__|\btest\.support\b"
)
_ENDS = re.compile(r"\b_exit\b|\bexec[lv]p?e?\(|^(?:sys\.exit|exit|quit|raise SystemExit)\b", re.MULTILINE)
_KNOWS = re.compile(r"\bmodules\b.{0,300}\b(?:unittest|_?pytest)\b|\b(?:unittest|_?pytest)\b.{0,300}\bmodules\b")
"""A look for the runner among all modules, where no blindfold would hide it."""
_MOCKS = re.compile(r"^ ?(?:import|from)\b[^\n]{0,300}\bmock\b|[\"']unittest\.mock\b", re.MULTILINE)
_ANYTHING = re.compile(r"\b_?ANY\b")
"""What a mock may equal is for tests to say; work that brings it along knows them."""
_FRAMES = re.compile(r"\b(?:_getframe|currentframe|_current_frames|f_back|tb_frame|walk_stack)\b")
_ASKS_FOR_TESTS = re.compile(
    r"[\"'/][\w./ -]{0,30}(?:\btests?[_/.]|_test\b|[a-z]Test|\bTest|pytest|unittest)|[\"']tests?[\"'] in\b"
    r"|(?:==|\b(?:startswith|endswith|find|index|count|search|match|fullmatch) ?\() ?[\"']tests?\b"
)
"""Names that tests have, or the word where it is compared: frames cannot be hidden from the work, so that is no doubt."""
_JS_REACHES = re.compile(
    r"\bassert\b|\bnode:test\b|\bprocess ?\. ?(?:exit\w*|reallyExit|on|once|kill|abort|binding|emit)\b|\btoPrimitive\b|\bnew Proxy\b"
    r"|\brequire ?\. ?(?:cache|main|extensions)\b|[\"'](?:node:)?(?:module|vm|worker_threads|inspector|v8)[\"']|\b_load\b|\bmodule ?\. ?constructor\b"
    r"|\b(?:Object|Reflect) ?\. ?(?:defineProperty|setPrototypeOf|set)\b|__proto__|\bprototype\b|\beval\b|\bnew Function\b"
    r"|\b(?:globalThis|global) ?(?:\.|\[)|(?:^|[;{}]) ?(?:it|test|describe|expect|suite) ?=[^=>]",
    re.MULTILINE,
)
"""What a module of JavaScript needs for the same."""
_JS_ASKS = re.compile(
    r"\bprocess ?\. ?(?:env|argv|execArgv|cwd|title)\b|\bSANTIAGO\w*|\b__(?:filename|dirname)\b|\bimport\.meta\b|/proc\b"
    r"|\bNODE_TEST_CONTEXT\b|\bJEST_WORKER_ID\b|\bVITEST\w*"
)
_JS_KNOWS = re.compile(
    r"(?:\brequire ?\(|\bfrom\b|\bimport\b) ?\(? ?[\"'](?:node:test|vitest|mocha|@jest/globals|jest)[\"']"
)
_JS_TEST_PATCHES = re.compile(
    r"\. ?\w+ ?(?:\[[^\]\n]{1,60}\] ?)?=(?![=>])|\. ?only\b|\brequire ?\. ?cache\b|\b(?:defineProperty|setPrototypeOf|assign|prototype|proxyquire|rewire"
    r"|(?:writeFile|copyFile|rename|symlink)\w*)\b"
)
_JS_ABOUT_TESTS = re.compile(r"test|spec|config|setup|mock|fixture|stor(?:y|ies)\b|e2e|bench", re.IGNORECASE)
_SPECIAL = {
    name
    for one in (int, str, dict, list, super, Exception, builtins, re, type(str.join), dataclass)
    for name in dir(one)
}
"""Names that mean something to an interpreter; and those that no such object happens to have."""
_SPECIAL_TOO = (
    "all await bases bool contains copy deepcopy del delete enter exit fspath get getattr init_subclass instancecheck len main"
    " missing mro path prepare proto reduce set set_name slots spec subclasscheck subclasses test wrapped"
)
_DUNDER = "|".join(
    sorted({name.strip("_") for name in _SPECIAL if re.fullmatch("__[a-z_]+__", name)} | {*_SPECIAL_TOO.split()})
)
_DISGUISED = re.compile(
    rf"\b__(?:{_DUNDER})__|\b(?:unittest|pytest|modules|environ|getenv|_exit|setattr|getattr|builtins|importlib|ctypes|settrace|TestCase|assertEqual|ALWAYS_EQ|ANY"
    r"|extract_stack|SANTIAGO\w*|santiago|PYTEST_\w+|NODE_TEST_CONTEXT|JEST_WORKER_ID|VITEST|toPrimitive|strictEqual|node:test)\b|/proc/"
)
"""Names that nobody writes in pieces, or in letters that only look like theirs, unless they are not to be found."""
_PIECES = re.compile(r"[\"'][ \n]{0,3}\+?[ \n]{0,3}[rbfuRBFU]{0,2}[\"']")
_BLANKS = re.compile(r"[ \t\f]+")
_LONGEST = 1_000
"""Nobody reads a line that is longer, no pattern either, so it is doubted as it is."""
_ESCAPED = re.compile(r"\\x([2-7][0-9a-fA-F])|\\u00([2-7][0-9a-fA-F])")
_TEST = re.compile(r"(?:.*/)?(?:tests?/.*|test_[^/]*|[^/]*_test|tests)\.py")
_ABOUT_TESTS = re.compile(r"test|conftest|setup\.py|noxfile|tasks\.py|spec", re.IGNORECASE)
_PYTHON = (".py", ".pyi", ".pyx")
_JAVASCRIPT = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte")
_LOADED = (".so", ".pyd", ".dll", ".dylib", ".pyc", ".pyo", ".zip", ".egg", ".whl", ".pth", ".node")
"""What an interpreter loads as code although no line of it can be read."""
_UNSEEN: frozenset[Kind] = frozenset({"reaches", "asks", "equals"})
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class Doubt:
    path: str
    kinds: frozenset[Kind]


_NOT_SHOWN = ("Binary files ", "GIT binary patch", "new file mode 120000", "new mode 120000", PATCH_CUT.strip())
"""What stands in a patch instead of lines; of a link, the lines say only where it leads."""
_COOKIE = re.compile(r"[ \t\f]*#.{0,200}?coding[:=][ \t]*(?!utf-?8\b)[-\w.]", re.IGNORECASE)
"""A comment by which a file means other letters than are seen."""


def doubts(patch: str, paths: Sequence[str] = ()) -> tuple[Doubt, ...]:
    """Return what is doubtful in a patch of these paths: Python and JavaScript, whose runners can be provoked."""
    seen = dict(added(patch))
    if patch.endswith(PATCH_CUT):
        seen = dict.fromkeys(paths) | seen  # what stands behind the cut was not seen by anybody
    found = (Doubt(path, _kinds(path, lines)) for path, lines in seen.items())
    return tuple(doubt for doubt in found if doubt.kinds)


def _kinds(path: str, lines: list[str] | None) -> frozenset[Kind]:
    if path.endswith(_LOADED):
        return _UNSEEN
    if not path.endswith(_PYTHON + _JAVASCRIPT):
        return frozenset()
    if lines is None:
        return _UNSEEN  # git shows no lines of it, so nobody has seen what it does
    if any(len(line) > _LONGEST or _COOKIE.match(line) for line in lines):
        return _UNSEEN | {"patches"} if _is_test(path) else _UNSEEN
    plain = "\n".join(lines)
    text = folded(plain)
    found = _in_python(path, text) if path.endswith(_PYTHON) else _in_javascript(path, text)
    if len(_DISGUISED.findall(text)) <= len(_DISGUISED.findall(plain)):
        return found
    return found | ({"reaches", "patches"} if _is_test(path) else {"hides"})


def _in_python(path: str, text: str) -> frozenset[Kind]:
    kinds: dict[Kind, re.Pattern[str]]
    if _is_test(path):
        kinds = {"reaches": _TEST_REACHES, "patches": _TEST_PATCHES}
        return _matching(kinds, _OWN.sub("_", text))
    kinds = {"reaches": _REACHES, "asks": _ASKS, "equals": _EQUALS, "ends": _ENDS}
    if _TEST.fullmatch(path) or path.endswith("conftest.py"):
        kinds["patches"] = _TEST_PATCHES  # what runs before tests can patch the work as well as they can
    found = _matching(kinds, text)
    pairs = ((_FRAMES, _ASKS_FOR_TESTS), (_MOCKS, _ANYTHING))
    knows = any(one.search(text) and other.search(text) for one, other in pairs) or _KNOWS.search(
        blind.MODULES.sub("", text)
    )
    if knows and not _ABOUT_TESTS.search(path):
        found |= {"knows"}
    if _sets_others(text):
        found |= {"asks"}  # what it replaces shows where nobody is told that it is a test
    if _imported(text) & _UNTAMED or _AS_A_WHOLE.search(_PLAIN_IMPORT.sub("", text)):
        found |= {"reaches"}
    return found


def _in_javascript(path: str, text: str) -> frozenset[Kind]:
    if _is_test(path):
        return _matching({"patches": _JS_TEST_PATCHES}, text)
    kinds: dict[Kind, re.Pattern[str]] = {"reaches": _JS_REACHES, "asks": _JS_ASKS}
    if not _JS_ABOUT_TESTS.search(path):
        kinds["knows"] = _JS_KNOWS
    return _matching(kinds, text)


def _matching(kinds: dict[Kind, re.Pattern[str]], text: str) -> frozenset[Kind]:
    return frozenset(kind for kind, pattern in kinds.items() if pattern.search(text))


def _imported(text: str) -> set[str]:
    """Return the first names of all modules that lines import, as far as they say so."""
    return {
        one.split()[0].partition(".")[0] for names in _IMPORT.findall(text) for one in names.split(",") if one.split()
    }


def _sets_others(text: str) -> bool:
    """Whether lines give a name in another module another meaning."""
    names = _imported(text) | {*_NAMED_AS.findall(text)}
    return any(found[1] in names for found in _SETS.finditer(text))


def _is_test(path: str) -> bool:
    if path.endswith(_PYTHON):
        return _TEST.fullmatch(path) is not None and not path.endswith("/__init__.py")
    return plant_js.is_test(path)


def folded(text: str) -> str:
    """Return lines as an interpreter understands them: letters that look alike are alike, and pieces of a text are one."""
    plain = normalize("NFKC", text.replace("\\\n", " "))
    plain = _ESCAPED.sub(lambda found: chr(int(found[1] or found[2], 16)), plain)
    return _PIECES.sub("", _BLANKS.sub(" ", plain))


def added(patch: str) -> Iterator[tuple[str, list[str] | None]]:
    """Yield each file of a patch with the lines that it gains; None where the patch does not show them."""
    path, lines = "", []
    shown = True
    left_old = left_new = 0
    for line in patch.split("\n"):
        if left_old > 0 or left_new > 0:
            left_old -= line[:1] in ("-", " ", "")
            left_new -= line[:1] in ("+", " ", "")
            if line.startswith("+"):
                lines.append(line[1:])
        elif line.startswith("diff --git "):
            if path:
                yield path, lines if shown else None
            path, lines, shown = line.partition(" b/")[2].rstrip('"'), [], True
        elif hunk := _HUNK.match(line):
            left_old, left_new = int(hunk[1] or 1), int(hunk[2] or 1)
        elif line.startswith(_NOT_SHOWN):
            shown = False
    if path:
        yield path, lines if shown and left_old <= 0 and left_new <= 0 else None
