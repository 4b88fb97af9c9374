"""Git processes that stay: what they are asked is answered whole, or there is an error; and commits made by hand are git's."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from santiago.contract.errors import SantiagoError
from santiago.workspace.git_processes import Session
from santiago.workspace.stored import Stored, now_by
from tests.util.each import each
from tests.workspace.conftest import ENV, Bench, git, make_repo, write

ECHO = ("diff-tree", "--stdin")
"""Hands back every line that is no object."""


@pytest.fixture
def session(tmp_path: Path) -> Session:
    repo = make_repo(tmp_path / "repo")
    return Session(ECHO, ENV, repo)


def asked(session: Session, question: bytes, last: bytes) -> bytes:
    said: list[bytes] = []

    def take(piece: bytes) -> bool:
        said.append(piece)
        return True

    session.ask(question, last, take)
    return b"".join(said)


def test_one_process_answers_all_questions_is_made_anew_if_killed_and_ends_with_the_session(session: Session) -> None:
    assert asked(session, b"one\n", b"one\n") == b"one\n"
    process = session._process
    assert process is not None
    assert asked(session, b"two\nthree\n", b"three\n") == b"two\nthree\n"
    assert session._process is process
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert asked(session, b"four\n", b"four\n") == b"four\n"
    session.ask(b"five\nsix\n", b"six\n", lambda _: False)
    assert asked(session, b"seven\n", b"seven\n") == b"seven\n", "what was left of an answer is not the next one"
    process = session._process
    session.close()
    assert process.returncode is not None


def test_a_process_that_ends_in_the_middle_is_an_error_and_the_next_question_has_a_new_one(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo")
    session = Session(("update-ref", "--stdin"), ENV, repo)
    with pytest.raises(SantiagoError, match="update-ref"):
        session.ask(b"nonsense\n", b"start: ok\n")
    session.ask(b"start\n", b"start: ok\n")
    session.close()


def test_no_path_can_look_like_the_end_of_a_comparison(bench: Bench) -> None:
    """Proof, not promise: whatever an agent calls its files, all of them are listed and sealed ones are seen."""
    folder = bench.opened()
    odd = f"0\n{'0' * 32}\n{bench.first} {bench.first}\n"
    write(folder, **{odd: "x", "zz": "z\n"})
    taken = bench.taken()
    assert [change.path for change in taken.changes] == [odd, "zz"]
    assert "+z\n" in taken.patch


def test_a_tree_that_is_not_there_is_an_error_and_not_an_empty_comparison(bench: Bench) -> None:
    with pytest.raises(SantiagoError, match="cannot read what it should compare"):
        bench.workspace.repository.changes("1" * 40, git(bench.repo, "rev-parse", "HEAD^{tree}"))


@each("object_format", ["sha1", "sha256"])
@each(("name", "mail"), [("U", "u@example.org"), (" .Zoë 'Z' Doe. ", ",z@example.org ")])
def test_a_commit_made_by_hand_is_the_one_of_git(tmp_path: Path, object_format: str, name: str, mail: str) -> None:
    repo = make_repo(tmp_path / "repo", f"--object-format={object_format}")
    tree, parent = git(repo, "rev-parse", "HEAD^{tree}"), git(repo, "rev-parse", "HEAD")
    message = "Subject\n\nKey: Größe\n"
    by = now_by((name, mail))
    made, when = Stored(None, object_format).commit(tree, [parent], message, by), by.partition("> ")[2]
    who = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", name), ("EMAIL", mail), ("DATE", when))
    }
    done = subprocess.run(
        ["git", "commit-tree", tree, "-p", parent], cwd=repo, env=ENV | who, input=message.encode(), capture_output=True, check=True
    )  # fmt: skip
    assert made == done.stdout.decode().strip()
