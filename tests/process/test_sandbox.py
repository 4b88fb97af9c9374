"""Escapes from the sandbox (P17, G15): each is tried for real, from inside, and none succeeds."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from santiago.contract.errors import Kind, SantiagoError
from santiago.process import landlock, sandbox
from santiago.process.command import Command, Report
from santiago.process.sandbox import Landlock, Sandbox, detect
from santiago.process.server import ProcessServer
from tests.process.serving import HOSTILE, MARK, marked, new_mark

ROOT = Path(__file__).parents[2]
PRIVATE = (".ssh/id_rsa", ".aws/credentials", ".cargo/credentials.toml", ".npmrc", "notes")


def bubblewrap_works() -> bool:
    """Ask the program itself, so that a mistake in santiago's own probe fails tests instead of skipping them."""
    program = shutil.which("bwrap")
    options = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-pid", "--unshare-net")
    return bool(program) and subprocess.run([str(program), *options, "true"], capture_output=True).returncode == 0


needs_bubblewrap = pytest.mark.skipif(not bubblewrap_works(), reason="bubblewrap is missing or does not work here")


def namespaces_work() -> bool:
    """Ask the system's own tool, for the same reason."""
    tool = shutil.which("unshare")
    options = ("--user", "--map-root-user", "--mount", "--pid", "--fork", "--net", "--ipc", "--mount-proc")
    return bool(tool) and subprocess.run([str(tool), *options, "true"], capture_output=True).returncode == 0


needs_namespaces = pytest.mark.skipif(not namespaces_work(), reason="this kernel gives no namespaces to us")
KINDS = [pytest.param("bubblewrap", marks=needs_bubblewrap), pytest.param("namespaces", marks=needs_namespaces)]
needs_landlock = pytest.mark.skipif(landlock.abi() == 0, reason="this kernel has no Landlock")


