"""`santiago pr`: hand a run's work to review, with the evidence of each story."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from santiago.app.finding import find_run
from santiago.app.loading import Run, load
from santiago.app.paths import near
from santiago.app.publishing import Conflict, Publication, Remote, carry_out, conflict_with, publication, remote_of
from santiago.artifacts.files import write_whole
from santiago.artifacts.names import REQUEST
from santiago.cli.report import written
from santiago.cli.view.terminal import say, show_data
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import ExitCode
from santiago.contract.record import record
from santiago.executor.tally import is_on_branch
from santiago.report.handout import document
from santiago.report.pull_request import body, title
from santiago.report.remedies import listed, resolving
from santiago.report.run_status import headline_of, is_taken_over
from santiago.util.text import harmless
from santiago.workspace.ancestry import resolve


def pr(run: str | None, yes: bool, as_json: bool) -> int:
    """Hand the work of a run to review."""
    found = load(find_run(run))
    if is_taken_over(found):
        if as_json:
            show_data({"run_id": found.run_id, "taken_over": True})
        else:
            say(f"the work of {found.run_id} is already merged: the current commit has all of it")
        return 0
    return _hand_over(_prepared(found), yes=yes, as_json=as_json)


@record
class _Handover:
    """What is published, where, and how."""

    run_id: str
    repo: Path
    branch: str
    headline: str
    title: str
    body: Path
    report: Path
    """All evidence, for reviewers to open."""
    conflict: Conflict
    """What it conflicts with on the user's branch."""
    remote: Remote | None = None
    ready: Publication | None = None

    def document(self, opened: str | None, *, pushed: bool) -> dict[str, Any]:
        return {
            "run_id": self.run_id, "taken_over": False, "headline": self.headline, "branch": self.branch, "title": self.title, "body": str(self.body),
            "report": str(self.report), "remote": self.remote and {"name": self.remote.name, "url": self.remote.url},
            "push": list(self.ready.push) if self.ready else None,
            "request": list(self.ready.request) or None if self.ready else None,
            "page": self.ready.page or None if self.ready else None, "conflicts": list(self.conflict.files),
            "pushed": pushed, "opened": opened,
        }  # fmt: skip


def _prepared(run: Run) -> _Handover:
    """Write the body of the request, and return all that publishing needs; raise if there is nothing to publish."""
    repo, branch = _of(run)
    file = run.out_dir / REQUEST
    write_whole(file, body(run).encode())
    remote = remote_of(repo)
    ready = publication(repo, remote, branch, title(run), file) if remote else None
    return _Handover(
        run_id=run.run_id, repo=repo, branch=branch, headline=str(headline_of(run)), title=title(run), body=file,
        report=written(run, document(run))[0], conflict=conflict_with(Path.cwd(), branch), remote=remote, ready=ready,
    )  # fmt: skip


def _of(run: Run) -> tuple[Path, str]:
    """Return the repository and the branch of a run; raise if there is nothing to publish."""
    repo, branch = Path(run.run_input.repo_path), run.state.branch or ""
    if not any(map(is_on_branch, run.state.stories.values())):
        message = f"{run.run_id} has finished no story itself yet, so there is nothing to hand over"
        raise SantiagoError(Kind.INPUT, message, hint="`santiago status` says where it stands.")
    if not branch or resolve(repo, f"refs/heads/{branch}") is None:
        hint = f"`git branch {branch} {run.state.head}` puts it back."
        raise SantiagoError(Kind.INPUT, f"the branch {branch} is missing", where=str(repo), hint=hint)
    return repo, branch


def _hand_over(given: _Handover, *, yes: bool, as_json: bool) -> int:
    """Push the branch and open the request if a person agrees; else print what would be done.

    The exit code tells whether anything is left that somebody wanted: it is 0 where the branch was pushed, or a person said no.
    """

    if not as_json:
        _tell(given)
    ready, opened = given.ready, None
    agreed = yes or (ready is not None and not as_json and _asked(given))
    if agreed and ready:
        carry_out(given.repo, ready.push)
        opened = carry_out(given.repo, ready.request).strip() if ready.request else None
    pushed = agreed and ready is not None
    if as_json:
        show_data(given.document(opened, pushed=pushed))
    elif pushed:
        _tell_pushed(given, opened)
    declined = ready is not None and not as_json and sys.stdin.isatty()
    return ExitCode.OK if pushed or declined else ExitCode.BLOCKED


def _tell(given: _Handover) -> None:
    """Print what will be published, and what is left to do by hand."""
    say(f"run     {given.run_id}  {given.headline}")
    say(f"title   {harmless(given.title)}")
    say(f"body    {near(given.body)}")
    say(f"report  {near(given.report)}   (all evidence, for reviewers; look through it before you send it)")
    if given.conflict.files:
        _tell_conflict(given)
    if given.remote is None or given.ready is None:
        say("This repository has no remote to push to. Add one, then run `santiago pr` again:")
        say("next: git remote add origin URL")
        return
    say(f"branch  {given.branch} to {given.remote.name} ({harmless(given.remote.url)})")


def _tell_conflict(given: _Handover) -> None:
    """Print what whoever merges the branch will meet, and how to solve it first."""
    found = given.conflict
    if found.under_way:
        say(f"a merge is under way here, and stopped at a conflict in {harmless(str(found))}")
        rows = resolving(found)
    else:
        say(f"this branch and your current one conflict in {harmless(str(found))}; whoever merges it must resolve that")
        rows = [(f"git switch {given.branch} && git merge -", "resolve it there and commit; then `santiago pr` again")]
    for line in listed(rows):
        say(line)


def _tell_pushed(given: _Handover, opened: str | None) -> None:
    """Print where the request is, or what is left to do by hand."""
    if opened is not None:
        say(opened)
        return
    assert given.ready is not None
    say(f"{given.branch} is pushed. Neither gh nor glab is installed, so the request is left to you.")
    where = f" at {harmless(given.ready.page)}" if given.ready.page else ""
    say(f"Open it{where} with the title above, and the text of {near(given.body)}.")


def _asked(given: _Handover) -> bool:
    if not sys.stdin.isatty():
        say("Nothing was pushed, because there is no terminal to ask on. `santiago pr --yes` pushes without asking.")
        return False
    assert given.ready is not None
    opens = f", and open the request with {given.ready.request[0]}" if given.ready.request else ""
    if click.confirm(f"Push the branch{opens}?", default=True):
        return True
    say("nothing was pushed")
    return False
