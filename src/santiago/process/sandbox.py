"""The strongest fence that works here: bubblewrap's namespaces, else the kernel's Landlock, else none; found by trying.

Inside bubblewrap the system is read-only, home folders, sockets, other processes and everything that the caller hides
are not there, and only the given folders can be written. Of two statements about a path the inner one counts.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.process import landlock, places
from santiago.process.environment import OWN_TEMPORARY

if TYPE_CHECKING:
    from santiago.process.command import Command

Mode = Literal["auto", "required", "off"]
PROBE_SECONDS = 20
SandboxKind = Literal["bubblewrap", "landlock", "none"]
_NEEDED_OF_RUN = (
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager/resolv.conf",
    "/run/current-system",
    "/run/wrappers",
)
"""What is needed of /run: how names are resolved, and where one distribution keeps its programs."""
_CACHES = {
    "XDG_CACHE_HOME": "cache",
    "GOCACHE": "go",
    "PIP_CACHE_DIR": "pip",
    "UV_CACHE_DIR": "uv",
    "npm_config_cache": "npm",
}


@dataclass(frozen=True)
class Fence:
    """What one command may see and do."""

    writable: tuple[str, ...]
    readonly: tuple[str, ...]
    hidden: tuple[str, ...]
    network: bool
    temporary: str | None


@dataclass(frozen=True)
class Sandbox:
    """No fence at all; the other two are its kinds."""

    kind: SandboxKind = "none"
    name: str = "none"
    """For the run's header and its log."""

    def wrap(
        self,
        command: Command,
        *,
        writable: tuple[str, ...] = (),
        readonly: tuple[str, ...] = (),
        hidden: tuple[str, ...] = (),
        network: bool = False,
        temporary: str | None = None,
    ) -> Command:
        """Return the command inside the fence; `temporary` is a folder of its own for temporary files."""
        for folder in (*writable, *([temporary] if temporary else [])):
            if not places.is_there(folder):
                raise SantiagoError(Kind.TRANSIENT, "the folder is gone", where=folder, reason=Reason.IO_ERROR)
        return self._fenced(command, Fence(writable, readonly, hidden, network, temporary))

    def _fenced(self, command: Command, fence: Fence) -> Command:
        return replace(command, env={**command.env, "TMPDIR": fence.temporary}) if fence.temporary else command

    def temporary_seen(self, temporary: str) -> str:
        """Return the path by which a command inside the fence knows its temporary folder."""
        return temporary


@dataclass(frozen=True)
class Landlock(Sandbox):
    """Writing is limited to the given folders. Nothing is hidden, and the network stays."""

    kind: SandboxKind = "landlock"

    def _fenced(self, command: Command, fence: Fence) -> Command:
        if fence.temporary is None:
            return replace(command, landlock=tuple(map(os.path.realpath, fence.writable)))
        # The home folder cannot be written here, so tools get their caches elsewhere.
        caches = {name: str(Path(fence.temporary, folder)) for name, folder in _CACHES.items()}
        allowed = tuple(map(os.path.realpath, (*fence.writable, fence.temporary)))
        return replace(command, landlock=allowed, env={**command.env, **caches, "TMPDIR": fence.temporary})


