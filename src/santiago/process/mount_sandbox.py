"""Sandboxes with their own file system, made by bubblewrap or by the kernel's namespaces.

The system is read-only there. Home folders, sockets, other processes and everything that the caller hides are missing, and
only the given folders can be written. A checkout is mounted at the path of its repository, of which nothing else is visible.
What is written to its dependencies is kept apart. If two layers concern a path, the inner one counts.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from santiago.contract.record import lean
from santiago.process import toolchains
from santiago.process.environment import OWN_TEMPORARY
from santiago.process.fence import Fence, Sandbox, with_own_caches
from santiago.process.place import STORES
from santiago.process.probe import runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from santiago.process.command import Command
    from santiago.process.fence import SandboxKind
    from santiago.process.place import Dependency, Ground, Place

How = Literal["fresh", "show", "open", "over"]
_NEEDED_OF_RUN = (
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager/resolv.conf",
    "/run/current-system",
    "/run/wrappers",
)
"""What is needed of /run: name resolution, and the programs of one distribution."""
_NOTHING = "/dev/null"


class Layer(NamedTuple):
    """What is at a path inside: something of this machine (readable, writable or with an overlay), or a fresh folder.

    Paths have no links in them, since a link would be followed in the new root.
    """

    how: How
    source: str = ""
    upper: str = ""
    """The folder that keeps what is written to an overlay."""
    beneath: tuple[str, ...] = ()
    """Further folders under an overlay, below its source."""


Layers = dict[str, Layer]


@lean(frozen=True, slots=False)
class Apart(Sandbox):
    """What both kinds share: which layers a command sees, and where a checkout is mounted."""

    environment: dict[str, str] = field(default_factory=dict)
    """The environment whose PATH and HOME decide which toolchains are shown."""

    def temporary_seen(self, temporary: str) -> str:  # noqa: ARG002  # it has one name for every command
        return OWN_TEMPORARY

    @property
    def stores(self) -> str | None:
        return STORES

    def _grounded(self, ground: Ground) -> Ground:
        # Never a whole home folder, even if a file of a virtual environment names it.
        elsewhere = [path for path in ground.shown if not toolchains.is_private(path)]
        needed = toolchains.needed([*(one.source for one in ground.dependencies), *elsewhere], self._roots)
        shown = tuple(path for path in needed if not toolchains.inside(path, ground.repo))
        over = ground.over if ground.over and overlays_work(ground.over, ground.dependencies) else None
        built = ground.built if over and overlays_work(over, [*ground.built.values()]) else {}
        return replace(ground, seen_there=True, shown=shown, over=over, built=built)

    def _fenced(self, command: Command, fence: Fence) -> Command:
        layers = self._layers(fence)
        # All checkouts have the same path here, so caches that a tool keeps by path must not outlive their checkout.
        variables = fence.place.variables if fence.place else {}
        inside = replace(command, env={**with_own_caches(command.env, OWN_TEMPORARY), **variables})
        cwd, names = (fence.place.seen, fence.place.names) if fence.place else (command.cwd, (command.cwd,))
        copies = fence.home.copies if fence.home else {}
        links = dict(_links((*fence.readonly, *fence.writable, *copies, *names), layers))
        placed = {os.path.realpath(own): os.path.realpath(copy) for own, copy in copies.items()}
        links |= {own: copy for own, copy in placed.items() if own not in layers}
        ordered = sorted(layers.items(), key=lambda one: (one[0].count("/"), one[0]))
        for _, layer in ordered:
            for name in ("upper", "work", "merged") if layer.how == "over" else ():
                Path(layer.upper, name).mkdir(parents=True, exist_ok=True)
        return replace(inside, argv=self._argv(inside, ordered, links, cwd, network=fence.network))

    def _argv(
        self, command: Command, layers: Sequence[tuple[str, Layer]], links: dict[str, str], cwd: str, *, network: bool
    ) -> tuple[str, ...]:
        raise NotImplementedError

    @cached_property
    def _roots(self) -> list[str]:
        return toolchains.hidden_roots(self.environment)

    @cached_property
    def _surroundings(self) -> Layers:
        """The layers that are the same for every command: what is hidden, and what is shown inside hidden folders."""
        needed = (path for path in _NEEDED_OF_RUN if toolchains.is_there(path))
        shown = (*toolchains.toolchains(self.environment, self._roots), *needed, *toolchains.of_the_kernel())
        return {**_hidden((*self._roots, *toolchains.closed_files())), **_as_it_lies("show", shown)}

    def _layers(self, fence: Fence) -> Layers:
        layers = {**self._surroundings, **_hidden(fence.hidden), **_as_it_lies("show", fence.readonly)}
        if fence.place is not None:
            layers = {**self._beside(fence.place.seen, layers), **_placed(fence.place)}
        for own, copy in fence.home.copies.items() if fence.home else ():
            there, real = os.path.realpath(own), Path(copy).resolve()
            if not real.is_dir() and _is_fresh(there, layers):
                # Inside it is a link: nothing can be renamed to a file over which one is mounted. Programs that cannot do that
                # write such a file in place, and what reads it meanwhile finds half of it.
                there, real = str(real.parent), real.parent
            layers[there] = Layer("open", str(real))
        temporary = Layer("open", os.path.realpath(fence.temporary)) if fence.temporary else Layer("fresh")
        return {**layers, **_as_it_lies("open", fence.writable), OWN_TEMPORARY: temporary}

    def _beside(self, seen: str, layers: Layers) -> Layers:
        """Return the layers without those in a repository's own tree. If that is a home folder, its toolchains stay."""
        home = self.environment.get("HOME")
        if home and toolchains.inside(os.path.realpath(home), seen):
            return layers
        return {path: layer for path, layer in layers.items() if not toolchains.inside(path, seen)}