@pytest.fixture
def home() -> Iterator[Path]:
    """A home folder with what nobody may see, and a toolchain that everybody needs; not below /tmp, which is hidden anyway."""
    with tempfile.TemporaryDirectory(prefix=".home-", dir=ROOT) as folder:
        home = Path(folder, "me")
        for name in PRIVATE:
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text("PRIVATE")
        (home / ".local/bin").mkdir(parents=True)
        (home / ".local/bin/mytool").write_text("#!/bin/sh\necho from the toolchain\n")
        (home / ".local/bin/mytool").chmod(0o755)
        yield home


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def found(kind: str, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """Return a fence of this kind, as it is found where no stronger one is."""
    if kind != "bubblewrap":
        monkeypatch.setattr(sandbox, "_bubblewrap", lambda _: None)
    if kind not in ("bubblewrap", "namespaces"):
        monkeypatch.setattr(sandbox, "_namespaces", lambda _: None)
    box = detect("off" if kind == "none" else "auto", environment)
    assert box.kind == kind
    return box


@pytest.fixture(params=KINDS)
def inside(
    server: ProcessServer, home: Path, work: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Report]:
    """Run a script in a file system of its own with only the work folder writable."""
    environment = {**os.environ, "HOME": str(home), "PATH": f"{home}/.local/bin:{os.environ['PATH']}"}
    box = found(request.param, environment, monkeypatch)

    def run(script: str, **more: object) -> Report:
        env = {name: environment[name] for name in ("HOME", "PATH")}
        plain = Command(argv=("/bin/sh", "-c", script), cwd=str(work), env=env, timeout_ms=60_000)
        stopped = more.pop("stopped", lambda: None)
        return server.run(box.wrap(plain, **{"writable": (str(work),), **more}), stopped)  # type: ignore[arg-type]

    return run


@pytest.fixture
def listener() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def test_only_the_work_folder_can_be_written(inside: Callable[..., Report], work: Path, tmp_path: Path) -> None:
    (tmp_path / "repo/.git").mkdir(parents=True)
    (tmp_path / "repo/.git/config").write_text("[core]\n")
    repo = str(tmp_path / "repo")
    assert inside("echo x >mine && cat mine").head == "x\n"
    of_repo = [f"{repo}/{name}" for name in (".git/config", ".git/hooks-new", "new")]
    for target in (*of_repo, "/etc/passwd", "/usr/bin/planted", "/planted", f"{sys.prefix}/planted"):
        assert inside(f"echo x >>{target}", readonly=(repo,)).exit_code != 0
    assert inside(f"rm -rf {repo}/.git; mv {repo} {repo}2; ln -s / {repo}/l", readonly=(repo,)).exit_code != 0
    assert (tmp_path / "repo/.git/config").read_text() == "[core]\n"
    assert [path.name for path in Path(repo).iterdir()] == [".git"]


def test_mounts_cannot_be_undone(inside: Callable[..., Report], home: Path) -> None:
    mounts = ("mount -o remount,rw /", f"umount {home}", "umount -l /etc", "mount -t tmpfs x /usr")
    for attempt in (*mounts, "chroot / true", "mknod d b 8 0"):
        assert inside(attempt).exit_code != 0, attempt


def test_the_home_folder_is_empty_but_for_toolchains(inside: Callable[..., Report], home: Path) -> None:
    for name in PRIVATE:
        assert inside(f"cat ~/{name} {home}/{name}").exit_code == 1
    assert inside("mytool").head == "from the toolchain\n"
    assert inside("echo x >~/cache && cat ~/cache").head == "x\n"
    assert not (home / "cache").exists()


def test_what_the_caller_hides_is_gone_and_the_inner_word_counts(inside: Callable[..., Report], tmp_path: Path) -> None:
    plan = tmp_path / "repo/.santiago/run/plan"
    plan.mkdir(parents=True)
    (plan / "plan.json").write_text("{}")
    (plan.parent / "progress.ndjson").write_text("log")
    repo, out = str(tmp_path / "repo"), str(plan.parent)
    fence = {"readonly": (repo, str(plan)), "hidden": (out,)}
    assert inside(f"ls {out}", **fence).head == "plan\n"
    assert inside(f"cat {plan}/plan.json", **fence).head == "{}"
    assert inside(f"cat {out}/progress.ndjson", **fence).exit_code == 1
    assert inside(f"echo x >{plan}/plan.json", **fence).exit_code != 0
    inside(f"echo forged >{out}/progress.ndjson", **fence)
    assert (plan.parent / "progress.ndjson").read_text() == "log"


def test_other_processes_are_neither_seen_nor_reached(inside: Callable[..., Report]) -> None:
    me = os.getpid()
    assert inside("ls -d /proc/[0-9]* | wc -l").head.strip() in {"3", "4", "5"}
    assert inside("cat /proc/*/environ | tr '\\0' '\\n' | grep -c ^PYTEST_CURRENT_TEST").head.strip() == "0"
    with subprocess.Popen(["sleep", "600"]) as victim:
        inside(f"kill -9 {victim.pid} {me} $PPID -1; true")
        assert victim.poll() is None
        victim.kill()


def test_checks_have_no_network_but_their_own_loopback(inside: Callable[..., Report], listener: int) -> None:
    reach = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5)"
    own = "import socket; s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname(), 5); print('own')"
    python = sys.executable
    assert inside(f'{python} -c "{reach}" {listener}', network=False).exit_code == 1
    assert inside(f'{python} -c "{reach}" {listener}', network=True).exit_code == 0
    assert inside(f'{python} -c "{own}"', network=False).head == "own\n"


def test_sockets_of_the_system_are_not_reachable_and_temporary_files_are_private_or_where_they_should_be(
    inside: Callable[..., Report], tmp_path: Path
) -> None:
    assert inside("ls -A /run /var/tmp").head.split() in ([], ["/run:", "/var/tmp:"])
    assert inside("echo $TMPDIR; ls -A /tmp | grep -c planted").head.split() == ["/tmp", "0"]
    given = tmp_path / "given"
    given.mkdir()
    assert inside('echo x >"$TMPDIR/file"', temporary=str(given)).exit_code == 0
    assert (given / "file").read_text() == "x\n"


def test_a_sandboxed_tree_gets_its_grace_a_hostile_one_stays_in(inside: Callable[..., Report], work: Path) -> None:
    script = "trap 'echo bye; exit 7' TERM; echo >ready; while :; do sleep 0.05; done"
    report = inside(script, stopped=lambda: "stop" if (work / "ready").exists() else None)
    assert (report.stopped, report.exit_code) == (True, 7)
    assert report.head.endswith("bye\n")
    mark = new_mark()
    hostile = f"export {MARK}={mark}; {HOSTILE}"
    assert inside(hostile, stopped=lambda: "now" if len(marked(mark, b"sleep\x00900")) == 6 else None).stopped
    assert marked(mark) == []


