"""The trees that a verdict looks at beside base and work: each with the tests of the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

from santiago.judge.naming import file_of
from santiago.judge.sections import put_back
from santiago.judge.texts import Tree, changed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from santiago.contract.ports.workspace import Workspace
    from santiago.judge.judges import JudgeFiles


@dataclass(frozen=True)
class Trees:
    """One work and its base, told apart into what judges and what is judged."""

    workspace: Workspace
    files: JudgeFiles
    base: str
    work: str
    paths: Sequence[str]
    """All paths that differ between the two."""
    _texts: dict[str, bool] = field(default_factory=dict, repr=False)
    """Tests whose text was compared before."""

    @cached_property
    def judging(self) -> tuple[str, ...]:
        """The changed files that judge, wholly or in part."""
        return tuple(path for path in self.paths if self.files.judges(path) or self._in_part(path))

    def _in_part(self, path: str) -> bool:
        """Whether the work changed the part of a file that judges."""
        if not self._is_shared(path):
            return False
        mine, theirs = self.workspace.read(self.work, path), self.workspace.read(self.base, path)
        if mine is None and theirs is None:
            return False
        return mine is None or put_back(path, mine, theirs or b"") != mine

    def _is_shared(self, path: str) -> bool:
        """Whether a file judges in part only; a test judges as a whole, also where examples in it are run."""
        return not self.files.judges(path) and (self.files.is_mixed(path) or self.files.has_inline_tests(path))

    def with_old_tests(self) -> str:
        """Return the work with the judge of the base."""
        return self._composed(self.work, self.base)

    def with_new_tests(self) -> str:
        """Return the base with the judge of the work."""
        return self._composed(self.base, self.work)

    def _composed(self, onto: str, judges_from: str) -> str:
        mixed: dict[str, bytes] = {}
        for path in self.judging:
            if self._is_shared(path):
                mine, theirs = self.workspace.read(onto, path), self.workspace.read(judges_from, path)
                if mine is not None:
                    mixed[path] = put_back(path, mine, theirs or b"")
        whole = [path for path in self.judging if path not in mixed]
        return self.workspace.compose(onto, judges_from, whole, mixed)

    def text_changed(self, test: str) -> bool:
        """Whether the work changed the text of a test of the base."""
        if test not in self._texts:
            self._texts[test] = changed(test, self._file_of(test), *self._trees, self.judging)
        return self._texts[test]

    def _file_of(self, test: str) -> str | None:
        return file_of(test, self.workspace.files(self.base))

    def difference(self, tests: Iterable[str]) -> str:
        """Return what the work did to the files of these tests; to all that judge where the files are not known."""
        files = {self._file_of(test) for test in tests}
        known = [path for path in self.judging if path in files]
        return self.workspace.difference(self.base, self.work, self.judging if None in files else known or self.judging)

    @cached_property
    def _trees(self) -> tuple[Tree, Tree]:
        """The base and the work; what tests load is found out once for all of them."""
        first, second = (
            Tree(self.workspace.files(commit), partial(self.workspace.read, commit))
            for commit in (self.base, self.work)
        )
        return first, second
