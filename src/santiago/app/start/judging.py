"""What a checkout gets, where it stands, and the judge of a repository: the same for a run, and for trying checks before."""

from __future__ import annotations

import os
from dataclasses import field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.app.start.agents import credentials, for_tests, line_up
from santiago.app.start.environment import Environment
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.contract.record import record
from santiago.judge.check_runner import CheckRunner, CommandRunner
from santiago.judge.tree_judge import TreeJudge
from santiago.judge.trials import Trials
from santiago.process import environment
from santiago.process.place import link_into
from santiago.process.redact import secrets_of, to_hide, variables_of
from santiago.util.text import first, flat
from santiago.workspace import built
from santiago.workspace.dependencies import find, on_path
from santiago.workspace.editable_installs import blind_to, elsewhere, leads
from santiago.workspace.examined import FolderOfNotes
from santiago.workspace.preparing import Preparing, copy_into

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from santiago.contract.plan import Plan
    from santiago.contract.policy import RunInput
    from santiago.process.place import Dependency, Ground
    from santiago.process.sandbox import Sandbox
    from santiago.process.server import ProcessServer
    from santiago.workspace.editable_installs import Lead
    from santiago.workspace.workspace import GitWorkspace


@record
class StartEnvironment:
    """What a start finds around it."""

    source: dict[str, str]
    """The variables."""
    repo: Path
    provided: tuple[str, ...]
    """Files of the repository that git ignores and that a checkout gets nevertheless."""
    secrets: tuple[str, ...]
    """Secrets that must not reach any file."""


def look_around(run_input: RunInput) -> StartEnvironment:
    source, repo = dict(os.environ), Path(run_input.repo_path)
    provided = files_present(repo, run_input.workspace.copy)
    working = (*line_up(run_input.agent), for_tests(run_input))
    signed_in = [value for one in working if one is not None for value in credentials(one, source)]
    secrets = (*to_hide(source), *signed_in, *secrets_of_files(repo, provided))
    return StartEnvironment(source=source, repo=repo, provided=provided, secrets=secrets)


@record
class JudgeParts:
    """What a judge needs."""

    server: ProcessServer
    fence: Sandbox
    around: StartEnvironment
    workspace: GitWorkspace
    hidden: tuple[str, ...]
    """What is hidden from agents and checks: the files of runs, and the checkouts of others."""
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
            environment=self._variables(run_input),
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
                furnish=partial(furnish, self.around.repo, self.around.provided, ground),
            ),
            prompt_path=self.prompt_path,
            notes=FolderOfNotes(
                self.examined or self.workspace.folders.temporary / "examined",
                self.surroundings(run_input),
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

    def _variables(self, run_input: RunInput) -> dict[str, str]:
        return environment.for_checks(self.around.source, run_input.workspace.env, self.told)

    def surroundings(self, run_input: RunInput) -> str:
        """Describe what all results depend on: variables, set-up, sandbox."""
        return repr((sorted(self._variables(run_input).items()), run_input.workspace, self.fence.name))

    def judge_with(self, plan: Plan, run_input: RunInput, commands: Sequence[str] = ()) -> TreeJudge:
        """Return a judge whose checkouts are made by other settings; raise if `commands` would test the user's own files."""
        repo, space, workspace = self.around.repo, run_input.workspace, self.workspace
        copied = files_present(repo, space.copy)
        around = replace(self.around, provided=copied, secrets=(*self.around.secrets, *secrets_of_files(repo, copied)))
        folders = (*space.provide, *on_path(repo, around.source.get("PATH", "")))
        provided = find(workspace.repository, workspace.files(workspace.repository.found.head), folders)
        ground = ground_of(self.fence, workspace, provided, around, space.setup, commands)
        return replace(self, around=around).judge(plan, run_input, ground)

    def _has_folder(self, name: str) -> bool:
        return (self.around.repo / name).is_dir()


MOST_COPIED = 5000
"""How many files of a folder are copied."""


def files_present(repo: Path, names: Iterable[str]) -> tuple[str, ...]:
    """Return which of these files exist in the repository. A folder stands for the files in it."""
    below = (
        islice((repo / name).rglob("*"), MOST_COPIED) if (repo / name).is_dir() else (repo / name,) for name in names
    )
    return tuple(path.relative_to(repo).as_posix() for paths in below for path in paths if path.is_file())


def secrets_of_files(repo: Path, names: Iterable[str]) -> tuple[str, ...]:
    """Return the secrets in these files. Agents and checks see them, so their output must be redacted."""
    found = {value for name in names for value in (*to_hide(variables_of(repo / name)), *secrets_of(repo / name))}
    return tuple(sorted(found))


def dependency_folders(
    workspace: GitWorkspace, run_input: RunInput, source: Mapping[str, str]
) -> tuple[Dependency, ...]:
    """Return the folders of dependencies: those of the settings, and virtual environments of the repository that are on PATH."""
    active = on_path(workspace.inspect().root, source.get("PATH", ""))
    return workspace.dependencies((*run_input.workspace.provide, *active))


def furnish(repo: Path, names: Iterable[str], ground: Ground, folder: str) -> None:
    """Copy these files into a fresh checkout, and give it its dependencies if nothing else does."""
    copy_into(repo, names, folder)
    if not ground.seen_there:
        link_into(folder, ground.dependencies)


def ground_of(
    fence: Sandbox, workspace: GitWorkspace, provided: Sequence[Dependency], around: StartEnvironment,
    setup: Sequence[str], commands: Sequence[str], seen: str = "",
) -> Ground:  # fmt: skip
    """Return the ground; raise if installed packages would make `commands` test the user's own files instead of a checkout.

    Checkouts are `seen` there, if the sandbox can do that; usually at the path of the repository.
    """
    root, source = workspace.inspect().root, around.source
    ground = fence.ground(
        seen or str(root),
        names=(str(around.repo),),
        stores=workspace.stores,
        dependencies=provided,
        needed=elsewhere(root, [one.source for one in provided]),
        over=str(workspace.folders.over),
        built=built.caches(workspace.files(workspace.inspect().head), source, workspace.folders.over),
    )
    if ground.seen_there:
        return ground
    # Linked folders must not be written. If there is a set-up, it installs into the checkout instead.
    dependencies = () if setup else ground.dependencies
    found = leads(root, [one.source for one in dependencies], source) if commands else []
    if blind := blind_to(found, commands):
        raise _led_astray(*blind)
    order = dict.fromkeys(lead.first for lead in found if lead.first is not None)
    return replace(ground, dependencies=dependencies, first=tuple(order))


def _led_astray(lead: Lead, command: str) -> SantiagoError:
    deaf = f", and `{first(flat(command), 80)}` ignores PYTHONPATH" if command else ""
    return SantiagoError(
        Kind.BLOCKED,
        f"it leads to {lead.target}, outside the checkout: a check would test those files instead of the work{deaf}",
        where=lead.file,
        hint="Install bubblewrap (Debian: apt-get install bubblewrap), so that checkouts have the repository's own path, or "
        "have setup under [workspace] in santiago.toml install the dependencies in each checkout.",
        reason=Reason.VERIFICATION_UNRUNNABLE,
    )
