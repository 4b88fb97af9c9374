"""The strongest fence that works here: bubblewrap's namespaces, else the kernel's Landlock, else none; found by trying.

Inside bubblewrap the system is read-only, home folders, sockets, other processes and everything that the caller hides
are not there, and only the given folders can be written. A checkout stands where its repository stands, and nothing of
that repository is there but what the checkout holds. Of two statements about a path the inner one counts.
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
from typing import TYPE_CHECKING, Literal, NamedTuple

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.process import landlock, places
from santiago.process.environment import OWN_TEMPORARY
from santiago.process.place import STORES, Ground, Place

if TYPE_CHECKING:
    from collections.abc import Iterable

    from santiago.process.command import Command
    from santiago.process.place import Dependency

Mode = Literal["auto", "required", "off"]
PROBE_SECONDS = 20
SandboxKind = Literal["bubblewrap", "landlock", "none"]
How = Literal["hide", "show", "open"]
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


class Layer(NamedTuple):
    """What stands at a path inside: a folder or file of this machine, or a fresh and empty one in place of it."""

    how: How
    source: str


Layers = dict[str, Layer]


@dataclass(frozen=True)
class Fence:
    """What one command may see and do."""

    place: Place | None
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

    @property
    def stores(self) -> str | None:
        """Below which folder a checkout finds the objects that it borrows; None where they are known by their own paths."""
        return None

    def ground(
        self,
        repo: str,
        *,
        names: Iterable[str] = (),
        stores: Iterable[str] = (),
        dependencies: Iterable[Dependency] = (),
    ) -> Ground:
        """Return how the checkouts of a repository stand in this fence; `names` are other paths that lead to it."""
        real = os.path.realpath(repo)
        return self._grounded(
            Ground(repo=real, names=tuple(names), stores=tuple(stores), dependencies=tuple(dependencies))
        )

    def _grounded(self, ground: Ground) -> Ground:
        return ground

    def wrap(
        self,
        command: Command,
        *,
        place: Place | None = None,
        writable: tuple[str, ...] = (),
        readonly: tuple[str, ...] = (),
        hidden: tuple[str, ...] = (),
        network: bool = False,
        temporary: str | None = None,
    ) -> Command:
        """Return the command inside the fence; `temporary` is a folder of its own for temporary files.

        It can write a place that is given, starts there, and is told the path by which that is known.
        """
        if place is not None:
            command = replace(command, cwd=place.host, env={**command.env, "PWD": place.seen})
        for folder in (*([place.host] if place else []), *writable, *([temporary] if temporary else [])):
            if not places.is_there(folder):
                raise SantiagoError(Kind.TRANSIENT, "the folder is gone", where=folder, reason=Reason.IO_ERROR)
        return self._fenced(command, Fence(place, writable, readonly, hidden, network, temporary))

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
        folders = (*([fence.place.host] if fence.place else []), *fence.writable)
        if fence.temporary is None:
            return replace(command, landlock=tuple(map(os.path.realpath, folders)))
        # The home folder cannot be written here, so tools get their caches elsewhere.
        caches = {name: str(Path(fence.temporary, folder)) for name, folder in _CACHES.items()}
        allowed = tuple(map(os.path.realpath, (*folders, fence.temporary)))
        return replace(command, landlock=allowed, env={**command.env, **caches, "TMPDIR": fence.temporary})


@dataclass(frozen=True)
class Bubblewrap(Sandbox):
    """Namespaces of its own for files, processes and, where asked for, the network."""

    kind: SandboxKind = "bubblewrap"
    program: str = "bwrap"
    environment: dict[str, str] = field(default_factory=dict)
    """Where PATH and HOME come from that decide which toolchains are shown."""

    def temporary_seen(self, temporary: str) -> str:  # noqa: ARG002  # it has one name for every command
        return OWN_TEMPORARY

    @property
    def stores(self) -> str | None:
        return STORES

    def _grounded(self, ground: Ground) -> Ground:
        needed = places.needed([one.source for one in ground.dependencies], self._roots)
        shown = tuple(path for path in needed if not places.inside(path, ground.repo))
        return replace(ground, seen_there=True, shown=shown)

    @cached_property
    def _roots(self) -> list[str]:
        return places.hidden_roots(self.environment)

    @cached_property
    def _surroundings(self) -> Layers:
        """What is the same for every command, by path: what is hidden and what is shown although it lies there."""
        layers = {path: Layer("hide", path) for path in (*self._roots, *places.closed_files())}
        shown = (
            *places.toolchains(self.environment, self._roots),
            *(path for path in _NEEDED_OF_RUN if places.is_there(path)),
        )
        return {**layers, **_at_home("show", shown)}

    def _layers(self, fence: Fence) -> Layers:
        layers = {**self._surroundings, **_at_home("hide", fence.hidden), **_at_home("show", fence.readonly)}
        if fence.place is not None:
            layers = self._placed(fence.place, layers)
        return {**layers, **_at_home("open", fence.writable)}

    def _placed(self, place: Place, layers: Layers) -> Layers:
        """Return the layers with a checkout in the place of its repository, of which nothing else is shown or hidden."""
        if not places.inside(os.path.realpath(self.environment.get("HOME", "")), place.seen):
            layers = {path: layer for path, layer in layers.items() if not places.inside(path, place.seen)}
        read = {os.path.realpath(seen): Layer("show", host) for host, seen in place.read.items()}
        # What a store itself borrows stands beside it here, under another name than the one that it knows.
        notes = [Path(seen, "info") for host, seen in place.read.items() if Path(host, "info", "alternates").is_file()]
        return {
            **layers,
            **_at_home("show", place.shown),
            **read,
            **{str(note): Layer("hide", "/") for note in notes},
            place.seen: Layer("open", place.host),
            **{f"{place.seen}/{one.name}": Layer("show", one.source) for one in place.provided},
        }

    def _fenced(self, command: Command, fence: Fence) -> Command:
        layers = self._layers(fence)
        temporary = ["--bind", fence.temporary] if fence.temporary else ["--tmpfs"]
        mounts = [*temporary, OWN_TEMPORARY]
        for path in sorted(layers, key=lambda path: (path.count("/"), path)):
            mounts += _mount(path, layers[path])
        cwd, names = (fence.place.seen, fence.place.names) if fence.place else (command.cwd, (command.cwd,))
        argv = (
            *(self.program, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
            *(*mounts, *_links((*fence.readonly, *fence.writable, *names), layers)),
            *("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
            *(() if fence.network else ("--unshare-net",)),
            *("--cap-drop", "ALL", "--die-with-parent", "--chdir", cwd, "--", *command.argv),
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


def _at_home(how: How, paths: Iterable[str]) -> Layers:
    """Return layers that show, open or hide what lies at these paths on this machine."""
    return {real: Layer(how, real) for real in map(os.path.realpath, paths)}


def _mount(path: str, layer: Layer) -> list[str]:
    if not places.is_there(layer.source):
        return []
    if layer.how == "show":
        return ["--ro-bind", layer.source, path]
    if layer.how == "open":
        return ["--bind", layer.source, path]
    return ["--tmpfs", path] if places.is_folder(layer.source) else ["--ro-bind", "/dev/null", path]


def _links(paths: tuple[str, ...], layers: Layers) -> list[str]:
    """Return what keeps paths usable that lead through a symbolic link in a fresh folder, as a home folder is one."""
    found: dict[str, str] = {}
    for path in dict.fromkeys(paths):
        for step in (*reversed(Path(path).parents), Path(path)):
            if step.is_symlink():
                place = str(Path(os.path.realpath(step.parent), step.name))
                if _is_fresh(place, layers):
                    found[place] = os.path.realpath(step)
    return [word for place, real in found.items() for word in ("--symlink", real, place)]


def _is_fresh(place: str, layers: Layers) -> bool:
    """Tell whether nothing is there but what is put there: the innermost folder around a place is a hidden one."""
    around = next((str(folder) for folder in Path(place).parents if str(folder) in layers), "")
    if len(around) > len(OWN_TEMPORARY) or not places.inside(place, OWN_TEMPORARY):
        return around in layers and layers[around].how == "hide"
    return True