@lean(frozen=True, slots=False)
class Bubblewrap(Apart):
    """Namespaces made by bubblewrap. Overlays, which old versions lack, are mounted before it starts."""

    kind: SandboxKind = "bubblewrap"
    program: str = "bwrap"

    def _argv(
        self, command: Command, layers: Sequence[tuple[str, Layer]], links: dict[str, str], cwd: str, *, network: bool
    ) -> tuple[str, ...]:
        over = [{**layer._asdict(), "target": f"{layer.upper}/merged"} for _, layer in layers if layer.how == "over"]
        return (
            *(entering({"root": False, "layers": over}) if over else ()),
            *(self.program, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
            *(word for path, layer in layers for word in _options(path, layer)),
            *(word for path, real in links.items() for word in ("--symlink", real, path)),
            *("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
            *(() if network else ("--unshare-net",)),
            *("--cap-drop", "ALL", "--die-with-parent", "--chdir", cwd, "--", *command.argv),
        )


@lean(frozen=True, slots=False)
class Namespaces(Apart):
    """The kernel's own namespaces, entered by a small program of santiago's."""

    kind: SandboxKind = "namespaces"

    def _argv(
        self, command: Command, layers: Sequence[tuple[str, Layer]], links: dict[str, str], cwd: str, *, network: bool
    ) -> tuple[str, ...]:
        stack = [{**layer._asdict(), "target": path} for path, layer in layers]
        spec = {"root": True, "network": network, "cwd": cwd, "layers": stack, "links": list(links.items())}
        return (*entering(spec), *command.argv)


def overlays_work(over: str, dependencies: Sequence[Dependency]) -> bool:
    """Tell whether overlays over dependencies work here. It is tried: a folder is made, removed and made again in each."""
    if not dependencies:
        return True
    Path(over).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="probe-", dir=over) as folder:
        layers = []
        for number, one in enumerate(dependencies):
            upper = Path(folder, str(number))
            for name in ("upper", "work", "merged"):
                (upper / name).mkdir(parents=True)
            layer = Layer("over", one.source, str(upper), one.beneath)
            layers.append({**layer._asdict(), "target": f"{upper}/merged"})
        script = 'for one; do cd "$one" && mkdir .santiago && rmdir .santiago && mkdir .santiago || exit 1; done'
        targets = [str(layer["target"]) for layer in layers]
        argv = (*entering({"root": False, "layers": layers}), "/bin/sh", "-c", script, "probe", *targets)
        return runs(argv, dict(os.environ))


def entering(spec: dict[str, object]) -> tuple[str, ...]:
    """Return the words before a command that start it in its own namespaces."""
    return (sys.executable, "-I", "-S", str(Path(__file__).with_name("enter.py")), json.dumps(spec))


def _as_it_lies(how: How, paths: Iterable[str]) -> Layers:
    """Return layers for those paths that exist on this machine, at the same paths."""
    return {real: Layer(how, real) for real in map(os.path.realpath, paths) if toolchains.is_there(real)}


def _hidden(paths: Iterable[str]) -> Layers:
    there = [real for real in map(os.path.realpath, paths) if toolchains.is_there(real)]
    return {path: Layer("fresh") if toolchains.is_folder(path) else Layer("show", _NOTHING) for path in there}


def _placed(place: Place) -> Layers:
    """Return the layers of a checkout: files that are read besides it, its folder at the path where it is seen, its dependencies."""
    layers = _as_it_lies("show", place.shown)
    for host, seen in place.read.items():
        if toolchains.is_there(host):
            layers[os.path.realpath(seen)] = Layer("show", os.path.realpath(host))
        if toolchains.is_there(Path(host, "info", "alternates")):
            # The stores that a store borrows from are beside it here, under other names than it knows.
            layers[f"{seen}/info"] = Layer("fresh")
    layers[place.seen] = Layer("show" if place.readonly else "open", os.path.realpath(place.host))
    for one in place.provided:
        if place.readonly:  # their mount points cannot be made in a read-only checkout
            Path(place.host, one.name).mkdir(exist_ok=True)
        upper = place.upper(one)
        layers[f"{place.seen}/{one.name}"] = (
            Layer("over", one.source, upper, one.beneath) if upper else Layer("show", one.source)
        )
    return layers


def _options(path: str, layer: Layer) -> tuple[str, ...]:
    """Return a layer as bubblewrap's options."""
    match layer.how:
        case "fresh":
            return ("--tmpfs", path)
        case "show":
            return ("--ro-bind", layer.source, path)
        case "open":
            return ("--bind", layer.source, path)
        case "over":
            return ("--bind", f"{layer.upper}/merged", path)


def _links(paths: Iterable[str], layers: Layers) -> Iterator[tuple[str, str]]:
    """Yield the links that keep paths usable if they lead through a symbolic link in a folder that is fresh inside."""
    for path in dict.fromkeys(paths):
        for step in (*reversed(Path(path).parents), Path(path)):
            if step.is_symlink():
                place = str(Path(os.path.realpath(step.parent), step.name))
                if _is_fresh(place, layers):
                    yield place, os.path.realpath(step)


def _is_fresh(place: str, layers: Layers) -> bool:
    """Tell whether a place is empty inside: the innermost layer around it is a fresh folder, or one of ours."""
    around = next((str(folder) for folder in Path(place).parents if str(folder) in layers), "")
    return around == OWN_TEMPORARY or (around in layers and layers[around].how == "fresh")
