"""A report exists only when everything is dead, whatever it did (P11, P12), and output costs no memory (P14)."""

import errno
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from santiago.contract.errors import SantiagoError
from santiago.process import server as serving
from santiago.process import tree
from santiago.process.command import Command
from santiago.process.server import ProcessServer
from tests.process.serving import HOSTILE, await_end, command, marked, new_mark, start_server
from tests.util.each import each

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="process trees are owned through Linux interfaces")


def test_a_program_ends_by_itself_or_a_signal_and_reads_its_file(server: ProcessServer, tmp_path: Path) -> None:
    report = server.run(command("echo out; echo err >&2; exit 7", tmp_path))
    assert (report.exit_code, report.signal, report.orphans) == (7, None, 0)
    assert (report.timed_out, report.stopped) == (False, False)
    assert sorted(report.head.split()) == ["err", "out"]
    report = server.run(command("kill -SEGV $$", tmp_path))
    assert (report.exit_code, report.signal) == (None, signal.SIGSEGV)
    (tmp_path / "prompt").write_text("the prompt")
    assert server.run(command("cat", tmp_path, stdin=str(tmp_path / "prompt"))).head == "the prompt"
    assert server.run(command("cat", tmp_path)).head == ""


@pytest.mark.parametrize("word", ["now", "stop"])
def test_a_hostile_tree_is_dead_when_the_report_is_there(server: ProcessServer, tmp_path: Path, word: str) -> None:
    mark = new_mark()
    report = server.run(
        command(HOSTILE, tmp_path, mark, grace_ms=200), lambda: word if len(marked(mark, b"sleep\0900")) == 6 else None
    )
    assert report.stopped
    assert marked(mark) == []


@each(("script", "timeout_ms"), [(HOSTILE, 400), ("kill -STOP $$", 300)])
def test_a_hostile_tree_dies_in_time(server: ProcessServer, tmp_path: Path, script: str, timeout_ms: int) -> None:
    mark = new_mark()
    report = server.run(command(script, tmp_path, mark, timeout_ms=timeout_ms, grace_ms=100))
    assert (report.timed_out, report.exit_code) == (True, None)
    assert marked(mark) == []


def test_a_late_writer_does_not_outlive_the_program(server: ProcessServer, tmp_path: Path) -> None:
    mark = new_mark()
    script = "(setsid sh -c 'echo >ready; sleep 9001; echo late >file' &); while [ ! -e ready ]; do :; done; echo done"
    report = server.run(command(script, tmp_path, mark))
    assert (report.exit_code, report.head) == (0, "done\n")
    assert report.orphans >= 1
    assert marked(mark) == []
    assert not (tmp_path / "file").exists()


def test_a_stop_leaves_time_to_end_well(server: ProcessServer, tmp_path: Path) -> None:
    script = "trap 'echo bye; exit 7' TERM; echo >ready; while :; do sleep 0.05; done"
    report = server.run(command(script, tmp_path), lambda: "stop" if (tmp_path / "ready").exists() else None)
    assert (report.stopped, report.exit_code) == (True, 7)
    assert report.head.endswith("bye\n")


@pytest.mark.parametrize(("word", "grace_ms"), [("now", 60_000), ("stop", 100)])
def test_what_ignores_the_request_is_killed(server: ProcessServer, tmp_path: Path, word: str, grace_ms: int) -> None:
    script = "trap '' TERM; echo >ready; while :; do sleep 0.05; done"
    report = server.run(
        command(script, tmp_path, grace_ms=grace_ms), lambda: word if (tmp_path / "ready").exists() else None
    )
    assert (report.stopped, report.exit_code, report.signal) == (True, None, signal.SIGKILL)


def test_a_program_that_signals_its_group_does_not_reach_santiago(server: ProcessServer, tmp_path: Path) -> None:
    report = server.run(command("kill -TERM 0; sleep 9001", tmp_path))
    assert report.signal == signal.SIGTERM
    assert server.run(command("echo alive", tmp_path)).head == "alive\n"


