"""Makes the judge of a repository: the same for a run, and for trying checks before there is a run."""

from __future__ import annotations

from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING

from santiago.app.start import provide
from santiago.app.start.environment import Environment
from santiago.app.start.ground import ground_of
from santiago.contract.record import record
from santiago.judge.check_runner import CheckRunner, CommandRunner
from santiago.judge.tree_judge import TreeJudge
from santiago.judge.trials import Trials
from santiago.process import environment
from santiago.workspace.dependencies import find, on_path
from santiago.workspace.examined import FolderOfNotes
from santiago.workspace.preparing import Preparing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from santiago.app.start.acquire_run import Surroundings
    from santiago.contract.plan import Plan
    from santiago.contract.policy import RunInput
    from santiago.process.place import Ground
    from santiago.process.sandbox import Sandbox
    from santiago.process.server import ProcessServer
    from santiago.workspace.workspace import GitWorkspace


@record
class Means:
    """What a judge needs."""

    server: ProcessServer
    fence: Sandbox
    around: Surroundings
    workspace: GitWorkspace
    hidden: tuple[str, ...]
    """What is hidden from checks."""
    told: Mapping[str, str] = field(default_factory=dict)
    """Variables of the run that checks may see."""
    prompt_path: Callable[[str, int], str] = lambda *_: ""
    begun: Callable[[str, int, int, str], None] = lambda *_: None
    """Called when a check begins, with the name of its trial, its number, the number of checks, and the command."""

    jobs: int = 1
    examined: Path | None = None
    """A folder for results of checks on the base, if a later start is to find them."""

    def judge(self, plan: Plan, run_input: RunInput, ground: Ground) -> TreeJudge:
        """Return a judge that makes its checkouts with this ground."""
        runner = CommandRunner(
            server=self.server,
            sandbox=self.fence,
            ground=ground,
            environment=environment.for_checks(self.around.source, run_input.workspace.env, self.told),
            timeout_ms=int(run_input.verification.timeout_minutes),
            scratch=self.workspace.folders.temporary,
            secrets=self.around.secrets,
            hidden=self.hidden,
        )
        trials = Trials(
            run_input=run_input,
            workspace=self.workspace,
            checks=CheckRunner(runner, self.begun),
            supply=Preparing(
                workspace=self.workspace,
                ground=ground,
                setup=run_input.workspace.setup,
                names=run_input.workspace.provide,
                environment=runner.environment,
                furnish=partial(provide.into, self.around.repo, self.around.provided, ground),
            ),
            prompt_path=self.prompt_path,
            notes=FolderOfNotes(
                self.examined or self.workspace.folders.temporary / "examined",
                repr((sorted(runner.environment.items()), run_input.workspace, self.fence.name)),
            ),
        )
        explaining = Environment(
            workspace=self.workspace,
            run_input=run_input,
            judge_with=partial(self.judge_with, plan),
            source=self.around.source,
            fence=self.fence.kind,
            has_folder=self._has_folder,
        )
        return TreeJudge(
            plan=plan,
            run_input=run_input,
            workspace=self.workspace,
            trials=trials,
            jobs=self.jobs,
            has_folder=self._has_folder,
            explain=explaining.explain,
        )

    def judge_with(self, plan: Plan, run_input: RunInput, commands: Sequence[str] = ()) -> TreeJudge:
        """Return a judge whose checkouts are made by other settings; raise if `commands` would test the user's own files."""
        repo, space, workspace = self.around.repo, run_input.workspace, self.workspace
        copied = provide.present(repo, space.copy)
        around = replace(self.around, provided=copied, secrets=(*self.around.secrets, *provide.secrets(repo, copied)))
        folders = (*space.provide, *on_path(repo, around.source.get("PATH", "")))
        provided = find(workspace.repository, workspace.files(workspace.repository.found.head), folders)
        ground = ground_of(self.fence, workspace, provided, (str(repo),), space.setup, commands, around.source)
        return replace(self, around=around).judge(plan, run_input, ground)

    def _has_folder(self, name: str) -> bool:
        return (self.around.repo / name).is_dir()
