"""However a run comes to rest, it says so by name, leaves nothing working, and tells whoever wants to know (promise 8)."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from santiago.app import notice
from santiago.app.loading import load
from santiago.app.start.held_run import heard, strays_ignored
from santiago.executor.loop import Urgency
from santiago.process.sandbox import detect
from tests.cli.conftest import Done
from tests.cli.greeter import GOOD, PRD, committed, git, looks, make, out_dir, place, says
from tests.cli.santiago import trusted

WORDS = """\
# PRD: Words
### R1: One
**Files:** `S1.txt`

- [ ] one
### R2: Two
**Files:** `S2.txt`

- [ ] two
"""


CHECK = 'test -e "$SANTIAGO_STORY.txt"'
WRITES = 'echo x > "$SANTIAGO_STORY.txt"\n'


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return committed(tmp_path / "repo", {"prd.md": WORDS})


def owning(terminal: int) -> Callable[[], object]:
    return lambda: fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)


class Waiting:
    """An agent that says when it works on S1, and goes on with it when it is told to."""

    def __init__(self, folder: Path) -> None:
        self.begun, self.go, self.script = folder / "begun", folder / "go", folder / "agent.sh"
        os.mkfifo(self.begun)
        os.mkfifo(self.go)
        self.script.write_text(
            f'test "$SANTIAGO_STORY" = S2 || {{ echo > {self.begun}; read _ < {self.go}; }}\n'
            'echo x > "$SANTIAGO_STORY.txt"\n'
        )

    def await_it(self) -> None:
        self.begun.read_text()

    def let_go(self) -> None:
        self.go.write_text("\n")


def await_event(repo: Path, name: str) -> None:
    """Wait until the log of a run that is under way says something; nothing but a defect makes the time pass."""
    deadline = time.monotonic() + 60
    while f'"{name}"' not in (out_dir(repo) / "progress.ndjson").read_text():
        assert time.monotonic() < deadline, name
        time.sleep(0.01)


def running(repo: Path, agent: Path, *more: str, **options: Any) -> subprocess.Popen[str]:
    arguments = ("run", "prd.md", "--agent", f"sh {agent}", "--verify", CHECK, "--sandbox", "off")
    return subprocess.Popen(
        [sys.executable, "-m", "santiago", *trusted(*arguments, "--json", *more)],
        cwd=repo, env={**os.environ, **place(repo)}, text=True,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )  # fmt: skip


def begins(repo: Path, folder: Path, does: str, files: dict[str, str], *more: str) -> subprocess.CompletedProcess[str]:
    for name, text in files.items():
        (repo / name).write_text(text)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "Settings")
    (folder / "agent.sh").write_text(does)
    return says(repo, "run", "prd.md", "--agent", f"sh {folder}/agent.sh", "--sandbox", "off", *more)


def events(process: subprocess.Popen[str]) -> Iterator[dict[str, object]]:
    assert process.stdout is not None
    yield from map(json.loads, process.stdout)


def test_a_set_up_that_fails_for_the_run_blocks_it_and_is_no_bug(repo: Path, tmp_path: Path) -> None:
    spoilt = tmp_path / "spoilt"
    settings = (
        f'[workspace]\nsetup = ["test ! -e {spoilt}"]\n[verification]\nstory_commands = ["sh -c \'test -e S1.txt && touch {spoilt}\'"]\n'
        'run_commands = ["test -e S1.txt && test -d ."]\n'
    )
    files = {"santiago.toml": settings, "prd.md": WORDS.partition("### R2")[0]}
    done = begins(repo, tmp_path, WRITES, files)
    result = json.loads((out_dir(repo) / "result.json").read_bytes())
    assert (done.returncode, result["status"], result["reason"]) == (10, "blocked", "verification_unrunnable")
    assert f"test ! -e {spoilt}" in done.stdout + done.stderr


def test_a_set_up_that_fails_before_the_agent_costs_no_attempt_and_stops_the_run(repo: Path, tmp_path: Path) -> None:
    """Promise 5 counts attempts, and here is none; the next story would meet the same, so it does not begin either."""
    ready = tmp_path / "ready"
    settings = f'[workspace]\nsetup = ["test -e {ready}"]\n[limits]\nstory_max_attempts = 1\nrun_max_attempts = 2\n'
    done = begins(repo, tmp_path, WRITES, {"santiago.toml": settings}, "--verify", CHECK)
    again = says(repo, "resume", "--sandbox", "off")
    assert (done.returncode, again.returncode) == (10, 10)
    assert f"the command `test -e {ready}` of [workspace] setup ended with exit 1" in done.stderr
    assert "santiago run prd.md --new " in done.stderr
    assert f" --agent 'sh {tmp_path}/agent.sh' --verify '{CHECK}'   # or start anew" in done.stderr
    assert not list((out_dir(repo) / "attempts").glob("S2/*"))
    ready.touch()
    resumed = says(repo, "resume", "--sandbox", "off")
    assert (
        resumed.returncode,
        "success  2 done: 2 shown; 0 of 2 criteria shown by a named test   2/2 attempts" in resumed.stderr,
    ) == (0, True), resumed.stderr


def test_when_the_log_cannot_be_written_any_more_no_agent_goes_on_working(repo: Path, tmp_path: Path) -> None:
    agent, ended = tmp_path / "agent.sh", tmp_path / "ended"
    agent.write_text(
        f'if test "$SANTIAGO_STORY" = S1; then until test -e {tmp_path}/go; do sleep 0.05; done; echo x > S1.txt\n'
        f"else touch {tmp_path}/begun; sleep 300; touch {ended}; fi\n"
    )
    with running(repo, agent, "--jobs", "2") as process:
        assert any(one.get("event") == "attempt_started" and one["story_id"] == "S2" for one in events(process))
        log = out_dir(repo) / "progress.ndjson"
        log.rename(log.with_name("moved.ndjson"))
        (tmp_path / "go").touch()
        process.communicate(timeout=60)
    assert process.returncode not in (0, 70)
    assert not ended.exists()


@pytest.mark.parametrize(
    ("number", "code", "key"),
    [(signal.SIGTERM, 143, "a second signal"), (signal.SIGINT, 130, "ctrl-c again"), (signal.SIGHUP, 143, "a second signal")],
)  # fmt: skip
def test_exit_code_and_log_name_the_signal(repo: Path, tmp_path: Path, number: int, code: int, key: str) -> None:
    agent = tmp_path / "agent.sh"
    agent.write_text('until test -e "$SANTIAGO_STORY.txt"; do sleep 0.05; done\n')
    with running(repo, agent) as process:
        assert any(one.get("event") == "attempt_started" for one in events(process))
        process.send_signal(number)
        event = next(one for one in events(process) if one.get("event") == "stop_requested")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == code
    assert event["context"] == {"message": signal.Signals(number).name}
    log = looks(repo, "log").stdout
    assert f"; {key} stops now, which costs an attempt" in log


def test_a_closed_terminal_stops_at_a_safe_boundary_however_often_it_is_said(repo: Path, tmp_path: Path) -> None:
    agent = Waiting(tmp_path)
    terminal, theirs = os.openpty()
    with running(
        repo, agent.script, stdout=theirs, stderr=theirs, start_new_session=True, preexec_fn=owning(theirs)
    ) as process:
        os.close(theirs)
        agent.await_it()
        os.close(terminal)  # the system says it once, a shell would say it again
        await_event(repo, "stop_requested")
        process.send_signal(signal.SIGHUP)
        agent.let_go()
        assert process.wait(60) == 143
    assert load(out_dir(repo)).state.stories["S1"].phase == "running"  # its work waits for its verdict
    assert says(repo, "resume").returncode == 0
    assert [one.attempts for one in load(out_dir(repo)).state.stories.values()] == [1, 1]


def test_a_run_told_to_outlive_its_terminal_goes_on_and_strays_do_not_end_it(repo: Path, tmp_path: Path) -> None:
    agent = Waiting(tmp_path)
    ignoring = partial(signal.signal, signal.SIGHUP, signal.SIG_IGN)
    with running(repo, agent.script, preexec_fn=ignoring) as process:
        agent.await_it()
        for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
            process.send_signal(number)
        agent.let_go()
        process.communicate(timeout=60)
    assert process.returncode == 0


def test_a_quit_stops_at_once_by_name(repo: Path, tmp_path: Path) -> None:
    agent = Waiting(tmp_path)
    with running(repo, agent.script) as process:
        agent.await_it()
        process.send_signal(signal.SIGQUIT)
        said, _ = process.communicate(timeout=60)
    assert (process.returncode, '{"message": "SIGQUIT"}' in said) == (130, True)
    assert "stopping now" in looks(repo, "log").stdout


def test_the_minutes_of_an_attempt_whose_start_was_killed_end_at_its_last_sign(repo: Path, tmp_path: Path) -> None:
    agent = Waiting(tmp_path)
    with running(repo, agent.script) as process:
        agent.await_it()
        process.kill()
    lock = out_dir(repo) / "lock"
    signer, sign = lock.read_text().splitlines()
    lock.write_text(f"{signer}\n{json.dumps({**json.loads(sign), 'steps': {'attempt/S1/1': 234_567}})}\n")
    os.utime(lock, (0, 2**33))  # the wall clock of a machine that woke up in another century
    with subprocess.Popen(
        [sys.executable, "-m", "santiago", "resume"],
        cwd=repo,
        env={**os.environ, **place(repo)},
        stderr=subprocess.PIPE,
    ) as resumed:
        agent.await_it()
        agent.let_go()
        resumed.communicate(timeout=60)
    lines = map(json.loads, (out_dir(repo) / "progress.ndjson").read_text().splitlines())
    first = next(event for event in lines if event["event"] == "attempt_ended")
    assert (resumed.returncode, first["attempt"], first["context"]["agent_ms"]) == (0, 1, 234_567)


def test_that_nobody_can_be_told_is_said_before_the_run_and_by_the_doctor(tmp_path: Path) -> None:
    repo = make(tmp_path / "repo", limits='[notify]\ncommand = "no-such-prog x"\n')
    ran = says(repo, "run", "prd.md", "--trust-commands", "--only", "S2")
    note = "note: [notify] command names no-such-prog, which does not exist"
    assert (ran.returncode, ran.stderr.startswith(note), ran.stderr.count("[notify]")) == (0, True, 1), ran.stderr
    assert "names no-such-prog" in looks(repo, "doctor").stdout


def test_a_start_that_chose_what_waits_for_others_names_the_command_that_takes_these_too(tmp_path: Path) -> None:
    """What `--only` and `--chunks` advise can begin: all that comes before is in it."""
    repo = make(tmp_path / "repo", GOOD)
    nothing = says(repo, "run", "prd.md", "--trust-commands", "--only", "S3", code=0)
    assert "santiago resume --only S1 --only S2 --only S3 " in nothing.stderr
    assert "`--chunks 1..2`" in says(repo, "resume", "--chunks", "2", code=2).stderr
    assert load(out_dir(repo)).state.attempts == 0
    says(repo, "resume", "--only", "S1", code=0)
    again = says(repo, "resume", "--only", "S3", code=0)
    assert "santiago resume --only S2 --only S3 " in again.stderr
    done = says(repo, "resume", "--only", "S2", "--only", "S3", code=0)
    assert load(out_dir(repo)).state.phase == "success", done.stderr


@pytest.mark.parametrize(
    ("script", "limit", "says"),
    [("exit 3", 600, "ended with exit 3"), ("sleep 3600; true", 0.5, "took longer than 0.5 s and was ended")],
)
def test_a_notice_that_fails_or_hangs_is_said_and_over(
    tmp_path: Path, success: Done, script: str, limit: float, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notice, "SECONDS", limit)
    (tmp_path / "santiago.toml").write_text(f'[notify]\ncommand = ["sh", "-c", "{script}"]\n')
    assert notice.Notice(tmp_path).give(load(success.out_dir).state, success.out_dir) == f"[notify] command {says}"


def test_who_wants_to_know_is_told_of_a_success_although_an_agent_breaks_the_settings_meanwhile(tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    repo = make(tmp_path / "repo", limits=f'[notify]\ncommand = ["sh", "-c", "cat > {told}"]\n')
    (repo / "prd.md").write_text(PRD.partition("### R2")[0])
    agent = tmp_path / "agent.sh"
    agent.write_text(f"echo 'no toml' > {repo}/santiago.toml; echo hello > hello.txt\n")
    assert says(repo, "run", "prd.md", "--agent", f"sh {agent}", "--trust-commands").returncode == 0
    said = json.loads(told.read_text())
    assert (said["phase"], said["out_dir"]) == ("success", str(out_dir(repo)))


def test_settings_in_an_agent_s_work_are_never_read_as_the_user_s(tmp_path: Path) -> None:
    """They would take effect outside the sandbox; they are work like any other, until the user takes them over."""
    fence = detect("auto", dict(os.environ))
    if fence.kind == "none":
        pytest.skip("no sandbox works here")
    told, agent = tmp_path / "told", tmp_path / "agent.sh"
    loose = f'[policy]\\nsandbox = "off"\\n[notify]\\ncommand = ["touch", "{told}"]\\n'
    agent.write_text(
        f"printf '{loose}' > santiago.toml; echo hello > hello.txt; echo $SANTIAGO_STORY goodbye > bye.txt\n"
    )
    repo = committed(tmp_path / "repo", {"prd.md": PRD})
    words = ("run", "prd.md", "--agent", f"sh {agent}", "--trust-commands", "--only", "S1")
    assert says(repo, *words).returncode == 0
    assert str(told) in git(repo, "show", f"santiago/{out_dir(repo).name}:santiago.toml")
    resumed = says(repo, "resume", "--only", "S2")
    assert (resumed.returncode, f", sandbox {fence.name}" in resumed.stderr) == (0, True), resumed.stderr
    assert not told.exists()


def test_a_set_up_that_breaks_before_integration_blocks_and_is_no_conflict(repo: Path, tmp_path: Path) -> None:
    """Nothing is lost, and every stop has its name: work that was verified is not blamed for the machine."""
    spoilt, begun, checked = (tmp_path / name for name in ("spoilt", "begun", "checked"))
    files = {
        "santiago.toml": f'[workspace]\nsetup = ["test ! -e {spoilt}"]\n[verification]\nstory_commands = ["sh check.sh $SANTIAGO_STORY"]\n',
        "check.sh": f"test -e $1.txt || exit 1\nif [ $1 = S1 ]; then touch {checked}; else touch {spoilt}; fi\n",
    }
    agent = (
        f"if [ $SANTIAGO_STORY = S1 ]; then wanted={begun}; else touch {begun}; wanted={checked}; fi\n"
        f"until [ -e $wanted ]; do sleep 0.05; done\n{WRITES}"
    )
    done = begins(repo, tmp_path, agent, files, "--jobs", "2", "--keep-going")
    second = json.loads((out_dir(repo) / "result.json").read_bytes())["stories"][1]
    assert (done.returncode, second["reason"]) == (10, "verification_unrunnable"), done.stdout + done.stderr
    assert f"test ! -e {spoilt}" in done.stdout + done.stderr
    assert second["attempts"] == 1


def test_the_first_signal_asks_for_a_stop_and_a_second_one_for_a_stop_at_once() -> None:
    hup, term, key = signal.SIGHUP, signal.SIGTERM, signal.SIGINT
    for sent, at_once in (
        ([hup], False), ([hup, hup], False), ([term, hup], False), ([hup, term], True), ([term, term, hup], True),
        ([key, key], True), ([signal.SIGQUIT], True),
    ):  # fmt: skip
        urgency, came = Urgency(), list[int]()
        before = {number: signal.getsignal(number) for number in sent}
        with heard(urgency, came):
            for number in sent:
                os.kill(os.getpid(), number)
        assert (urgency.asked, urgency.at_once, urgency.signal, came) == (True, at_once, sent[0].name, sent)
        assert {number: signal.getsignal(number) for number in sent} == before


def test_signals_without_a_meaning_end_nothing() -> None:
    with strays_ignored():
        os.kill(os.getpid(), signal.SIGUSR1)
        os.kill(os.getpid(), signal.SIGUSR2)