def test_a_program_that_cannot_start_says_why(server: ProcessServer, tmp_path: Path) -> None:
    for program, number in (("/no/such/program", errno.ENOENT), ("/etc", errno.EACCES), ("/etc/passwd", errno.EACCES)):
        report = server.run(Command(argv=(program,), cwd=str(tmp_path), env={}, timeout_ms=60_000))
        assert (report.exit_code, report.errno) == (None, number)
        assert program in report.error
    assert server.run(command("true", tmp_path / "gone")).errno == errno.ENOENT
    assert server.run(command("true", tmp_path, stdin=str(tmp_path / "gone"))).errno == errno.ENOENT
    report = server.run(command("touch ran", tmp_path, log=str(tmp_path / "gone" / "log")))
    assert (report.exit_code, report.errno) == (None, errno.EIO)
    assert "its log cannot be written" in report.error
    assert not (tmp_path / "ran").exists()


@each(
    ("more", "says"),
    [
        ({"argv": ("/bin/echo", "a\0b")}, "an argument contains a NUL byte"),
        ({"env": {"A": "a\0b"}}, "the environment contains a NUL byte"),
        ({"cwd": "/tmp\0"}, "the folder contains a NUL byte"),
        ({"env": {"A=B": "c"}}, "illegal environment variable name"),
    ],
)
def test_what_no_system_could_start_is_one_clear_error(server: ProcessServer, more: dict[str, Any], says: str) -> None:
    fields: dict[str, Any] = {"argv": ("/bin/echo",), "cwd": "/", "env": {}, "timeout_ms": 60_000, **more}
    report = server.run(Command(**fields))
    assert (report.exit_code, report.signal, report.errno) == (None, None, 0)
    assert report.error == f"cannot be started: {says}"


def test_a_log_grows_line_by_line_while_the_program_runs(server: ProcessServer, tmp_path: Path) -> None:
    log = tmp_path / "log"
    seen: list[bytes] = []

    def watch() -> None:
        if log.exists() and log.read_bytes().endswith(b"first line\n") and not seen:
            seen.append(log.read_bytes())
            (tmp_path / "go").touch()

    script = "echo first line; while [ ! -e go ]; do sleep 0.05; done; echo last"
    report = server.run(command(script, tmp_path, log=str(log), secrets=("elephants-never",)), watch)
    assert (report.exit_code, seen, log.read_bytes()) == (0, [b"first line\n"], b"first line\nlast\n")


@pytest.mark.parametrize(("lines", "dropped"), [(40_000, 0), (60_000, 60_000 * 10 - 401_000)])
def test_a_log_outgrows_memory_and_says_so(server: ProcessServer, tmp_path: Path, lines: int, dropped: int) -> None:
    log = tmp_path / "log"
    report = server.run(command(f"seq -f %09.0f {lines}", tmp_path, log=str(log), keep=1000, log_keep=400_000))
    assert (report.total, report.dropped) == (lines * 10, lines * 10 - 2000)
    assert report.log_dropped == dropped
    written = log.read_bytes()
    numbers = b"".join(b"%09d\n" % number for number in range(1, lines + 1))
    if not dropped:
        assert written == numbers
    else:
        assert written == numbers[:400_000] + f"\n… {dropped} bytes dropped …\n".encode() + numbers[-1000:]


