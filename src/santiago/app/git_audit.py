"""Checking a run's branch and refs again: each commit of the log is where the log says, and kept by something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from santiago.app.paths import scratch_of
from santiago.app.start.start_events import unknown_commits
from santiago.contract.errors import SantiagoError
from santiago.contract.phases import StoryPhase
from santiago.workspace.workspace import GitWorkspace

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from santiago.app.auditing import Audit
    from santiago.contract.state import RunState

_FORMAT = "%H%x00%(trailers:key=Santiago-Head,valueonly,separator=%x20)%x00%(trailers:key=Santiago-Run,valueonly,separator=%x20)"


class GitAudit:
    """Checks one run's branch and refs, with a few git processes, however many stories there are."""

    def __init__(self, audit: Audit, repo: Path, run_id: str) -> None:
        self.audit = audit
        self.workspace = GitWorkspace(repo, run_id, scratch_of(repo))
        self.run_id = run_id
        self.refs: dict[tuple[str, int], str] = {}
        self.head: str | None = None

    def anchors(self) -> None:
        """Collect the hashes of events that commits on the branch record."""
        self.head = self.workspace.head()
        if self.head is None:
            return
        listed = self.workspace.repository.on_objects("log", "--max-count=20000", f"--format={_FORMAT}", self.head).out
        for line in listed.decode("utf-8", "replace").splitlines():
            commit, anchor, run = [*line.split("\0"), "", ""][:3]
            seq, _, digest = anchor.strip().partition(":")
            if run.strip() == self.run_id and seq.isdigit() and int(seq):
                self.audit.anchors.setdefault(int(seq), (digest, f"the commit {commit[:12]}"))

    def check(self) -> None:
        """Compare refs and branch with the log."""
        state = self.audit.state
        if state is None:
            return
        self.refs = {(ref.story, ref.attempt): ref.commit for ref in self.workspace.refs()}
        for name, commit in self.workspace.broken():
            self.audit.error(
                "ref_broken",
                name,
                f"it leads to {commit[:12]}, and objects of that commit are missing in the repository",
            )
        for found in unknown_commits(state, self.workspace):
            self.audit.error(*found)
        self._attempts()
        self._branch(state)

    def _attempts(self) -> None:
        wanted = {
            (story, one.number): one
            for story, tried in self.audit.history.attempts.items()
            for one in tried
            if one.commit
        }
        missing = self._missing({one.commit for one in wanted.values()})
        for (story, number), one in wanted.items():
            name, commit = f"refs/santiago/{self.run_id}/{story}/{number}", one.commit
            self.audit.count("attempt commits")
            kept = self.refs.get((story, number))
            if commit in missing:
                self.audit.error("commit_missing", name, f"{commit[:12]} is not in the repository")
            elif kept is None and not one.pruned:
                self._without_ref(name, commit)
            elif kept not in (None, commit):
                self.audit.error("ref_moved", name, f"it is at {str(kept)[:12]}, the log says {commit[:12]}")

    def _without_ref(self, name: str, commit: str) -> None:
        if self.workspace.reachable(commit):
            self.audit.error("ref_missing", name, f"the ref is gone; {commit[:12]} is still reachable")
        else:
            self.audit.error("commit_unreachable", name, f"nothing keeps {commit[:12]}; git will remove it some day")

    def _missing(self, commits: Iterable[str]) -> set[str]:
        """Return the commits that git does not have, with one git command."""
        names = sorted(commits)
        if not names:
            return set()
        answer = self.workspace.repository.on_objects(
            "cat-file", "--batch-check", stdin="".join(f"{name}\n" for name in names).encode()
        )
        lines = answer.text.splitlines()
        return {name for name, line in zip(names, lines, strict=True) if not line.startswith(f"{name} commit")}

    def _branch(self, state: RunState) -> None:
        name, wanted = state.branch or "", state.head or ""
        done = [story for story in state.stories.values() if story.phase is StoryPhase.DONE and story.commit]
        self.audit.count("branch")
        if self.head is None:
            if wanted and wanted not in self._missing([wanted]) and self.workspace.reachable(wanted):
                self.audit.note(
                    "branch_gone", name, f"the branch was removed; its head {wanted[:12]} is still reachable"
                )
            else:
                self.audit.error("branch_missing", name, f"the branch and its head {wanted[:12]} are gone")
            return
        on_branch = self._commits_on(self.head)
        if self.head != wanted:
            if wanted in on_branch:
                self.audit.note("branch_ahead", name, f"it is at {self.head[:12]}, ahead of the log's {wanted[:12]}")
            else:
                self.audit.error(
                    "branch_moved", name, f"it is at {self.head[:12]}, which does not contain the log's {wanted[:12]}"
                )
        for story in done:
            if story.commit not in on_branch:
                self.audit.error(
                    "done_not_on_branch",
                    name,
                    f"{story.id} is done, but its commit {(story.commit or '')[:12]} is not on the branch",
                )

    def _commits_on(self, head: str) -> set[str]:
        """Return the branch's commits since the run began, that one included."""
        base = self.audit.base
        until = [f"^{base}"] if base and base not in self._missing([base]) else []
        return {base, *self.workspace.repository.on_objects("rev-list", head, *until).text.split()}


def open_git(audit: Audit, repo: Path, run_id: str) -> GitAudit | None:
    """Return the audit of the repository; None, with a fault noted, if the repository is missing."""
    try:
        found = GitAudit(audit, repo, run_id)
        found.anchors()
    except SantiagoError as error:
        audit.error("repository_unusable", str(repo), error.message)
        return None
    return found
