"""Finds the strongest sandbox that works here, by trying: bubblewrap, the kernel's namespaces, Landlock, none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Literal

from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.process import landlock
from santiago.process.command import Command
from santiago.process.fence import Landlock, Sandbox
from santiago.process.mount_sandbox import Apart, Bubblewrap, Namespaces
from santiago.process.place import Place
from santiago.process.probe import PROBE_SECONDS, runs

__all__ = ["Landlock", "Mode", "Sandbox", "detect"]

Mode = Literal["auto", "required", "off"]
_PROMISED = (
    'test "$(pwd)" = "$1" && echo x >in && ! (echo x >/etc/santiago-probe) 2>/dev/null'
    ' && test "$(readlink /proc/self/ns/pid)" != "$2" && test "$(readlink /proc/self/ns/net)" != "$3"'
    " && for one in sys/kernel/core_pattern sysrq-trigger; do ! (: >>/proc/$one) 2>/dev/null || exit 1; done"
)
"""Tries everything that is promised: another path, writing inside, not outside, own processes, own network, and that the
kernel's settings are closed. Those are only opened, never written."""


def detect(mode: Mode, environment: dict[str, str] | None = None) -> Sandbox:
    """Return the strongest sandbox that works here; raise if one is required and none works."""
    if mode == "off":
        return Sandbox()
    source = dict(os.environ) if environment is None else environment
    found = _bubblewrap(source) or _namespaces(source) or _landlock()
    if found is None and mode == "required":
        raise SantiagoError(
            Kind.BLOCKED,
            "no sandbox works here, and the policy requires one",
            hint="Install bubblewrap (Debian: apt-get install bubblewrap) and allow user namespaces, or use --sandbox off.",
            reason=Reason.NEEDS_USER_CONFIRMATION,
        )
    return found or Sandbox()


def _bubblewrap(environment: dict[str, str]) -> Bubblewrap | None:
    program = shutil.which("bwrap", path=environment.get("PATH"))
    if program is None or not program.startswith("/"):
        return None
    box = Bubblewrap(program=program, environment=environment)
    if not _keeps_its_promise(box):
        return None
    version = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=PROBE_SECONDS, check=False)  # noqa: S603
    return replace(box, name=version.stdout.strip() or "bubblewrap")


def _namespaces(environment: dict[str, str]) -> Namespaces | None:
    if sys.platform != "linux":
        return None
    box = Namespaces(name="namespaces", environment=environment)
    return box if _keeps_its_promise(box) else None


def _keeps_its_promise(box: Apart) -> bool:
    with tempfile.TemporaryDirectory(prefix="santiago-probe-") as folder:
        host, seen = Path(folder, "host"), os.path.realpath(Path(folder, "seen"))
        host.mkdir()
        spaces = [str(Path("/proc/self/ns", name).readlink()) for name in ("pid", "net")]
        argv = ("/bin/sh", "-c", _PROMISED, "probe", seen, *spaces)
        probe = Command(argv=argv, cwd=str(host), env=box.environment, timeout_ms=1)
        wrapped = box.wrap(probe, place=Place(host=str(host), seen=seen))
        return runs(wrapped.argv, wrapped.env) and (host / "in").exists()


def _landlock() -> Landlock | None:
    version = landlock.abi()
    if version == 0:
        return None
    source = str(Path(__file__).parents[2])
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from santiago.process.landlock import restrict\n"
        "restrict((sys.argv[2],)); open(sys.argv[2] + '/in', 'w').close()\n"
        "for closed in (sys.argv[3] + '/out', '/dev/ptmx'):\n"
        "    try: open(closed, 'r+b' if closed.startswith('/dev') else 'w')\n"
        "    except PermissionError: continue\n"
        "    except FileNotFoundError: continue\n"
        "    sys.exit(1)"
    )
    with tempfile.TemporaryDirectory(prefix="santiago-probe-") as inner, tempfile.TemporaryDirectory() as outer:
        works = runs([sys.executable, "-I", "-c", script, source, inner, outer], dict(os.environ))
    name = f"landlock (kernel interface {version}; not fenced: {', '.join(landlock.not_held(version))})"
    return Landlock(name=name) if works else None
