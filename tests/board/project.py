"""A project with a board, and the queue commands of these tests on it."""

from pathlib import Path
from typing import NamedTuple

from click.testing import CliRunner

from santiago.board.board_handle import BoardHandle, open_board
from santiago.cli import ticket_commands
from santiago.contract.board import Card, Queue, place_in
from santiago.contract.errors import SantiagoError


class Told(NamedTuple):
    code: int
    out: str
    error: str


def project(folder: Path, *, sigee: bool = False) -> Path:
    (folder / ".git").mkdir(parents=True)
    if sigee:
        (folder / ".sigee").mkdir()
    return folder


def opened(folder: Path, **environ: str) -> BoardHandle:
    return open_board(folder, environ)


def ticket(name: str, queue: Queue = "developer-todo", **fields: object) -> Card:
    known = {"worker": "planner", "updated_at": "", "phase": "ready", **place_in(queue)}
    return Card(**{**known, "title": f"Do {name}", **fields, "id": name})


def queue(folder: Path, *words: str) -> Told:
    """Run one of the commands in a folder, as the program does."""
    import os

    before = Path.cwd()
    os.chdir(folder)
    try:
        done = CliRunner().invoke(ticket_commands.queue, list(words), standalone_mode=False)
    finally:
        os.chdir(before)
    if isinstance(done.exception, SantiagoError):
        return Told(done.exception.exit_code, done.stdout, f"{done.exception.message}\n{done.exception.hint}")
    if done.exception is not None:
        raise done.exception
    return Told(int(done.return_value or 0), done.stdout, done.stderr)


def tree(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return every file below a folder with its content and time, and every folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if ".sqlite3" not in name and not name.startswith(".git/"):
            found[name] = (path.read_bytes(), path.stat().st_mtime_ns) if path.is_file() else (b"", 0)
    return found


def lines(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
