"""Tests inside a Rust file: `#[test]` functions, what stands in `#[cfg(test)]` modules, and examples in doc comments."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_BEGINS = re.compile(r"//|/\*|\b(?:br|r)#*\"|\"|'(?:\\.[^'\n]{0,10}|[^\\'\n])'")
_ATTRIBUTES = r"(?:#\[[^\]]{0,300}\]\s*+){0,20}+"
_TEST = re.compile(
    rf"#\[(?:\w+::)?(?:test|rstest|test_case|bench)\b[^\]]{{0,300}}\]\s*+{_ATTRIBUTES}[^{{;}}]{{0,1000}}+\{{"
)
_MODULE = re.compile(rf"#\[cfg\(test\)\]\s*+{_ATTRIBUTES}(?:pub(?:\([^)]{{0,80}}\))?\s++)?mod\s++(\w++)\s*+([{{;])")
_FUNCTION = re.compile(r"\bfn\s++\w++[^{;}]{0,1000}+\{")
_DEFINES = re.compile(r"\b(?:fn|struct|enum|const|static|type|trait|mod|union|macro_rules!)\s++(\w++)")
_USE = re.compile(r"\buse\s++([^;]{0,2000}+);")
_NAME = re.compile(r"\w+")
_WORD = re.compile(r"\w+|[^\w\s]")
_BRACE = re.compile(r"[{}]")
_TAKES_ASSERTIONS = re.compile(
    r"\bmacro_rules!\s*(?:debug_)?(?:assert(?:_eq|_ne)?|panic|matches|unreachable)\b"
    r"|\bas\s+(?:assert(?:_eq|_ne)?|panic|matches)\b|\bcfg!\(\s*(?:not\(\s*)?test\b"
    r"|#!?\[cfg\(not\(test\)\)\](?!\s*#\[(?:panic_handler|global_allocator))"
    r"|\bfn\s++(?:eq|ne)\s*+\(\s*+&self\s*+,\s*+_\w*+\s*+:"
)
"""Assertions of another meaning, code that is another one while it is tested, and values that equal anything."""
_ENDS = re.compile(
    r"(?<!\bfn )(?<!\.)\b_?exit\s*+\((?!\s*(?:[1-9)]|&))|\bexit\s++as\b|(?<!\buse std::)\bprocess::exit\b(?!\s*+[(,}])"
    r"|\bCommandExt\b|\b(?:global_)?asm!|\blibc::syscall\b"
)
_PROGRAM = re.compile(r"(?:.*/)?(?:main|build)\.rs|(?:.*/)?(?:bin|examples|benches)/.*")
_NOT_RUN = re.compile(r"text|ignore|no_run|compile_fail|console|sh|bash|toml|json|none|ignore-\w+")


class _Source(NamedTuple):
    code: str
    """Without comments."""
    shape: str
    """The same, with the content of strings blanked: braces and names in it are the language's own."""


def loosened(before: str, after: str) -> bool:
    """Whether a test of a file is gone or another one, or its words mean something else now."""
    old, new = _source(before), _source(after)
    if len(_TAKES_ASSERTIONS.findall(new.shape)) > len(_TAKES_ASSERTIONS.findall(old.shape)):
        return True
    tests = _tests(old)
    if tests - _tests(new) or _documented(before) - _documented(after):
        return True
    return bool(_shadowed(old, new, {word for test in tests for word in test.split()}))


def ends_itself(path: str, before: str, after: str) -> bool:
    """Whether a library has begun to end the process that it is part of: its tests end with it, as well as it likes."""
    if _PROGRAM.fullmatch(path):
        return False
    return len(_ENDS.findall(_source(after).shape)) > len(_ENDS.findall(_source(before).shape))


def _tests(source: _Source) -> Counter[str]:
    """Return the tests, and the functions that help them, as words; line ends and blanks do not count."""
    ends = _ends(source.shape)
    found = [(match.start(), match.end() - 1) for match in _TEST.finditer(source.shape)]
    texts: Counter[str] = Counter()
    for name, start, end in _modules(source):
        texts[f"mod {name}"] += 1
        found += [(one.start(), one.end() - 1) for one in _FUNCTION.finditer(source.shape, start, end)]
    done = 0
    for begin, brace in sorted(found):
        if begin >= done:  # what stands inside a function is part of its text
            done = ends.get(brace, len(source.shape))
            texts[" ".join(_WORD.findall(source.code[begin:done]))] += 1
    return texts


