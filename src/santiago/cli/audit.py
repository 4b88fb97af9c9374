"""`santiago audit`: check a run again offline. Everything that can be computed again is computed and compared."""

from __future__ import annotations

from pathlib import Path

from santiago.app.auditing import Audit
from santiago.app.finding import find_run
from santiago.app.git_audit import open_git
from santiago.app.loading import frozen, working
from santiago.app.refusal import is_of_a_run
from santiago.app.start.identity import repository_of
from santiago.artifacts.run_locations import resolved
from santiago.cli.view.terminal import paint, say, show_data
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import ExitCode
from santiago.util.text import harmless


def audit(run: str | None, repo: Path | None, as_json: bool) -> int:
    """Check a run again."""
    out_dir = find_run(run)
    if not is_of_a_run(out_dir):
        raise SantiagoError(Kind.INPUT, "the run has not begun, so there is nothing to check", where=str(out_dir))
    looking = Audit(out_dir)
    if worker := working(out_dir):
        looking.note(
            "at_work", str(out_dir), f"{worker} is working on it; what is being written now may look unfinished"
        )
    git = None
    try:
        _, run_input = frozen(out_dir)
    except SantiagoError:
        pass  # the audit itself names it
    else:
        run_id = run_input.run_id or out_dir.name
        root = resolved(repo) if repo else repository_of(out_dir, run_id, Path(run_input.repo_path))
        git = open_git(looking, root, run_id)
    looking.run()
    if git is not None and looking.state is not None:
        git.check()
    if as_json:
        show_data(
            {
                "contract_version": 1,
                "out_dir": str(out_dir),
                "clean": looking.clean,
                "head": {"seq": looking.head[0], "hash": looking.head[1]},
                "checked": looking.checked,
                "findings": [fault._asdict() for fault in looking.faults],
            }
        )
        return ExitCode.OK if looking.clean else ExitCode.FAILED
    for fault in looking.faults:
        head = paint(f"{fault.level}[{fault.code}]:", "bad" if fault.level == "error" else "head", stderr=False)
        say(f"{head} {harmless(fault.where)}: {harmless(fault.message)}")
    looked = ", ".join(f"{number:,} {what if number != 1 else _one(what)}" for what, number in looking.checked.items())
    errors = sum(1 for fault in looking.faults if fault.level == "error")
    word = paint("clean", "good", stderr=False) if looking.clean else paint(f"{errors} wrong", "bad", stderr=False)
    say(f"{word}   {out_dir.name}: looked at {looked}")
    return ExitCode.OK if looking.clean else ExitCode.FAILED


def _one(what: str) -> str:
    return f"{what[:-3]}y" if what.endswith("ies") else what.removesuffix("s")
