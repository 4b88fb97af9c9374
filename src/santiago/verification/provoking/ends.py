"""Where a check that is a program comes to its end: marks in it that show whether the work lets it finish its judgement.

A marked program says when it begins and when it ends of its own accord, and behaves as before. Work that ends the process
while it is being asked leaves a beginning without an end, however it does so.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from santiago.verification.commandline import runners, shell
from santiago.verification.provoking import edits, strict
from santiago.verification.provoking.programs import program
from santiago.verification.sealing.judges import Judges

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from santiago.contract.outcomes import CheckResult

_PYTHON = re.compile(r"(?:.*/)?(?:python|pypy)[\d.]*")
_NODE = re.compile(r"(?:.*/)?node(?:js)?")
_INLINE = "the command itself"
_CUT_SHORT = "with it, the check does not reach its end"
_OVERRULED = "with it, a check that says no passes"
_ENDS_ITSELF = re.compile(r"\b_exit\b|\bexec[lv]p?e?\b|\batexit\b|\babort\b|\bos\.kill\b")
"""Ends that leave no mark although they are a program's own."""
_JS_UNCLEAR = re.compile(r"\bprocess\.(?:abort|kill|reallyExit)\b|\bexit\b")
_SH_EXIT = re.compile(r"(?<![\w$./'\"-])exit(?![\w./'\"=-])")
_SH_UNCLEAR = re.compile(r"\bexec\b|\btrap\b|<<")
_HEREDOC = re.compile(
    r"^(?P<line>[^\n#]*?(?<![\w.-])(?:(?P<python>(?:python|pypy)[\d.]*)|node)(?: -)?[ ]*<<[ ]*(?P<quote>['\"])(?P<end>\w+)(?P=quote)[^\n]*\n)"
    r"(?P<program>.*?)^(?P=end)$",
    re.MULTILINE | re.DOTALL,
)
"""A program within a shell's text, in which the shell changes nothing."""
_SAID = ("began", "ended", "refused")
_EXITS = frozenset({"sys.exit", "exit", "quit", "SystemExit"})


@dataclass(frozen=True, slots=True)
class Marker:
    """Marks the programs of a checkout by a word that nobody knows beforehand."""

    folder: str
    word: str
    tests: Sequence[str]
    """Files of the judge."""
    changed: Sequence[str]
    """Files of the work."""

    def mark(self, commands: Sequence[str], judges: Collection[str]) -> tuple[frozenset[str], tuple[str, ...]]:
        """Mark the programs that judge behind these commands, and programs on command lines.

        Returns the files that were marked, and the commands.
        """
        scripts = Judges(tuple(commands), frozenset(judges), self._content).scripts.intersection(judges)
        own = replace(self, tests=[*self.tests, *scripts])
        done = [script for script in scripts if edits.rewrite(self.folder, script, partial(own.marked, script))]
        return frozenset(done), tuple(own.inline(command) or command for command in commands)

    def marked(self, path: str, text: str) -> str | None:
        """Return a program with marks; None where it is of no known kind, or may end without leaving one."""
        if path.endswith(".py"):
            return self._python(path, text)
        if path.endswith((".js", ".cjs", ".mjs")):
            return self._javascript(path, text)
        return self._heredocs(text) or self._shell(path, text)

    def inline(self, command: str) -> str:
        """Return a command with marks in the program that it gives to Python or node; nothing for others."""
        if marked := self._heredocs(command):
            return marked
        words = _plain_words(command)
        at = next((place for place, word in enumerate(words) if word in {"-c", "-e", "--eval"}), 0)
        if at < 1 or at + 1 >= len(words):
            return ""
        program, code = words[at - 1], words[at + 1]
        longer = None
        if _PYTHON.fullmatch(program) and words[at] == "-c":
            longer = self._python(_INLINE, code)
        elif _NODE.fullmatch(program) and words[at] != "-c":
            longer = self._javascript(_INLINE, code)
        return " ".join(map(shlex.quote, [*words[: at + 1], longer, *words[at + 2 :]])) if longer else ""

    def _heredocs(self, text: str) -> str:
        """Return a shell's text with marks in the programs that stand in it; nothing where there are none."""

        def marked(found: re.Match[str]) -> str:
            mark = self._python if found["python"] else self._javascript
            longer = mark(_INLINE, found["program"])
            return found[0] if longer is None else f"{found['line']}{longer.rstrip()}\n{found['end']}"

        longer = _HEREDOC.sub(marked, text)
        return "" if longer == text else longer

    def _python(self, path: str, text: str) -> str | None:
        tree = None if _ENDS_ITSELF.search(text) else edits.parsed(text)
        if tree is None:
            return None
        _tell_the_last(tree.body)
        place = strict.harden(tree, self.word, self.folder, self.tests)
        changed = [f"{self.folder}/{one}" for one in self.changed]
        marks = ast.parse(program("ends.py", token=self.word, path=os.fsencode(path), changed=changed)).body
        around = marks[-1]
        assert isinstance(around, ast.Try)
        around.body += tree.body[place:]
        tree.body[place:] = marks
        return _shebang(text) + ast.unparse(tree)

    def _javascript(self, path: str, text: str) -> str | None:
        shebang = _shebang(text)
        rest = text[len(shebang) :].replace("process.exit(", f"{self.word}_exit(")
        if _JS_UNCLEAR.search(rest):
            return None
        return shebang + program("ends.js", token=self.word, path=path).replace("\n", " ") + rest

    def _shell(self, path: str, text: str) -> str | None:
        """Mark a script only if it sources the work: otherwise nothing of that runs in its process."""
        names = "|".join(re.escape(one.rpartition("/")[2]) for one in self.changed)
        sources = re.search(rf"^[ \t]*(?:\.|source)[ \t].*(?<![\w.])(?:{names})\b", text, re.MULTILINE)
        shebang = _shebang(text)
        if not names or not sources or _SH_UNCLEAR.search(text) or (shebang and "sh" not in shebang):
            return None
        rest = _SH_EXIT.sub(f"{self.word}_exit", text[len(shebang) :])
        return f"{shebang}{program('ends.sh', token=self.word, path=path)}{rest}\n{self.word}_exit\n"

    def _content(self, path: str) -> bytes | None:
        text = edits.read(self.folder, path)
        return None if text is None else text.encode()


