"""Which folders a sandbox must show inside hidden ones: the toolchains that PATH leads to."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_KEPT = (
    ".cargo/bin .cargo/registry .cargo/git .cargo/config.toml .cargo/env .rustup .pyenv .nvm .volta .fnm .rbenv .rvm"
    " .asdf .bun .deno .sdkman .ghcup .dotnet .linuxbrew .local/bin .local/lib .local/share/uv .local/share/mise"
    " .local/share/fnm .local/share/pnpm .local/pipx .local/share/pipx go/bin go/pkg/mod .m2/repository .gem .nix-profile"
)
_KEPT_IN_HOME = _KEPT.split()
"""Toolchains and package stores below the home folder. None of them holds credentials."""
_SHARED_FOLDERS = frozenset({".local", ".config", ".cache"})
"""Folders whose `bin` is a toolchain, while the rest is private to the user."""
_CLOSED = (
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/ssl/private",
    "/etc/krb5.keytab",
)
_PRIVATE = ("/home", "/root", "/run", "/var/run", "/var/tmp", "/mnt/wslg")  # noqa: S108  # hidden, not used
_HOST_KEYS = "/etc/ssh"
_WRITING = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def hidden_roots(environment: Mapping[str, str]) -> list[str]:
    """Return the places that only their owner should read: home folders, and folders with other programs' sockets."""
    home = environment.get("HOME", "")
    found = {os.path.realpath(place) for place in (home, *_PRIVATE) if place}
    return sorted(place for place in found if place != "/" and is_folder(place))


def is_private(folder: str) -> bool:
    """Tell whether a folder is somebody's home, or one that all users share."""
    real = os.path.realpath(folder)
    homes = (os.path.expanduser("~"), *_PRIVATE, "/tmp")  # noqa: S108, PTH111  # a home may be missing
    return os.path.dirname(real) == "/home" or real in map(os.path.realpath, homes)  # noqa: PTH120


def closed_files() -> list[str]:
    """Return system files with secrets that this user could read; empty except for the superuser."""
    keys = Path(_HOST_KEYS)
    found = [*map(Path, _CLOSED), *(keys.glob("ssh_host_*_key") if is_folder(keys) else ())]
    return [str(path) for path in found if os.access(path, os.R_OK)]


def of_the_kernel() -> list[str]:
    """Return the entries of /proc, besides processes, through which this user could change the kernel or its devices.

    There are none for ordinary users. The superuser's programs may write there because of their user id alone, also without
    any capability, so that these entries must be made read-only.
    """
    if os.geteuid() != 0:
        return []
    names = (name for name in os.listdir("/proc") if not name.isdigit())  # noqa: PTH208  # names
    return sorted(path for path in (f"/proc/{name}" for name in names) if _can_be_written(path))


def _can_be_written(path: str) -> bool:
    """Tell whether the mode of a file, or of any file below a folder, allows writing. A link leads to a process."""
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISDIR(mode):
            return any(_can_be_written(f"{path}/{name}") for name in os.listdir(path))  # noqa: PTH208  # names
    except OSError:
        return False
    return stat.S_ISREG(mode) and bool(mode & _WRITING)


def toolchains(environment: Mapping[str, str], roots: Iterable[str]) -> list[str]:
    """Return the folders below hidden places that programs on PATH, and santiago's own interpreter, need."""
    roots = [*roots, os.path.realpath("/tmp")]  # noqa: S108  # hidden as well, by a fresh one
    wanted: list[Path] = [Path(sys.prefix), Path(sys.base_prefix)]
    for entry in environment.get("PATH", "").split(":"):
        if entry.startswith("/") and is_folder(entry):
            wanted += _installation(Path(entry))
    home = environment.get("HOME", "")
    if home.startswith("/") and home != "/":
        wanted += [Path(home, name) for name in _KEPT_IN_HOME]
    for name in ("PYENV_ROOT", "RUSTUP_HOME", "NVM_DIR", "VOLTA_HOME", "GOROOT", "JAVA_HOME"):
        wanted += [Path(environment[name])] if environment.get(name, "").startswith("/") else []
    return _below(wanted, roots)


def needed(folders: Iterable[str], roots: Iterable[str]) -> list[str]:
    """Return what folders of dependencies need in hidden places: targets of links, and the base of an environment."""
    wanted = [place for folder in map(Path, folders) for place in (folder, *_base_of(folder / "pyvenv.cfg"))]
    return _below(wanted, [*roots, os.path.realpath("/tmp")])  # noqa: S108  # as above


def _below(wanted: Iterable[Path], roots: list[str]) -> list[str]:
    """Return the real paths that are below one of the roots, without those inside another of these paths."""
    real = {os.path.realpath(place) for place in wanted if is_there(place)}
    found = sorted(place for place in real if place not in roots and any(inside(place, root) for root in roots))
    return [place for place in found if not any(inside(place, other) for other in found if other != place)]


def is_there(path: str | Path) -> bool:
    """Tell whether a path exists for this user. A path behind a closed folder does not."""
    return os.path.exists(path)  # noqa: PTH110  # never raises


def is_folder(path: str | Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112  # as above


def inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _installation(entry: Path) -> list[Path]:
    """Return what belongs to a folder of programs: the folder, the installation around a `bin`, and the base of its venv."""
    found = [entry]
    above = entry.parent
    whole = entry.name in {"bin", "sbin", "shims", ".bin"} and above.name not in _SHARED_FOLDERS
    settings = above / "pyvenv.cfg"
    if is_there(settings):
        found += [above, *_base_of(settings)]
    elif whole and _is_toolchain(above):
        found.append(above)
    return found


def _is_toolchain(folder: Path) -> bool:
    """Tell whether a folder holds an installation, and not a user's own files beside a `bin`."""
    return folder != Path.home() and any(
        (folder / name).is_dir() for name in ("lib", "lib64", "libexec", "share", "versions", "include")
    )


def _base_of(settings: Path) -> list[Path]:
    """Return the installation that a virtual environment was made from."""
    try:
        lines = settings.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    homes = [line.partition("=")[2].strip() for line in lines if line.partition("=")[0].strip() == "home"]
    return [Path(home).parent for home in homes if home.startswith("/") and is_folder(home)]