@dataclass(frozen=True)
class Bubblewrap(Sandbox):
    """Namespaces of its own for files, processes and, where asked for, the network."""

    kind: SandboxKind = "bubblewrap"
    program: str = "bwrap"
    environment: dict[str, str] = field(default_factory=dict)
    """Where PATH and HOME come from that decide which toolchains are shown."""

    def temporary_seen(self, temporary: str) -> str:
        return OWN_TEMPORARY

    @cached_property
    def _surroundings(self) -> dict[str, str]:
        """What is the same for every command, by path: what is hidden and what is shown although it lies there."""
        roots = places.hidden_roots(self.environment)
        layers = dict.fromkeys((*roots, *places.closed_files()), "hide")
        shown = (
            *places.toolchains(self.environment, roots),
            *(path for path in _NEEDED_OF_RUN if places.is_there(path)),
        )
        return {**layers, **{os.path.realpath(path): "show" for path in shown}}

    def _fenced(self, command: Command, fence: Fence) -> Command:
        layers = dict(self._surroundings)
        for paths, how in ((fence.hidden, "hide"), (fence.readonly, "show"), (fence.writable, "open")):
            layers.update({os.path.realpath(path): how for path in paths})
        temporary = ["--bind", fence.temporary] if fence.temporary else ["--tmpfs"]
        mounts = [*temporary, OWN_TEMPORARY]
        for path in sorted(layers, key=lambda path: (path.count("/"), path)):
            mounts += _mount(path, layers[path])
        argv = (
            *(self.program, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
            *(*mounts, *_links((*fence.readonly, *fence.writable, command.cwd), layers)),
            *("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
            *(() if fence.network else ("--unshare-net",)),
            *("--cap-drop", "ALL", "--die-with-parent", "--chdir", command.cwd, "--", *command.argv),
        )
        return replace(command, argv=argv, env={**command.env, "TMPDIR": OWN_TEMPORARY})


def detect(mode: Mode, environment: dict[str, str] | None = None) -> Sandbox:
    """Return the strongest fence that works here; raise where one is required and none works."""
    if mode == "off":
        return Sandbox()
    found = _bubblewrap(dict(os.environ) if environment is None else environment) or _landlock()
    if found is None and mode == "required":
        raise SantiagoError(
            Kind.BLOCKED,
            "no sandbox works here, and the policy requires one",
            hint="Install bubblewrap (Debian: apt-get install bubblewrap) and allow user namespaces, or use --sandbox off.",
            reason=Reason.NEEDS_USER_CONFIRMATION,
        )
    return found or Sandbox()


def _bubblewrap(environment: dict[str, str]) -> Bubblewrap | None:
    from santiago.process.command import Command

    program = shutil.which("bwrap", path=environment.get("PATH"))
    if program is None or not program.startswith("/"):
        return None
    box = Bubblewrap(program=program, environment=environment)
    with tempfile.TemporaryDirectory(prefix="santiago-probe-") as folder:
        # The whole of what is promised is tried at once: write inside, fail outside, own processes, own network.
        script = (
            'echo x >"$1/in" && ! (echo x >/etc/santiago-probe) 2>/dev/null'
            ' && test "$(readlink /proc/self/ns/pid)" != "$2" && test "$(readlink /proc/self/ns/net)" != "$3"'
        )
        spaces = [str(Path("/proc/self/ns", name).readlink()) for name in ("pid", "net")]
        probe = Command(
            argv=("/bin/sh", "-c", script, "probe", folder, *spaces), cwd=folder, env=environment, timeout_ms=1
        )
        wrapped = box.wrap(probe, writable=(folder,))
        if not _runs(list(wrapped.argv), environment) or not Path(folder, "in").exists():
            return None
    version = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=PROBE_SECONDS, check=False)  # noqa: S603
    return replace(box, name=version.stdout.strip() or "bubblewrap")


def _landlock() -> Landlock | None:
    version = landlock.abi()
    if version == 0:
        return None
    source = str(Path(__file__).parents[2])
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from santiago.process.landlock import restrict\n"
        "restrict((sys.argv[2],)); open(sys.argv[2] + '/in', 'w').close()\n"
        "try: open(sys.argv[3] + '/out', 'w')\n"
        "except PermissionError: sys.exit(0)\n"
        "sys.exit(1)"
    )
    with tempfile.TemporaryDirectory(prefix="santiago-probe-") as inner, tempfile.TemporaryDirectory() as outer:
        works = _runs([sys.executable, "-I", "-c", script, source, inner, outer], dict(os.environ))
    return Landlock(name=f"landlock (kernel interface {version})") if works else None


def _runs(argv: list[str], environment: dict[str, str]) -> bool:
    try:
        ran = subprocess.run(  # noqa: S603  # an argument list of our own
            argv, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ran.returncode == 0


def _mount(path: str, how: str) -> list[str]:
    if not places.is_there(path):
        return []
    if how == "show":
        return ["--ro-bind", path, path]
    if how == "open":
        return ["--bind", path, path]
    return ["--tmpfs", path] if places.is_folder(path) else ["--ro-bind", "/dev/null", path]


def _links(paths: tuple[str, ...], layers: dict[str, str]) -> list[str]:
    """Return what keeps paths usable that lead through a symbolic link in a fresh folder, as a home folder is one."""
    found: dict[str, str] = {}
    for path in dict.fromkeys(paths):
        for step in (*reversed(Path(path).parents), Path(path)):
            if step.is_symlink():
                place = str(Path(os.path.realpath(step.parent), step.name))
                if _is_fresh(place, layers):
                    found[place] = os.path.realpath(step)
    return [word for place, real in found.items() for word in ("--symlink", real, place)]


def _is_fresh(place: str, layers: dict[str, str]) -> bool:
    """Tell whether nothing is there but what is put there: the innermost folder around a place is a hidden one."""
    around = next((str(folder) for folder in Path(place).parents if str(folder) in layers), "")
    if len(around) > len(OWN_TEMPORARY) or not places.inside(place, OWN_TEMPORARY):
        return layers.get(around) == "hide"
    return True