def _modules(source: _Source) -> Iterator[tuple[str, int, int]]:
    """Yield the outermost test modules: name, and where their content begins and ends."""
    ends, done = _ends(source.shape), 0
    for match in _MODULE.finditer(source.shape):
        if match.start() >= done:
            brace = match.end() - 1
            done = ends.get(brace, len(source.shape)) if match[2] == "{" else brace
            yield match[1], brace, done


def _ends(shape: str) -> dict[int, int]:
    """Return where the block ends that a brace begins, for each of them."""
    found: dict[int, int] = {}
    open_ones: list[int] = []
    for match in _BRACE.finditer(shape):
        if match[0] == "{":
            open_ones.append(match.start())
        elif open_ones:
            found[open_ones.pop()] = match.end()
    return found


def _shadowed(old: _Source, new: _Source, used: set[str]) -> set[str]:
    """Return the names that tests use and that a test module has begun to give a meaning of its own."""
    before, after = _meanings(old), _meanings(new)
    found = {meaning for meaning in after - before if meaning.rpartition("::")[2] in used}
    return {
        meaning
        for meaning in found
        if not re.fullmatch(r"super::\w+|(?:pretty_assertions|similar_asserts)::\w+", meaning)
    }


def _meanings(source: _Source) -> set[str]:
    found: set[str] = set()
    for _, start, end in _modules(source):
        inside = source.shape[start:end]
        found |= {name for name in _DEFINES.findall(inside) if not name.startswith("test")}
        found |= {path for use in _USE.findall(inside) for path in _imported(use)}
    return found


def _imported(use: str) -> Iterator[str]:
    """Yield the paths of `a::{b, c::d}`, each with the name that it is known by at its end."""
    above, name = [""], ""
    for word in re.findall(r"\w+|::|[{},]", use.replace("r#", "")):
        if word == "{":
            above.append(f"{above[-1]}{name}")
            name = ""
        elif word in {",", "}"}:
            if name:
                yield f"{above[-1]}{name}"
            name = ""
            if word == "}" and len(above) > 1:
                above.pop()
        else:
            name += "::" if word == "as" else word
    if name:
        yield f"{above[-1]}{name}"


def _documented(text: str) -> Counter[str]:
    """Return the examples of doc comments that are run as tests."""
    found: Counter[str] = Counter()
    block: list[str] | None = None
    for line in text.split("\n"):
        said = line.strip()
        if not said.startswith(("///", "//!")):
            block = None
            continue
        words = said[3:].strip()
        if words.startswith("```"):
            if block is None:
                block = [words]
            else:
                if not any(_NOT_RUN.fullmatch(tag) for tag in _NAME.findall(block[0])):
                    found["\n".join(block)] += 1
                block = None
        elif block is not None:
            block.append(words)
    return found


def _source(text: str) -> _Source:
    """Return a file without comments, and the same with empty strings; comments of Rust may stand in each other."""
    code, shape = [], []
    at = 0
    while match := _BEGINS.search(text, at):
        end = _end_of(text, match)
        comment = match[0].startswith("/")
        kept = " " if comment else text[match.start() : end]
        code += [text[at : match.start()], kept]
        shape += [text[at : match.start()], " " if comment else "_" * len(kept)]
        at = end
    return _Source("".join([*code, text[at:]]), "".join([*shape, text[at:]]))


def _end_of(text: str, match: re.Match[str]) -> int:
    begun, at = match[0], match.end()
    if begun == "//":
        place = text.find("\n", at)
        return len(text) if place < 0 else place
    if begun == "/*":
        depth = 1
        for sign in re.compile(r"/\*|\*/").finditer(text, at):
            depth += 1 if sign[0] == "/*" else -1
            if depth == 0:
                return sign.end()
        return len(text)
    if begun == '"':
        return re.compile(r'(?:\\.|[^"\\])*+"?', re.DOTALL).match(text, at).end()  # type: ignore[union-attr]  # always matches
    return _after(text, '"' + "#" * begun.count("#"), at) if begun.endswith('"') else at


def _after(text: str, sign: str, at: int) -> int:
    place = text.find(sign, at)
    return len(text) if place < 0 else place + len(sign)
