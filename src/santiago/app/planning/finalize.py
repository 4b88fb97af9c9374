"""What an approved revision becomes: one run that names its session, or a document that is written to its file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.app.config import run_input_defaults, values_of
from santiago.app.start.compose import execute
from santiago.app.start.request import prepare
from santiago.app.start.start_options import StartOptions
from santiago.artifacts import registry, repository
from santiago.artifacts.files import read_bytes, write_whole
from santiago.artifacts.names import LOG, has_begun
from santiago.artifacts.reader import Reader
from santiago.contract import codec
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.events import Context
from santiago.contract.plan import Plan
from santiago.contract.reasons import Reason
from santiago.util.clock import SystemClock

if TYPE_CHECKING:
    from santiago.artifacts.session_files import SessionFiles
    from santiago.contract.policy import RunInput
    from santiago.contract.session import SessionInput, SessionState
    from santiago.sessions.decide import Finalize

LONGEST = 4000
"""Characters of a person's feedback that the run's first event repeats. The session has all of it."""


class Finalizing:
    """Carries out an approval. If it is repeated after a crash, it finds what was made before."""

    def __init__(
        self, folder: Path, asked: SessionInput, run_input: RunInput, files: SessionFiles, state: SessionState
    ) -> None:
        self.folder, self.asked, self.run_input, self.files, self.state = folder, asked, run_input, files, state
        self.root = Path(run_input.repo_path)

    def name_run(self) -> str:
        """Return the id of the future run, which is recorded before the run is made; empty for a document."""
        if self.asked.artifact == "document":
            return ""
        common = registry.common_git_dir(self.root)
        return repository.new_run_id(
            self.root,
            SystemClock().utc(),
            lambda name: common is not None and registry.place_of(common, name) is not None,
        )

    def finalize(self, act: Finalize) -> None:
        turn = self.state.turn_of(act.revision)
        assert turn is not None
        content = self.files.revision(act.revision, self.asked.artifact, turn.digest)
        if self.asked.artifact == "document":
            self._write(content)
        else:
            self._create(codec.decode(Plan, content, f"revision {act.revision}"), act, turn.digest)

    def _write(self, content: bytes) -> None:
        path = self.root / self.asked.output
        if path.exists() and read_bytes(path, codec.MAX_BYTES) == content:
            return
        write_whole(path, content)

    def _create(self, plan: Plan, act: Finalize, digest: str) -> None:
        out_dir = self.root / repository.RUNS / self.state.run
        if has_begun(out_dir):  # a crash came before the session recorded it; files of the run may be missing
            first = next(iter(Reader(out_dir / LOG))).context
            if first.get("session") != self.asked.session_id or first.get("digest") != digest:
                message = f"the run {self.state.run} exists, but does not belong to this session"
                raise SantiagoError(Kind.BLOCKED, message, where=str(out_dir), reason=Reason.ARTIFACT_CORRUPT)
        run_input = replace(self.run_input, run_id=self.state.run)
        request = prepare(out_dir, run_input, plan, StartOptions(actor=act.actor), base=self.root, compiled=True)
        request.planned, request.only_creates = self._planned(act.revision, digest), True
        request.settings = values_of(run_input_defaults(self.root))
        request.confirm_units = lambda _: None  # the person who finalizes has reviewed the whole plan
        request.approves = False  # the start asks about its commands, since an agent wrote them
        execute(request)

    def _planned(self, revision: int, digest: str) -> Context:
        turns = self.state.turns
        said = [[str(one.began), one.mode, one.text[:LONGEST], one.actor, one.at] for one in turns if one.text]
        return Context(
            session=self.asked.session_id, revision=revision, digest=digest, round=len(turns), mode=turns[-1].mode,
            feedback=said,
        )  # fmt: skip
