"""A repository with all that pages show: runs, a plan that waits for a word, and a board with work to accept, to send back, to decide on."""

from pathlib import Path

from tests.board import boards
from tests.board.desk import Desk
from tests.board.screens import filled
from tests.tui import made
from tests.tui.made_session import SESSION, reviewed
from tests.web.reports import hostile
from tests.web.served import with_runs

QUESTION = "runs/asking/questions/S3-agent-1"
STORY = "runs/failed/stories/S3"
PLAN = f"plans/{SESSION}"
SCREENS = (
    "", "runs/failed", "runs/asking", QUESTION, STORY, f"{STORY}/3", f"{STORY}/3/log", "board", "board/T1", "board/PAY-1", PLAN,
    f"{PLAN}?revision=1", f"{PLAN}/stories/S3",
)  # fmt: skip


def whole(folder: Path) -> Path:
    desk = Desk(folder)
    desk.add("T1", "developer-todo", "--verify", "grep hello hello.txt")
    desk.claim("ada")
    desk.commit(hello_txt="hello\n")
    desk.ok("queue", "verify", "T1", "--trust-commands")
    board = boards.Desk(desk.repo)
    with board.opened:
        filled(board)
    reviewed(desk.repo)
    runs = {"failed": made.failed_run, "running": made.running_run, "hostile": hostile, "asking": made.asking_run}
    return with_runs(desk.repo, **runs)
