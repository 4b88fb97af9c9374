"""`santiago execute`: carry a plan out; run again on the same out-dir it goes on."""

from __future__ import annotations

from pathlib import Path

import click

from santiago.cli.options import Flags, run_options


@click.command("execute")
@click.option("--input", "run_input", type=click.Path(path_type=Path), required=True, help="The run input.")
@click.option("--plan", "plan_path", type=click.Path(path_type=Path), required=True, help="The plan.")
@click.option("--out-dir", type=click.Path(path_type=Path), required=True, help="The run's folder.")
@run_options
def command(run_input: Path, plan_path: Path, out_dir: Path, flags: Flags) -> int:
    """Carry out a plan, story by story. Only work that passes its checks counts."""
    from contextlib import nullcontext

    from santiago.app.refusal import told_in_result
    from santiago.artifacts.files import read_bytes
    from santiago.artifacts.repository import resolved
    from santiago.cli.start.running import start
    from santiago.contract import codec
    from santiago.contract.plan import Plan
    from santiago.contract.policy import RunInput
    from santiago.report.remedies import granting

    folder = resolved(out_dir)
    with nullcontext() if flags.dry_run else told_in_result(folder):
        plan = codec.decode(Plan, read_bytes(plan_path, codec.MAX_BYTES), str(plan_path))
        settings = codec.decode(RunInput, read_bytes(run_input, 2**20), str(run_input))
        with granting(folder):
            return start(folder, settings, plan, flags, base=resolved(run_input).parent, plan_file=plan_path)
