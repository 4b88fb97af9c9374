"""Handing a run's branch over: what it conflicts with, pushing it, and opening a merge request with the service's program (gh, glab)."""

from __future__ import annotations

import re
import shutil
import subprocess
from shlex import join
from typing import TYPE_CHECKING

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.record import record
from santiago.util.text import few, first, flat
from santiago.workspace.ancestry import resolve
from santiago.workspace.inspect import ask
from santiago.workspace.joining import conflicts, unmerged

if TYPE_CHECKING:
    from pathlib import Path

MOST_FILES = 5
"""How many files one line names."""


@record
class Remote:
    """Where a branch is pushed to."""

    name: str
    url: str


@record
class Publication:
    """The commands that publish a branch. The second is there only if a program for it is installed."""

    push: tuple[str, ...]
    request: tuple[str, ...] = ()
    page: str = ""
    """The page on which a person opens the request, where the service is known."""


@record
class Conflict:
    """Where a run's branch and the user's own do not fit together."""

    files: tuple[str, ...] = ()
    under_way: bool = False
    """Whether a merge has begun in the user's tree, and stopped at these files."""

    def __str__(self) -> str:
        return few(self.files, MOST_FILES)


def conflict_with(repo: Path, head: str) -> Conflict:
    """Return what stands between a commit and the user's branch; nothing stands there if it names no files."""
    if files := unmerged(repo):
        return Conflict(files=tuple(files), under_way=True)
    return Conflict(files=tuple(conflicts(repo, "HEAD", head)))


def remote_of(repo: Path) -> Remote | None:
    """Return the remote of the current branch, else `origin`, else the only one; None if that is not clear."""
    names = ask(repo, "remote").text.split()
    branch = ask(repo, "symbolic-ref", "--quiet", "--short", "HEAD", accept=(0, 1)).text
    wanted = ask(repo, "config", "--get", f"branch.{branch}.remote", accept=(0, 1)).text if branch else ""
    found = [name for name in (wanted, "origin") if name in names] or (names if len(names) == 1 else [])
    if not found:
        return None
    return Remote(name=found[0], url=ask(repo, "remote", "get-url", found[0]).text)


def publication(repo: Path, remote: Remote, branch: str, title: str, body: Path) -> Publication:
    """Return the commands that push a branch, and open a request to merge it into the current one."""
    push = ("git", "push", remote.name, f"refs/heads/{branch}:refs/heads/{branch}")
    current = ask(repo, "symbolic-ref", "--quiet", "--short", "HEAD", accept=(0, 1)).text
    base = current if current and resolve(repo, f"refs/remotes/{remote.name}/{current}") else ""
    order = ("glab", "gh") if "gitlab" in remote.url else ("gh", "glab")
    program = next((name for name in order if shutil.which(name)), "")
    if program == "gh":
        into = ("--base", base) if base else ()
        return Publication(
            push=push,
            request=("gh", "pr", "create", "--head", branch, *into, "--title", title, "--body-file", str(body)),
        )
    if program == "glab":
        into = ("--target-branch", base) if base else ()
        text = body.read_text(encoding="utf-8")
        words = ("glab", "mr", "create", "--yes", "--source-branch", branch, *into, "--title", title)
        return Publication(push=push, request=(*words, "--description", text))
    return Publication(push=push, page=_page(remote.url, branch, base))


def _page(url: str, branch: str, base: str) -> str:
    """Return the page of GitHub or GitLab on which a person opens a request for a branch; empty for other services."""
    found = re.fullmatch(r"(?:https?://(?:[^@/]*@)?|ssh://git@|git@)([^:/]+)(?::\d+)?[:/](.+?)(?:\.git)?/?", url)
    if found is None:
        return ""
    if found[1] == "github.com":
        return f"https://{found[1]}/{found[2]}/compare/{f'{base}...' if base else ''}{branch}?expand=1"
    if "gitlab" in found[1]:
        return f"https://{found[1]}/{found[2]}/-/merge_requests/new?merge_request%5Bsource_branch%5D={branch}"
    return ""


def carry_out(repo: Path, command: tuple[str, ...]) -> str:
    """Run a program as the user would, so that it may ask for a password; return what it printed."""
    done = subprocess.run(command, cwd=repo, stdout=subprocess.PIPE, text=True, errors="replace", check=False)  # noqa: S603  # an argument list, never a shell
    if done.returncode:
        message = f"`{first(flat(join(command)), 200)}` ended with exit code {done.returncode}"
        raise SantiagoError(
            Kind.BLOCKED, message, where=str(repo), hint="See what it printed above, then run `santiago pr` again."
        )
    return done.stdout
