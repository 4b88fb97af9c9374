"""Tries to break out of every kind of sandbox, as an agent and as a check, as the superuser and as an ordinary user."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from proofs.telling import options, outcome

if TYPE_CHECKING:
    from proofs.figures import Measured

KINDS, ROLES = ("bubblewrap", "namespaces", "landlock"), ("agent", "check")
ROOT = Path(__file__).parents[1]
NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
SECONDS = 600


def run(arguments: list[str]) -> list[Measured]:
    parser = options("breakouts")
    parser.add_argument("--only", default="", help="only tries whose names hold this")
    chosen = parser.parse_args(arguments)
    users: list[tuple[str, ...]] = [(), NOBODY] if os.geteuid() == 0 and shutil.which("setpriv") else [()]
    count, through, kinds = 0, [], set()
    with ThreadPoolExecutor(chosen.places) as pool:
        jobs = {
            (user, kind, role): pool.submit(tried, user, kind, role, chosen.only)
            for user, kind, role in product(users, KINDS, ROLES)
        }
        for (user, kind, role), job in jobs.items():
            number, found, documented = job.result()
            count += number
            kinds |= {(user, kind)} if number else set()
            who = "an ordinary user" if user or os.geteuid() else "the superuser"
            print(
                f"  {kind}, {role}, {who}: {number} tries, {len(documented)} documented as open, {len(found)} through"
            )
            through += [f"{kind}, {role}, {who}: {one}" for one in found]
    return [outcome("breakouts", f"{count:,} tries in {len(kinds)} kinds of sandbox", through, reached=bool(count))]


def tried(user: tuple[str, ...], kind: str, role: str, only: str) -> tuple[int, list[str], list[str]]:
    """Have the tries made in a process of their own, as another user if one is given."""
    python = "/usr/bin/python3" if user else sys.executable
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
    words = [*user, python, "-m", "proofs.breaking.world", kind, role, only]
    # Not below a home folder or /tmp, which are hidden anyway.
    place = next((one for one in ("/srv", "/opt", "/var/lib") if os.access(one, os.W_OK)), ROOT)
    with tempfile.TemporaryDirectory(prefix="santiago-breakouts-", dir=place) as folder:
        if user:
            os.chown(folder, 65534, 65534)
        ran = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, timeout=SECONDS, check=False)
    if ran.returncode:
        return 0, [f"the world could not be made: {ran.stderr.strip()[-500:]}"], []
    number, through, documented = json.loads(ran.stdout.splitlines()[-1])
    return number, through, documented