AS_A_USER = """
import os, subprocess, sys
sys.path.insert(0, sys.argv[1])
from santiago.process.command import Command
from santiago.process.place import Dependency
from santiago.process.sandbox import detect
if sys.argv[2] == "namespaces":
    os.environ["PATH"] = "/nowhere"
box = detect("auto")
script = "PATH=/usr/bin:/bin; id -u >uid; echo x >/etc/santiago-x"
plain = Command(argv=("/bin/sh", "-c", script), cwd=os.getcwd(), env={}, timeout_ms=1)
print(box.kind, subprocess.run(box.wrap(plain, writable=(os.getcwd(),)).argv).returncode)
os.makedirs("repo/.venv")
ground = box.ground("repo", dependencies=[Dependency(name=".venv", source=os.path.realpath("repo/.venv"))], over="over")
print(ground.over)
"""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("setpriv"), reason="only the superuser can become somebody else"
)
def test_it_works_for_an_ordinary_user_too(kind: str) -> None:
    source, python = str(Path(sandbox.__file__).parents[2]), "/usr/bin/python3"
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        os.chown(folder, 65534, 65534)
        become = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", python]
        modern = "import sys; sys.exit(sys.version_info < (3, 11) or not __import__('os').access(sys.argv[1], 4))"
        if not Path(python).exists() or subprocess.run([*become, "-c", modern, source], cwd=folder).returncode:
            pytest.skip("the system has no Python that an ordinary user could run this with")
        env = {"HOME": folder, "PATH": f"/root/.cargo/bin:{os.environ['PATH']}"}
        words = [*become, "-c", AS_A_USER, source, kind]
        ran = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True)
        if ran.stdout.split()[:1] == ["landlock"]:
            pytest.skip("user namespaces are closed to ordinary users here")
        assert ran.stdout.split() == [kind, "2", "over"], ran.stderr
        assert Path(folder, "uid").read_text() == "65534\n"


def test_off_is_off_and_says_so_and_a_folder_that_is_gone_is_said_before_anything_runs(tmp_path: Path) -> None:
    assert (detect("off").kind, detect("off").name) == ("none", "none")
    plain = Command(argv=("true",), cwd="/", env={}, timeout_ms=1)
    assert detect("off").wrap(plain) == plain
    with pytest.raises(SantiagoError, match="was removed"):
        Sandbox().wrap(plain, writable=(str(tmp_path / "gone"),))


def test_a_required_sandbox_blocks_a_broken_one_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_namespaces", lambda _: None)
    monkeypatch.setattr(sandbox, "_landlock", lambda: None)
    with pytest.raises(SantiagoError, match="no sandbox works") as caught:
        detect("required", {"PATH": "/nowhere"})
    assert caught.value.kind is Kind.BLOCKED
    assert detect("auto", {"PATH": "/nowhere"}).kind == "none"
    (tmp_path / "bwrap").write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n')
    (tmp_path / "bwrap").chmod(0o755)
    assert detect("auto", {"PATH": f"{tmp_path}:/usr/bin:/bin"}).kind == "none"


@needs_namespaces
def test_without_bubblewrap_the_kernels_namespaces_are_taken_and_named() -> None:
    box = detect("required", {"PATH": "/nowhere"})
    assert (box.kind, box.name) == ("namespaces", "namespaces")


@needs_landlock
def test_the_kernels_fence_limits_writing(server: ProcessServer, work: Path, tmp_path: Path) -> None:
    (tmp_path / "temporary").mkdir()
    script = f'echo x >mine && echo x >"$TMPDIR/t" && ! echo x >{tmp_path}/outside && ! echo x >>/etc/passwd && mkdir "$GOCACHE"'
    plain = Command(argv=("/bin/sh", "-c", script), cwd=str(work), env={"PATH": os.environ["PATH"]}, timeout_ms=60_000)
    fenced = Landlock().wrap(plain, writable=(str(work),), temporary=str(tmp_path / "temporary"))
    assert server.run(fenced).exit_code == 0
    assert not (tmp_path / "outside").exists()


# The kernel's own fence: rights, other processes, TCP and sockets are closed as far as it can, and the rest is named.

needs_network_rules = pytest.mark.skipif(landlock.abi() < 4, reason="this kernel's fence knows no network")
needs_scopes = pytest.mark.skipif(landlock.abi() < 6, reason="this kernel's fence knows no scopes")
CONNECTS = "import socket, sys\nsocket.socket(getattr(socket, sys.argv[1])).connect(eval(sys.argv[2]))"