def is_marked(word: str, result: CheckResult) -> bool:
    """Whether a check has shown that a marked program of it began."""
    return f"{word} began " in _text(result)


def refused(word: str, result: CheckResult, *, on_base: bool = False) -> str:
    """Return what strict or marked judges have against the work, in words; nothing where they have nothing.

    On the base a program that does not come to its end counts even if the check fails: then it never does.
    """
    text = _text(result)
    if result.exit_code != 0 and (found := re.search(rf"AssertionError: {word}: ([\w', ]{{1,100}})", text)):
        return found[1]
    if (result.exit_code != 0 or result.output.dropped) and not on_base:
        return ""
    began, ended, against = (Counter(re.findall(rf"^{word} {said} (.+)$", text, re.MULTILINE)) for said in _SAID)
    if began - ended - against:
        return _CUT_SHORT
    if f"\n{word} overruled " in text:
        return _OVERRULED
    words = _plain_words(result.command)
    alone = {_INLINE, runners.script_of(words)} if words else {""}
    return _OVERRULED if result.exit_code == 0 and (against.keys() - ended.keys()) & alone else ""


def _text(result: CheckResult) -> str:
    return result.output.head + result.output.tail


def _shebang(text: str) -> str:
    return text[: text.find("\n") + 1] if text.startswith("#!") else ""


def _plain_words(command: str) -> list[str]:
    """Return the words of a single command in which the shell changes nothing."""
    words = shell.tokens(command) or ()
    return [] if any(word.kind != "word" or word.dynamic for word in words) else [word.text for word in words]


def _tell_the_last(body: list[ast.stmt]) -> None:
    """Note that a program comes to its last statement, where that only hands over to another function."""
    match body[-1:]:
        case [ast.If(body=inner, orelse=[])]:
            _tell_the_last(inner)
        case [ast.Expr(ast.Call() as call)] | [ast.Raise(exc=ast.Call() as call)]:
            if len(call.args) == 1 and isinstance(call.args[0], ast.Call) and ast.unparse(call.func) in _EXITS:
                call = call.args[0]
            if not any(isinstance(one, ast.Call) for one in ast.walk(call) if one is not call):
                body[-1:-1] = ast.parse("_last = True").body
