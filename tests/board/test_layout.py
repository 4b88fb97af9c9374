"""The first queue command lays the board out, where it belongs, once, and without surprise."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from santiago.board.board_handle import is_on_board
from santiago.board.board_place import find
from santiago.contract.errors import Kind, SantiagoError
from santiago.util import mounts
from tests.board.project import opened, project, queue, ticket, tree
from tests.cli import greeter
from tests.cli.inside import inside


def test_the_root_is_below_sigee_where_that_stands_and_is_chosen_once(tmp_path: Path) -> None:
    """board line 10: default roots and variables; later commands find it whatever their environment says."""
    plain, sigee = project(tmp_path / "plain"), project(tmp_path / "sigee", sigee=True)
    assert find(plain, {}).root == plain / ".santiago/.runtime"
    assert find(sigee, {}).root == sigee / ".sigee/.runtime"
    assert find(plain, {"SIGEE_RUNTIME_ROOT": "work/run"}).root == plain / "work/run"
    assert find(plain, {"SANTIAGO_RUNTIME_ROOT": "a", "SIGEE_RUNTIME_ROOT": "b"}).root == plain / "a"
    assert find(plain, {}).queues == plain / ".santiago/.runtime/orchestration/queues"
    assert find(plain, {}).archive == plain / ".santiago/.runtime/orchestration/archive"
    folder = project(tmp_path / "p")
    opened(folder, SIGEE_RUNTIME_ROOT="here").close()
    assert find(folder, {"SIGEE_RUNTIME_ROOT": "there"}).root == folder / "here"
    (folder / ".sigee").mkdir()
    assert find(folder, {}).root == folder / "here"


@pytest.mark.parametrize("name", ["SANTIAGO_RUNTIME_ROOT", "SIGEE_RUNTIME_ROOT"])
@pytest.mark.parametrize("given", ["/tmp/x", ".", "..", "a/../b", "a/../../b", "./", "a\nb"])
def test_a_root_outside_the_project_is_refused(tmp_path: Path, given: str, name: str) -> None:
    """board line 10: absolute, `.`, `..` inside."""
    with pytest.raises(SantiagoError) as caught:
        opened(project(tmp_path / "p"), **{name: given})
    assert caught.value.kind is Kind.USAGE
    assert tree(tmp_path / "p") == {".git": (b"", 0)}


def test_worktrees_share_the_board_of_their_repository_and_attempts_do_not_reach_it(tmp_path: Path) -> None:
    """board line 10."""
    main, other = tmp_path / "main", tmp_path / "other"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-C", str(main)]
    subprocess.run(["git", "init", "-q", str(main)], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "Start"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(other)], check=True, capture_output=True)
    with opened(other) as board:
        board.board.add(ticket("T-1"), "me")
    with opened(main) as board, board.store.reading() as at:
        assert at.counts() == {"developer-todo": 1}
    assert not (other / ".santiago").exists()
    with pytest.raises(SantiagoError, match="cannot reach the board"):
        opened(main, SANTIAGO_STORY="S1")


def test_the_first_command_lays_the_board_out_a_project_is_on_it_after_init_or_a_first_ticket(tmp_path: Path) -> None:
    """board line 11: later commands make only what is missing."""
    folder = project(tmp_path / "p")
    opened(folder).close()
    once = tree(folder)
    opened(folder).close()
    assert tree(folder) == once
    names = set(once)
    assert {
        f".santiago/.runtime/orchestration/queues/{one}.tsv" for one in ("planner-inbox", "blocked", "done")
    } <= names
    assert ".santiago/policies/response-rendering-contract.md" in names
    assert once[".santiago/.runtime/orchestration/queues/done.tsv"][0].startswith(b"id\tstatus\tworker\t")
    assert ".gitignore" not in names, "the user's own file is not touched where there is no .sigee"
    assert once[".santiago/.gitignore"][0] == b"*\n"
    policy = folder / ".santiago/policies/response-rendering-contract.md"
    policy.write_text("language: ko\n")
    (folder / ".santiago/README.md").unlink()
    with opened(folder) as board:
        assert board.made == (".santiago/README.md",)
    assert policy.read_text() == "language: ko\n"
    looked, begun, filled = (project(tmp_path / name) for name in ("looked", "begun", "filled"))
    opened(looked).close()
    assert not is_on_board(find(looked, {}))
    assert queue(begun, "init").code == 0
    assert is_on_board(find(begun, {}))
    with opened(filled) as board:
        board.board.add(ticket("T-1"), "me")
    assert is_on_board(find(filled, {}))


def test_the_users_gitignore_gets_one_block_where_sigee_stands_unless_it_knows_the_root(tmp_path: Path) -> None:
    """board line 11."""
    folder = project(tmp_path / "p", sigee=True)
    (folder / ".gitignore").write_text("*.pyc")
    opened(folder).close()
    opened(folder).close()
    text = (folder / ".gitignore").read_text()
    assert text.startswith("*.pyc\n# santiago board")
    assert text.count(".sigee/.runtime/") == 1
    assert (folder / ".sigee/policies/response-rendering-contract.md").is_file()
    assert not (folder / ".santiago").exists()
    folder = project(tmp_path / "q", sigee=True)
    (folder / ".gitignore").write_text("/.sigee/.runtime\n")
    opened(folder).close()
    assert (folder / ".gitignore").read_text() == "/.sigee/.runtime\n"


def test_asking_whether_a_plain_project_is_on_the_board_loads_no_database(tmp_path: Path) -> None:
    """board lines 11 and 36."""
    folder = project(tmp_path / "p")
    program = (
        "import sys; from pathlib import Path; from santiago.board import board_handle, board_place;"
        f"print(board_handle.is_on_board(board_place.find(Path({str(folder)!r}), {{}})), 'sqlite3' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_folder_that_cannot_be_written_is_transient_and_nothing_goes_through_a_link(tmp_path: Path) -> None:
    """board line 11: here a file stands where the folder belongs, which stops root as well; test_deaths has the full disk."""
    folder = project(tmp_path / "p")
    (folder / ".santiago").mkdir()
    (folder / ".santiago/.runtime").write_text("")
    before = tree(folder)
    with pytest.raises(SantiagoError, match="nothing was left half done") as caught:
        opened(folder)
    assert caught.value.kind is Kind.TRANSIENT
    assert tree(folder) == before
    assert not (folder / ".git/santiago").exists()
    folder = project(tmp_path / "q")
    (tmp_path / "elsewhere").mkdir()
    (folder / ".santiago").mkdir()
    (folder / ".santiago/.runtime").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SantiagoError, match="symbolic link"):
        opened(folder)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_init_lists_what_it_made_and_seeds_governance_only_where_it_is_asked_for(tmp_path: Path) -> None:
    """board lines 10 and 12: and nothing is left for the next command to make; a board that begins with governance is below .sigee."""
    folder = project(tmp_path / "p")
    first, second = (json.loads(queue(folder, "init", "--json").out) for _ in range(2))
    assert ".santiago/.runtime/orchestration/queues/done.tsv" in first["made"]
    assert (first["begun"], second["begun"], second["made"]) == (True, False, [])
    assert first["root"] == ".santiago/.runtime"
    folder = project(tmp_path / "q")
    assert queue(folder, "init").code == 0
    assert not (folder / ".sigee").exists()
    made = json.loads(queue(folder, "init", "--governance", "--json").out)["made"]
    assert ".sigee/product-truth/vision.yaml" in made
    assert (folder / ".sigee/product-truth/vision.yaml").is_file()
    before = tree(folder)
    assert json.loads(queue(folder, "init", "--governance", "--json").out)["made"] == []
    assert tree(folder) == before
    folder = project(tmp_path / "r")
    assert json.loads(queue(folder, "init", "--governance", "--json").out)["root"] == ".sigee/.runtime"
    assert not (folder / ".santiago").exists()


@pytest.fixture
def mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """What the system says of its mounts is replaced, as no test can mount a network file system."""
    device, table = tmp_path.stat().st_dev, tmp_path / "mountinfo"
    monkeypatch.setattr(mounts, "MOUNTS", table)

    def mounted(kind: str) -> None:
        table.write_text(f"1 0 {os.major(device)}:{os.minor(device)} / /mnt rw - {kind} server:/x rw\n")

    return mounted


def test_a_network_file_system_is_refused_any_other_is_taken(tmp_path: Path, mounted: Callable[[str], None]) -> None:
    """board line 74: also a type that nobody knows."""
    for kind in ("nfs4", "cifs", "9p", "fuse.sshfs"):
        folder = project(tmp_path / kind)
        mounted(kind)
        with pytest.raises(SantiagoError, match=kind) as caught:
            opened(folder)
        assert (caught.value.kind, tree(folder)) == (Kind.BLOCKED, {".git": (b"", 0)}), kind
    for kind in ("ext4", "btrfs", "somethingnew"):
        mounted(kind)
        opened(project(tmp_path / kind)).close()


def test_doctor_tells_of_a_network_file_system(tmp_path: Path, mounted: Callable[[str], None]) -> None:
    """board line 74."""
    repo = greeter.committed(tmp_path / "repo", {"README.md": "A shop\n"})
    mounted("nfs4")
    told = json.loads(inside("doctor", "--json", cwd=repo).stdout)
    (found,) = [one for one in told["checks"] if one["check"] == "repository"]
    assert (found["level"], "nfs4" in found["text"], "board" in found["fix"]) == ("warn", True, True)
