"""The action for GitHub: its steps, run in order on a checkout as a job would, keep the evidence and end as the run did."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import yaml

from tests.cli import greeter

ACTION = yaml.safe_load((Path(__file__).parents[2] / "action.yml").read_text())
FILES = {"report.html", "junit.xml", "santiago.sarif"}


def job(repo: Path, **inputs: str) -> tuple[int, dict[str, str], Path]:
    """Carry out every step that runs something but the installation; return the last exit code, the outputs, the files."""
    runner = repo.parent / "runner"
    (runner / "santiago" / "bin").mkdir(parents=True)
    (runner / "santiago" / "bin" / "santiago").symlink_to(Path(sys.executable).parent / "santiago")
    output = runner / "output"
    output.touch()
    given = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()} | inputs
    install, *steps = [step for step in ACTION["runs"]["steps"] if "run" in step]
    assert "$GITHUB_ACTION_PATH" in install["run"]
    code = 0
    for step in steps:
        outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())
        said = {f"inputs.{name}": text for name, text in given.items()}
        said |= {f"steps.run.outputs.{name}": text for name, text in outputs.items()}
        env = {name: said[text.removeprefix("${{ ").removesuffix(" }}")] for name, text in step.get("env", {}).items()}
        around = {
            **os.environ, **greeter.place(repo), "RUNNER_TEMP": str(runner), "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(runner / "summary.md"), "GITHUB_ACTIONS": "true", **env,
        }  # fmt: skip
        assert "${{" not in step["run"], "what others wrote must not become part of a program"
        code = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", step["run"]], cwd=repo, env=around, check=False
        ).returncode
        if code:
            break
    return code, dict(line.split("=", 1) for line in output.read_text().splitlines()), runner / "santiago-files"


def test_a_job_keeps_the_evidence_and_ends_as_the_run_did(tmp_path: Path) -> None:
    repo = greeter.make(tmp_path / "good" / "repo")
    code, outputs, files = job(repo, document="prd.md", arguments="--trust-commands\n--trust-project")
    assert (code, outputs["exit-code"]) == (0, "0")
    assert {file.name for file in files.iterdir()} == FILES
    assert Xml.parse(files / "junit.xml").getroot().get("failures") == "0"
    assert "### santiago: success" in (files.parent / "summary.md").read_text()


def test_a_job_fails_with_the_run_unless_its_code_is_accepted(tmp_path: Path) -> None:
    once = "[limits]\nstory_max_attempts = 1\n"
    for accept, wanted in (("0", 30), ("0 30", 0)):
        repo = greeter.make(tmp_path / str(wanted) / "repo", greeter.BAD, limits=once)
        code, outputs, files = job(
            repo, document="prd.md", arguments="--trust-commands\n--trust-project", accept=accept
        )
        assert (code, outputs["exit-code"]) == (wanted, "30")
        assert {file.name for file in files.iterdir()} == FILES


def test_a_refused_run_ends_the_job_with_its_own_code(tmp_path: Path) -> None:
    repo = greeter.make(tmp_path / "repo")
    code, outputs, files = job(repo, document="missing $(touch seen); `touch seen`.md")
    assert code == int(outputs["exit-code"]) != 0
    assert not list(files.iterdir())
    assert not (repo / "seen").exists()


def test_every_action_of_others_is_named_by_its_commit() -> None:
    used: list[Any] = [step["uses"] for step in ACTION["runs"]["steps"] if "uses" in step]
    assert used
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", one) for one in used)