def test_a_flood_of_two_gigabytes_costs_no_memory(tmp_path: Path) -> None:
    server = start_server()
    try:
        pages = int(Path(f"/proc/{server.pid}/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + 64 * 2**20
        resource.prlimit(server.pid, resource.RLIMIT_AS, (limit, limit))
        report = server.run(
            command("echo first; head -c 2000000000 /dev/zero; echo last", tmp_path, log=str(tmp_path / "log"))
        )
    finally:
        server.close()
    assert (report.exit_code, report.total) == (0, 2_000_000_011)
    assert report.head.startswith("first\n")
    assert report.tail.endswith("last\n")
    assert report.dropped == report.total - 2 * 64 * 1024
    assert (tmp_path / "log").stat().st_size < 200_000


def test_a_program_that_prints_too_much_is_stopped(server: ProcessServer, tmp_path: Path) -> None:
    report = server.run(command("yes", tmp_path, most=10_000_000, grace_ms=100))
    assert report.flooded
    assert report.exit_code is None


def test_many_programs_run_side_by_side(server: ProcessServer, tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        reports = list(pool.map(lambda number: server.run(command(f"echo {number}", tmp_path)), range(24)))
    assert [report.head for report in reports] == [f"{number}\n" for number in range(24)]


def test_when_santiago_is_killed_the_tree_dies(tmp_path: Path) -> None:
    mark = new_mark()
    source = (
        "import sys; from pathlib import Path\n"
        "from santiago.process.server import ProcessServer\nfrom tests.process.serving import HOSTILE, command, marked\n"
        "mark = sys.argv[2]; told = []\n"
        "def ready():\n"
        "    if len(marked(mark, b'sleep\\x00900')) == 6 and not told: told.append(print('ready', flush=True))\n"
        "ProcessServer().run(command(HOSTILE, Path(sys.argv[1]), mark), ready)\n"
    )
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    with subprocess.Popen(
        [sys.executable, "-c", source, str(tmp_path), mark], env=env, stdout=subprocess.PIPE
    ) as coordinator:
        assert coordinator.stdout is not None
        assert select.select([coordinator.stdout], [], [], 60)[0]
        tree = marked(mark)
        assert len(tree) >= 6
        coordinator.kill()
    assert await_end(tree)
    assert marked(mark) == []


SUPERVISOR = "echo $PPID"


def test_a_supervisor_whose_program_left_nothing_serves_the_next_one(server: ProcessServer, tmp_path: Path) -> None:
    first, second = (server.run(command(f"{SUPERVISOR}; exit {code}", tmp_path)) for code in (3, 4))
    assert (first.exit_code, second.exit_code) == (3, 4)
    assert first.head == second.head


@pytest.mark.parametrize("script", ["sleep 900 & ", "kill -SEGV $$", "exec sleep 900"])
def test_a_supervisor_that_saw_trouble_is_never_used_again(server: ProcessServer, tmp_path: Path, script: str) -> None:
    troubled = server.run(command(f"{SUPERVISOR}; {script}", tmp_path, timeout_ms=300, grace_ms=100))
    after = server.run(command(SUPERVISOR, tmp_path))
    assert not troubled.calm
    assert after.head != troubled.head


def test_a_late_word_reaches_nobody_else(
    server: ProcessServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, has_news = tmp_path / "told", serving._has_news
    connections: list[socket.socket] = []

    def watched(connection: socket.socket, milliseconds: int) -> bool:
        connections.append(connection)
        return has_news(connection, milliseconds)

    def stopped() -> str:
        told.touch()
        assert has_news(connections[-1], 60_000)  # the report is there already
        return "stop"

    monkeypatch.setattr(serving, "_has_news", watched)
    first = server.run(command(f"{SUPERVISOR}; until test -e {told}; do :; done", tmp_path), stopped)
    second = server.run(command(SUPERVISOR, tmp_path))
    assert (first.stopped, second.stopped, second.exit_code) == (False, False, 0)
    assert second.head != first.head


def test_a_supervisor_that_was_killed_or_whose_limits_were_changed_at_rest_is_replaced(
    server: ProcessServer, tmp_path: Path
) -> None:
    resting = int(server.run(command(SUPERVISOR, tmp_path)).head)
    os.kill(resting, signal.SIGKILL)
    assert await_end([resting])
    report = server.run(command(SUPERVISOR, tmp_path))
    assert (report.exit_code, report.head.strip() != str(resting)) == (0, True)
    resource.prlimit(int(report.head), resource.RLIMIT_NOFILE, (16, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    assert server.run(command(SUPERVISOR, tmp_path)).head != report.head


def test_a_server_that_was_stopped_from_outside_goes_on_and_supervisors_at_rest_end_with_it(tmp_path: Path) -> None:
    server = start_server()
    os.kill(server.pid, signal.SIGSTOP)
    resting = int(server.run(command(SUPERVISOR, tmp_path)).head)
    os.kill(server.pid, signal.SIGSTOP)
    assert server.close()
    assert await_end([resting])


TRACE = "import ctypes, os, time; ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0); time.sleep(900)"


@each("script", ["kill -STOP $PPID; exec sleep 900", f"trap '' TERM; exec {sys.executable} -c '{TRACE}'"])
def test_a_program_that_stops_its_supervisor_outlives_neither_limit_nor_grace(tmp_path: Path, script: str) -> None:
    server, mark = start_server(), new_mark()
    report = server.run(command(script, tmp_path, mark, timeout_ms=1000, grace_ms=100))
    assert (report.timed_out, report.signal, report.error) == (True, signal.SIGKILL, "")
    assert marked(mark) == []
    assert server.close()


@each(("hangs", "ended"), [(False, (True, False, "")), (True, (False, False, "the supervisor was killed"))])
def test_a_program_that_stops_its_supervisor_is_stopped_all_the_same_and_a_supervisor_that_hangs_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hangs: bool, ended: tuple[bool, bool, str]
) -> None:
    server, mark, pipe = start_server(), new_mark(), tmp_path / "pipe"
    os.mkfifo(pipe)
    looks = iter([None])

    def stopped() -> str:
        for _ in looks:
            pipe.read_text()
        return "now"

    server.run(
        command("true", tmp_path)
    )  # so that no supervisor must begin within the short patience, and nobody sweep
    if hangs:
        sweep = ProcessServer._sweep

        def sweep_with_patience(server: ProcessServer) -> None:
            monkeypatch.undo()
            sweep(server)

        monkeypatch.setattr(serving, "PATIENCE_MS", 200)
        monkeypatch.setattr(tree, "kill_below", lambda _: None)
        monkeypatch.setattr(ProcessServer, "_sweep", sweep_with_patience)
    script = f"kill -STOP $PPID; echo > {pipe}; exec sleep 900"
    report = server.run(command(script, tmp_path, mark, grace_ms=100), stopped)
    assert (report.stopped, report.timed_out, report.error) == ended
    assert marked(mark) == []
    assert server.close()


def test_how_long_a_program_went_on_is_known_although_nobody_looked(server: ProcessServer, tmp_path: Path) -> None:
    pipe, looks = tmp_path / "pipe", list[int]()
    os.mkfifo(pipe)

    def stopped() -> None:
        looks.append(time.monotonic_ns() // 1_000_000)
        if len(looks) == 3:
            assert server.worked(looks[0], looks[2]) > 0
            pipe.write_text("go\n")

    before = time.monotonic_ns() // 1_000_000
    report = server.run(command(f"read _ < {pipe}", tmp_path), stopped)
    much_later = looks[-1] + 3_600_000
    assert 0 < server.worked(looks[0], much_later) <= server.worked(before, much_later)
    assert abs(server.worked(before, much_later) - report.ms) <= 1


def test_a_server_that_does_not_go_on_is_an_error_and_no_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server, send = start_server(), tree.send
    os.kill(server.pid, signal.SIGSTOP)
    monkeypatch.setattr(serving, "PATIENCE_MS", 200)
    monkeypatch.setattr(tree, "send", lambda pids, number: None if number == signal.SIGCONT else send(pids, number))
    with pytest.raises(SantiagoError, match="stopped from outside"):
        server.run(command("true", tmp_path))
    assert not server.close()


def test_programs_do_not_inherit_that_a_signal_is_ignored(server: ProcessServer, tmp_path: Path) -> None:
    ignored = int(server.run(command("grep SigIgn /proc/self/status", tmp_path)).head.split()[1], 16)
    mine = int(Path("/proc/self/status").read_text().partition("SigIgn:")[2].split()[0], 16)
    asked = (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)
    assert [one for one in asked if (ignored & ~mine) >> (one - 1) & 1] == []


def test_nobody_else_gets_at_a_supervisors_memory_or_files(server: ProcessServer, tmp_path: Path) -> None:
    """The system gives the files of a process that is shielded to the super-user, whoever's it is."""
    if os.getuid() == 0:
        pytest.skip("the super-user gets at everything")
    assert server.run(command("stat -c %u /proc/$PPID/mem", tmp_path)).head.strip() == "0"
