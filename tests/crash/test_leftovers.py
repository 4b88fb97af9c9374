"""What a death leaves besides files: processes, locks, half-removed folders. The next start gets past all of it."""

import errno
import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from santiago.app.start.held_run import kill_leftovers, marks
from santiago.artifacts.lock import Lock
from santiago.contract.errors import SantiagoError
from santiago.workspace.workspace import GitWorkspace
from tests.crash.world import BRANCH, ROOT, RUN, git


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    made = tmp_path / "repo"
    made.mkdir()
    git(made, "init", "-q", "--template=", "-b", "main")
    git(made, "commit", "-q", "--allow-empty", "-m", "one")
    return made


def test_only_what_carries_the_mark_of_this_very_run_is_killed(tmp_path: Path) -> None:
    mine, other = (
        subprocess.Popen(["sleep", "600"], env={"PATH": os.environ["PATH"], **marks(tmp_path / name)})
        for name in ("one/out", "two/out")
    )
    try:
        assert kill_leftovers(tmp_path / "one" / "out") == 1
        assert mine.wait(60) == -signal.SIGKILL
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_a_lock_that_a_dead_holders_child_still_has_is_waited_for(tmp_path: Path) -> None:
    """Between fork and exec a child has all files of its parent, also the lock of one that was killed meanwhile."""
    script = (
        "import os, sys, time\n"
        "from pathlib import Path\n"
        "from santiago.artifacts.lock import Lock\n"
        "lock = Lock(Path(sys.argv[1]), since='now'); lock.acquire()\n"
        "if os.fork() == 0: time.sleep(0.3); os._exit(0)\n"
        "print('held', flush=True); os.kill(os.getpid(), 9)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], env=environment, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        holder.wait()
        with Lock(tmp_path, since="now"):
            pass


def test_a_lock_of_git_that_nobody_holds_any_more_is_broken(repo: Path, tmp_path: Path) -> None:
    head = git(repo, "rev-parse", "HEAD")
    locks = [repo / ".git" / f"{BRANCH}.lock", repo / ".git" / "refs" / "santiago" / RUN / "S1" / "1.lock"]
    for lock in locks:
        lock.parent.mkdir(parents=True)
        lock.touch()
    workspace = GitWorkspace(repo, RUN, tmp_path / "scratch")
    workspace.unlock()
    assert workspace.begin(head) == head
    assert not any(lock.exists() for lock in locks)


def test_a_lock_on_somebody_elses_ref_is_left_alone(repo: Path, tmp_path: Path) -> None:
    lock = repo / ".git" / "refs" / "heads" / "main.lock"
    lock.touch()
    GitWorkspace(repo, RUN, tmp_path / "scratch").unlock()
    assert lock.exists()


def test_refs_are_still_moved_after_git_refused_one_or_its_process_was_killed(repo: Path, tmp_path: Path) -> None:
    workspace = GitWorkspace(repo, RUN, tmp_path / "scratch")
    head = git(repo, "rev-parse", "HEAD")
    repository = workspace.repository
    others = _children()
    with workspace.working():
        repository.move(f"refs/santiago/{RUN}/S1/1", head, repository.zero)
        with pytest.raises(SantiagoError, match="somebody else moved"):
            repository.move(f"refs/santiago/{RUN}/S1/1", head, repository.zero)
        repository.move(f"refs/santiago/{RUN}/S1/2", head, repository.zero)
        (keeper,) = _children() - others
        os.kill(keeper, signal.SIGKILL)
        os.waitid(os.P_PID, keeper, os.WEXITED | os.WNOWAIT)
        repository.move(f"refs/santiago/{RUN}/S1/3", head, repository.zero)
        assert len(workspace.refs()) == 3
    assert _children() <= others


def test_the_git_process_that_moves_refs_ends_with_santiago(repo: Path, tmp_path: Path) -> None:
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from santiago.workspace.workspace import GitWorkspace\n"
        "workspace = GitWorkspace(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))\n"
        "with workspace.working():\n"
        "    workspace.begin(workspace.inspect().head)\n"
        "    print(Path('/proc/thread-self/children').read_text(), flush=True); os.kill(os.getpid(), 9)\n"
    )
    arguments = [sys.executable, "-c", script, str(repo), RUN, str(tmp_path / "scratch")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        keeper = int(holder.stdout.readline())
        ended = os.pidfd_open(keeper)
        holder.wait()
    try:
        assert select.select([ended], [], [], 60)[0]
    finally:
        os.close(ended)
    assert git(repo, "rev-parse", BRANCH) == git(repo, "rev-parse", "HEAD")


def test_folders_that_go_away_in_the_background_are_gone_when_the_work_is_over(repo: Path, tmp_path: Path) -> None:
    workspace = GitWorkspace(repo, RUN, tmp_path / "scratch")
    head = git(repo, "rev-parse", "HEAD")
    with workspace.working():
        for number in range(1, 13):
            folder = workspace.open("S1", number, (head,)).folder
            Path(folder, "deep", "er").mkdir(parents=True)
            workspace.close("S1", number)
            assert not Path(folder).exists()
    assert list((tmp_path / "scratch" / RUN / "trash").iterdir()) == []


def test_a_folder_that_the_background_could_not_remove_is_told_with_the_next_and_stays_for_the_next_start(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = GitWorkspace(repo, RUN, tmp_path / "scratch")
    head = git(repo, "rev-parse", "HEAD")
    tried = threading.Event()

    def refuse(_: object, **__: object) -> None:
        tried.set()
        raise PermissionError(errno.EPERM, "no", "/the/file")

    trash = tmp_path / "scratch" / RUN / "trash"
    with workspace.working(), monkeypatch.context() as patched:
        patched.setattr(os, "unlink", refuse)
        workspace.discard(workspace.checkout(head, "one"))
        assert tried.wait(60)
        with pytest.raises(SantiagoError, match="it could not be removed") as raised:
            _make_and_discard(workspace, head)
        assert raised.value.where == "/the/file"
    assert list(trash.iterdir())
    workspace.tidy()
    assert not trash.exists()


def _make_and_discard(workspace: GitWorkspace, commit: str) -> None:
    for number in range(1000):
        workspace.discard(workspace.checkout(commit, f"more-{number}"))


def _children() -> set[int]:
    """Return the processes that this thread has started and that live."""
    found = Path("/proc/thread-self/children").read_text(encoding="ascii").split()
    return {int(pid) for pid in found}