@pytest.fixture(params=["landlock"])
def fenced(
    server: ProcessServer, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Report]:
    environment = {"PATH": os.environ["PATH"], "HOME": "/nowhere"}
    box = found(request.param, environment, monkeypatch)

    def run(*argv: str, network: bool = False) -> Report:
        plain = Command(argv=argv, cwd=str(tmp_path), env=environment, timeout_ms=60_000)
        return server.run(box.wrap(plain, writable=(str(tmp_path),), network=network))

    return run


@pytest.mark.parametrize("fenced", [*KINDS, pytest.param("landlock", marks=needs_landlock)], indirect=True)
def test_a_program_inside_has_no_right_beyond_its_users_and_gains_none(fenced: Callable[..., Report]) -> None:
    """Also the superuser's programs, which would pass many a fence by their rights."""
    told = fenced("sh", "-c", "sh -c 'cat /proc/self/status'")  # a superuser's next program would have all rights again
    status = dict(line.split(":", 1) for line in told.head.splitlines())
    assert {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {0}
    assert status["NoNewPrivs"].strip() == "1"


@pytest.mark.parametrize("fenced", [*KINDS, pytest.param("landlock", marks=needs_landlock)], indirect=True)
@pytest.mark.parametrize("network", [False, True])
def test_the_kernels_settings_and_others_terminals_are_closed(fenced: Callable[..., Report], network: bool) -> None:
    """P17: also to the superuser's programs, which may open them because of their user id alone. Nothing is written."""
    kernel = (
        "sys/kernel/core_pattern",
        "sys/vm/drop_caches",
        "sysrq-trigger",
        "irq/default_smp_affinity",
        "bus/pci/*/*",
    )
    master, slave = os.openpty()
    terminal = os.ttyname(slave)
    for path in (*(f"/proc/{name}" for name in kernel), terminal, "/dev/tty", "/dev/console"):
        for redirect in (">>", *(["<"] if path.startswith("/dev") else [])):
            told = fenced(
                "sh",
                "-c",
                f"for one in {path}; do [ -e $one ] && (: {redirect}$one) 2>/dev/null && exit 7; done; exit 0",
                network=network,
            )
            assert told.exit_code == 0, (path, redirect)
    os.close(master)
    os.close(slave)


@pytest.mark.parametrize("fenced", [*KINDS, pytest.param("landlock", marks=needs_landlock)], indirect=True)
@pytest.mark.parametrize("name", ["environ", "mem", "maps", "fd/0", "root/etc/hostname"])
def test_santiagos_own_process_cannot_be_looked_into(fenced: Callable[..., Report], name: str) -> None:
    """Its environment holds keys that the agent's profile does not name."""
    assert fenced("head", "-c", "1", f"/proc/{os.getpid()}/{name}").exit_code == 1


@needs_network_rules
def test_checks_have_no_tcp_and_agents_have(fenced: Callable[..., Report], listener: int) -> None:
    connecting = (sys.executable, "-c", CONNECTS, "AF_INET", f"('127.0.0.1', {listener})")
    assert fenced(*connecting, network=True).exit_code == 0
    refused = fenced(*connecting)
    assert (refused.exit_code, "PermissionError" in refused.head) == (1, True)
    listening = (sys.executable, "-c", "import socket; socket.create_server(('127.0.0.1', 0))")
    assert fenced(*listening, network=True).exit_code == 0
    assert "PermissionError" in fenced(*listening).head


@needs_scopes
@pytest.mark.parametrize("network", [False, True])
def test_sockets_without_a_path_are_not_reachable(fenced: Callable[..., Report], network: bool) -> None:
    name = f"\0santiago-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(name)
        listening.listen()
        refused = fenced(sys.executable, "-c", CONNECTS, "AF_UNIX", repr(name), network=network)
    assert (refused.exit_code, "PermissionError" in refused.head) == (1, True)


@needs_scopes
def test_other_processes_get_no_signal(fenced: Callable[..., Report]) -> None:
    assert fenced("kill", "-0", str(os.getpid())).exit_code != 0


def test_what_it_does_not_hold_is_said_also_by_its_name_in_header_and_log(monkeypatch: pytest.MonkeyPatch) -> None:
    for version, more in ((1, {"TCP of checks", "abstract sockets", "signals"}), (4, {"abstract sockets"}), (7, set())):
        said = landlock.not_held(version)
        assert said[:1] == ("reading",)
        assert more <= set(said)
        assert ("TCP of checks" in said) == (version < 4)
    if landlock.abi():
        name = found("landlock", {"PATH": "/nowhere"}, monkeypatch).name
        assert name.startswith("landlock")
        assert f"not fenced: {', '.join(landlock.not_held(landlock.abi()))}" in name
