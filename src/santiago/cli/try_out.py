"""`santiago try STORY`: a shell in a checkout of a story's work, with its dependencies, which is removed afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from santiago.app.trying import bench
from santiago.cli.named_story import run_and_story
from santiago.cli.view.terminal import say
from santiago.contract.errors import Kind, SantiagoError
from santiago.process.server import ProcessServer
from santiago.workspace.ancestry import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from santiago.app.loading import Run


def try_out(words: tuple[str, ...], attempt: int | None) -> int:
    """Open a shell in a checkout of a story's work; what is changed there is kept as a patch."""
    run, planned = run_and_story(words)
    story = planned.id
    commit = _work(run, story, attempt)
    if not sys.stdin.isatty():
        raise SantiagoError(Kind.USAGE, "there is no terminal for a shell", hint=f"`git worktree add ../try {commit}`.")
    with _owning(sys.stdin.fileno()):
        server = ProcessServer()  # forked before there are threads
        try:
            with bench(run.run_input, server) as place, place.by_hand(commit) as checkout:
                say(f"the work of {story} is in {checkout.folder}; `exit` leaves it, and removes it", err=True)
                _shell(checkout.folder, dict(checkout.environment))
                kept = checkout.kept(Path(run.run_input.repo_path) / ".santiago" / "tried" / f"{run.run_id}-{story}")
        finally:
            server.close()
    if kept:
        say(f"what you changed is kept: git apply {kept}", err=True)
    return 0


def _work(run: Run, story: str, attempt: int | None) -> str:
    """Return the commit with the work of a story; raise if there is none."""
    state = run.state.stories[story]
    unshown = state.unshown.commit if state.unshown else None
    own = None if attempt else state.commit or unshown or state.integrated
    kept = resolve(Path(run.run_input.repo_path), f"refs/santiago/{run.run_id}/{story}/{attempt or state.attempts}")
    if not (found := own or kept):
        which = f"attempt {attempt} of {story}" if attempt else story
        hint = f"`santiago show {story}` lists its attempts."
        raise SantiagoError(Kind.INPUT, f"no work of {which} is kept", where=run.run_id, hint=hint)
    return found


@contextmanager
def _owning(terminal: int) -> Iterator[None]:
    """Have the terminal, so that Ctrl-C in the shell reaches nobody else, such as a run that asked about this work."""
    try:
        before = os.tcgetpgrp(terminal)
    except OSError:  # without job control nothing has to be taken
        yield
        return
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    with suppress(OSError):
        os.setpgid(0, 0)
        os.tcsetpgrp(terminal, os.getpgrp())
    try:
        yield
    finally:
        with suppress(OSError):
            os.tcsetpgrp(terminal, before)


def _shell(folder: str, environment: dict[str, str]) -> None:
    """Run the user's shell until they leave it. Ctrl-C is for what runs in it."""
    old = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        shell = os.environ.get("SHELL") or "/bin/sh"
        subprocess.run([shell], cwd=folder, env=environment, check=False, preexec_fn=_hear)  # noqa: S603  # no threads read here
    finally:
        signal.signal(signal.SIGINT, old)


def _hear() -> None:
    for number in (signal.SIGINT, signal.SIGTTOU):
        signal.signal(number, signal.SIG_DFL)
