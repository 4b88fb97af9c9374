"""Before doubtful work is believed, its checks are provoked: edited so that they must fail, or must still pass.

This catches work that ends the runner, replaces it, speaks for it or fools it, however it does so. What quick
checks load is looked at again in any case; other trials are only where the work could do such a thing at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from santiago.executor.experiment import Experiment, Known, StoppedError
from santiago.executor.memory import VARIABLES
from santiago.executor.names import is_named, module
from santiago.executor.spoiling import silences, spoils

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from santiago.contract.outcomes import CheckResult
    from santiago.contract.ports.run import Stop
    from santiago.contract.ports.verifier import Doubt
    from santiago.contract.ports.workspace import Snapshot
    from santiago.executor.trials import Sight, Trials

_WATCHED = "passes only while it is watched"
_AROUND = "programs or start files outside the worktree"


@dataclass(slots=True)
class Provoker:
    """Provokes the work of one attempt after another, and remembers how bases react."""

    known: Known = field(default_factory=Known)

    def subverted(
        self, bench: Trials, label: str, sight: Sight, base: str, snapshot: Snapshot, commands: Sequence[str], stop: Stop,
        *, preparing: Sequence[str] = (), anyway: bool = False,
    ) -> tuple[str, ...] | None:  # fmt: skip
        """Return what took the verdict out of the hands of these passing checks, in words; None where it was stopped.

        `preparing` are changed files that set-up runs; `anyway` has work looked at without a doubt, since that is cheap.
        """
        doubts = bench.verifier.doubts(snapshot.patch, [change.path for change in snapshot.changes])
        moved = sight.surroundings != bench.verifier.surroundings(sight.commands)
        one = Provocation(self.known, bench, label, sight, base, snapshot, tuple(commands), stop)
        beside = one.beside_tests()
        routine = one.loaded() if anyway else []
        voiced = one.judged_within() if anyway else []
        if not (doubts or moved or beside or preparing or routine or voiced):
            return ()
        try:
            found = one.found(doubts, beside, preparing, routine, moved=moved)
            return found or (_says(voiced, "with it, what must fail is silent") if voiced and silences(one) else ())
        except StoppedError:
            return None


@dataclass(frozen=True, slots=True)
class Provocation(Experiment):
    """All that is tried with one attempt's work."""

    marked: list[str] = field(default_factory=list)
    """Checks that say whether they come to their end."""

    def found(
        self, doubts: Sequence[Doubt], beside: Sequence[str], preparing: Sequence[str], routine: Sequence[str], *, moved: bool
    ) -> tuple[str, ...]:  # fmt: skip
        of = {kind: [doubt.path for doubt in doubts if kind in doubt.kinds] for kind in _KINDS}
        of["reaches"] += preparing
        patches = sorted({*of["patches"], *beside})
        if of["knows"]:
            return _says(of["knows"], "has no business with the test runner")
        if of["hides"]:
            return _says(of["hides"], "spells a name so that nobody finds it")
        if looks := of["asks"] or of["equals"] or of["reaches"] or of["ends"] or routine:
            doubted = looks is not routine
            why = self.needs_eyes(unmarked=bool(of["asks"]) or not doubted, doubted=doubted)
            if why:
                return _says(looks if why == _WATCHED else of["equals"] or looks, why)
        if patches and self.needs_new_tests():
            return _says(patches, "the other tests pass only with it")
        suspects = of["reaches"] or of["ends"] or [_AROUND] * moved
        return self.reached(suspects, of["ends"], routine, moved=moved)

    def reached(self, suspects: list[str], ends: list[str], routine: Sequence[str], *, moved: bool) -> tuple[str, ...]:
        """A test is planted that must fail; where no check would see it, what ends its process is not believed."""
        looked = suspects or [path for path in routine if path.endswith(_TESTED)]
        heard = self.heard() if looked and self.sight.sealed else ()
        if heard is None:
            return _says(looked, "with it, a test that must fail passes")
        if suspects and not spoils(self):
            return _says(suspects, "with it, tests that must fail do not")
        if heard or self.marked:
            return ()
        loaded = self.imported(ends)
        return _says(loaded, "ends the process that tests it") or (_says([_AROUND], "changed") if moved else ())

    def imported(self, paths: Sequence[str]) -> list[str]:
        """Return those of these modules that a check or any other file imports."""
        files = self.sight.files.union(change.path for change in self.snapshot.changes)
        found: list[str] = []

        def look(folder: str) -> Sequence[str]:
            names = {path: module(path) for path in paths}
            found.extend(self.bench.verifier.imported(folder, files, self.commands, names))
            return ()

        if paths:
            self.run("read", look)
        return found

    def needs_eyes(self, *, unmarked: bool, doubted: bool) -> str:
        """Say why the checks fail where nothing tells a test from real use, and where tests are strict; else nothing.

        With `unmarked`, nothing tells that santiago runs them either; then those are left out that ask for it themselves.
        What tests refuse in so many words counts at once, any other failure only if it comes again with tests that are not
        strict; and neither does where the base, in which no agent had a hand, shows the same.
        """
        commands = [command for command in self.commands if not unmarked or VARIABLES not in command]
        verifier, sealed = self.bench.verifier, self.sight.sealed
        changed = [change.path for change in self.snapshot.changes]
        judges = self.sight.files.difference(changed)

        def refused(commit: str = "") -> tuple[list[str], str]:
            words: list[str] = []

            def harden(folder: str) -> Sequence[str]:
                word, asked = verifier.harden(folder, sealed, commands, judges, changed)
                verifier.blind(folder, sealed, changed)
                words.append(word)
                return asked if doubted or word else ()

            found = self.run("alone", harden, unmarked=unmarked, commit=commit) if commands else ()
            whys = [verifier.refused(words[0], result, on_base=bool(commit)) for result in found if words[0]]
            self.marked.extend(result.command for result in found if words[0] and verifier.is_marked(words[0], result))
            # A program on a command line was given marks, so it is known by its place.
            failed = [asked for asked, result in zip(commands, found, strict=False) if result.exit_code != 0]
            return failed, next(filter(None, whys), "")

        failed, why = refused()
        if why:
            return "" if refused(self.base)[1] else why
        return _WATCHED if failed and self.fails_blindly(failed, changed, unmarked=unmarked, doubted=doubted) else ""

    def fails_blindly(self, commands: Sequence[str], changed: Sequence[str], *, unmarked: bool, doubted: bool) -> bool:
        """Whether checks fail with a blindfold only, and not because of the blindfold itself; in doubt, what is not known counts."""
        verifier, sealed = self.bench.verifier, self.sight.sealed

        def blind(folder: str) -> None:
            verifier.blind(folder, sealed, changed)

        found = [one for one in self.tried("alone", commands, blind, unmarked=unmarked) if one.exit_code != 0]
        nameless = [one.command for one in found if not verifier.failing(one)]
        reading = self.minding_texts(nameless, changed, unmarked=unmarked)
        failed = [one.command for one in found if one.command not in reading]
        if not failed:
            return False
        plain = self.tried("alone", failed, lambda _: None, unmarked=unmarked, commit=self.base)
        blinded = self.tried("alone", failed, blind, unmarked=unmarked, commit=self.base)
        # What passes on the base, and there no longer with a blindfold, says nothing about the work.
        both = (one for one in zip(plain, blinded, strict=True) if one[0].exit_code != 0 or one[1].exit_code == 0)
        pairs = [(verifier.failing(before), verifier.failing(after)) for before, after in both]
        if not pairs or any(after - before for before, after in pairs):
            return False
        return doubted or all(after or not before for before, after in pairs)

    def minding_texts(self, commands: Sequence[str], changed: Sequence[str], *, unmarked: bool) -> set[str]:
        """Return the checks that fail with a blindfold that hides nothing: linters and checksums look at texts, not at the work."""
        verifier, sealed = self.bench.verifier, self.sight.sealed
        idle = self.tried(
            "alone", commands, lambda folder: verifier.blind(folder, sealed, changed, idle=True), unmarked=unmarked
        )
        return {result.command for result in idle if result.exit_code != 0}

    def loaded(self) -> list[str]:
        """Return the changed files of the work that a check could load into its own process."""
        left = [
            change.path for change in self.snapshot.changes if change.status != "D" and change.path.endswith(_LOADED)
        ]
        tests = {*self.fresh(), *self.sight.sealed} if left else set()
        return [path for path in left if path not in tests]

    def judged_within(self) -> list[str]:
        """Return the changed files that a check in C could include, or that could hold its examples."""
        left = [
            change.path for change in self.snapshot.changes if change.status != "D" and change.path.endswith(_VOICED)
        ]
        read = self.bench.workspace.read
        return [path for path in left if not path.endswith(".py") or b">>> " in (read(self.base, path) or b"")]

    def beside_tests(self) -> list[str]:
        """Return new files among the tests that have the name of a module of the work: tests may take them for it."""
        fresh = [path for path in self.fresh() if module(path) not in _USUAL]
        if not fresh:
            return []
        files = self.sight.files | {change.path for change in self.snapshot.changes}
        work = files - {*self.bench.verifier.sealed(files, ("@tests",), ())}
        modules = {module(path) for path in work}
        return [path for path in fresh if module(path) in modules]

    def fresh(self) -> tuple[str, ...]:
        """Return the attempt's new tests."""
        added = [change.path for change in self.snapshot.changes if change.path not in self.sight.files]
        return self.bench.verifier.sealed(added, ("@tests",), ()) if added else ()

    def needs_new_tests(self) -> bool:
        """Whether the base's own tests fail once the attempt's new ones are taken away."""
        fresh = self.fresh()
        # A check that names one of them cannot do without.
        free = [command for command in self.commands if not any(is_named(path, command) for path in fresh)]
        if not self.sight.sealed or not fresh:
            return False
        found = self.tried("without", free, lambda folder: self.bench.verifier.ready(folder, {}, fresh))
        return any(result.exit_code != 0 and bool(result.checks) for result in found)

    def heard(self) -> Sequence[str] | None:
        """Return the checks that fail when a test is planted that must fail; None where one does so only on the base."""
        planted: list[str] = []

        def edit(folder: str) -> Sequence[str]:
            planted.append(self.bench.verifier.plant(folder, self.sight.sealed, alone=False))
            return self.commands if planted[0] else ()

        found = self.run("provoked", edit)
        deaf = [result.command for result in found if result.exit_code == 0 and result.cause != "contradicted"]
        if deaf and self.able(deaf):
            return None
        return [result.command for result in found if _says_no(planted[0], result)]

    def able(self, commands: Sequence[str]) -> bool:
        """Whether one of these checks notices a planted test on the base, where no agent has had a hand in it."""
        known, sealed = self.known.reacting, self.sight.sealed
        unknown = [command for command in commands if (command, sealed) not in known]
        planted: list[str] = []
        edit: Callable[[str], object] = lambda folder: planted.append(  # noqa: E731
            self.bench.verifier.plant(folder, sealed, alone=True)
        )
        for result in self.tried("provoked-base", unknown, edit, commit=self.base):
            known[result.command, sealed] = _says_no(planted[0], result)
        return any(known[command, sealed] for command in commands)


_LOADED = (".py", ".js", ".cjs", ".mjs", ".sh")
_TESTED = (".py", ".js", ".cjs", ".mjs")
"""Of these, those in whose language a test can be planted."""
_VOICED = (".py", ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx", ".inc", ".m", ".mm")
_KINDS = ("knows", "hides", "asks", "patches", "equals", "reaches", "ends")
_USUAL = frozenset({"conftest", "tests", "test", ""})
"""Names that many folders of tests have."""


def _says(paths: Sequence[str], why: str) -> tuple[str, ...]:
    return tuple(f"{path} ({why})" for path in paths)


def _says_no(word: str, result: CheckResult) -> bool:
    """Whether a check fails, and names what was planted."""
    return bool(word) and result.exit_code != 0 and word in result.output.head + result.output.tail
