"""`santiago pr`: hand a run's work to review, with the evidence of each story."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from santiago.app.loading import Run
    from santiago.app.publishing import Publication


@click.command("pr")
@click.argument("run", required=False)
@click.option("--yes", is_flag=True, help="Push and open it without asking.")
def command(run: str | None, yes: bool) -> int:
    """Push the branch of RUN (a folder or an id, or the newest one) and open a pull request, with the evidence per story.

    It is opened with gh or glab, where one is installed. Nothing is pushed without your word.
    """
    from santiago.app.finding import find_run
    from santiago.app.loading import load
    from santiago.app.publishing import publication, remote_of
    from santiago.artifacts.files import write_whole
    from santiago.artifacts.names import REQUEST
    from santiago.cli.view.text import say
    from santiago.report.pull_request import body, title
    from santiago.report.run_status import is_taken_over
    from santiago.util.text import harmless

    found = load(find_run(run))
    if is_taken_over(found):
        say(f"the work of {found.run_id} is taken over already: all of it is in the commit that is checked out here")
        return 0
    repo, branch = _of(found)
    file = found.out_dir / REQUEST
    write_whole(file, body(found).encode())
    say(f"title   {harmless(title(found))}")
    say(f"body    {_near(file)}")
    remote = remote_of(repo)
    if remote is None:
        say("There is no remote to push to. Add one, then the same command again:")
        say("next: git remote add origin URL")
        return 0
    say(f"branch  {branch} to {remote.name} ({harmless(remote.url)})")
    ready = publication(repo, remote, branch, title(found), file)
    if not ready.request:
        say("Neither gh nor glab is installed, so you open it yourself, with that title and body:")
        say(f"next: {join(ready.push)}")
        return 0
    return _done(repo, ready, yes=yes)


def _of(run: Run) -> tuple[Path, str]:
    """Return the repository and the branch of a run; raise where there is nothing to hand over."""
    from santiago.contract.errors import Kind, SantiagoError
    from santiago.contract.phases import StoryPhase
    from santiago.workspace.ancestry import resolve

    repo, branch = Path(run.run_input.repo_path), run.state.branch or ""
    if not any(story.phase is StoryPhase.DONE for story in run.state.stories.values()):
        raise SantiagoError(
            Kind.INPUT, f"no story of {run.run_id} is done yet", hint="`santiago status` says where it stands."
        )
    if not branch or resolve(repo, f"refs/heads/{branch}") is None:
        hint = f"`git branch {branch} {run.state.head}` puts it back."
        raise SantiagoError(Kind.INPUT, f"the branch {branch} is gone", where=str(repo), hint=hint)
    return repo, branch


def _done(repo: Path, ready: Publication, *, yes: bool) -> int:
    """Push and open it after a person's word; without one, say what that would be."""
    from santiago.app.publishing import carry_out
    from santiago.cli.view.text import say
    from santiago.contract.reasons import ExitCode

    if not yes and not sys.stdin.isatty():
        say("Nothing was pushed: nobody is here to say so. `santiago pr --yes` does.")
        return ExitCode.BLOCKED
    if not yes and not click.confirm(f"Push it, and open the request with {ready.request[0]}?", default=True):
        say("nothing was pushed")
        return ExitCode.OK
    carry_out(repo, ready.push)
    say(carry_out(repo, ready.request).strip())
    return ExitCode.OK


def _near(path: Path) -> str:
    from santiago.app.paths import near

    return near(path)
