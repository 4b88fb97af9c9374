"""`--jobs` and limits on the command line: what keeps stories back is said, and a run that has begun keeps its limits."""

import json
from pathlib import Path

from tests.cli import greeter
from tests.cli.inside import inside
from tests.cli.santiago import santiago

WORDS = ("run", "prd.md", "--agent", "sh -c true", "--verify", "test -s a", "--sandbox", "off")
LIMITS = ("--max-attempts", "1", "--max-cost", "2.5", "--max-tokens", "900000", "--timeout", "45")


def document(*stories: str) -> str:
    parts = (
        f"### R{number}: Story {number}\n\n{text}\n\n- [ ] it is there\n" for number, text in enumerate(stories, 1)
    )
    return "# PRD\n\n" + "\n".join(parts)


NO_FILES = document("", "", "")
IN_A_ROW = document("Files: `a.py`", "Depends on: R1\n\nFiles: `b.py`", "Depends on: R2\n\nFiles: `c.py`")
APART = document("Files: `a.py`", "Files: `b.py`", "Files: `c.py`")
MIXED = document("Files: `a.py`", "Files: `b.py`", "")


def test_it_is_said_where_fewer_stories_can_run_side_by_side(tmp_path: Path) -> None:
    for number, (prd, more, told) in enumerate((
        (NO_FILES, (), "3 at a time are asked for, but only one can run: no story names its files, so it is not known which "),
        (NO_FILES, ("--optimistic",), ""),
        (IN_A_ROW, (), "but only one can run: the others wait for stories that they depend on, or that change the same files"),
        (APART, (), ""),
        (MIXED, (), "but at most 2 can run: S3 names no files"),
        (APART, ("--gate", "step"), "3 at a time are asked for, but only one runs: with --gate step, each story waits for your answer"),
    )):  # fmt: skip
        repo = greeter.committed(tmp_path / str(number) / "repo", {"prd.md": prd})
        found = greeter.looks(repo, *WORDS, "--dry-run", "--json", "--jobs", "3", *more, code=0)
        notes = [note for note in json.loads(found.stdout)["notes"] if "at a time" in note]
        assert [told in note for note in notes] == ([True] if told else []), (number, notes)
        assert ("--optimistic" in "".join(notes)) == ((prd is NO_FILES and not more) or prd is MIXED), number


def test_a_limit_that_holds_another_back_is_named(tmp_path: Path) -> None:
    repo = greeter.committed(tmp_path / "repo", {"prd.md": APART})
    limits = ("--timeout", "5", "--max-attempts", "30", "--max-tokens", "9000", "--jobs", "2")
    settings = {"SANTIAGO_POLICY_UNKNOWN_USAGE": "allow"}
    found = inside(*WORDS, *limits, "--dry-run", "--json", cwd=repo, env={**greeter.place(repo), **settings})
    notes = json.loads(found.stdout)["notes"]
    assert "limits.story_timeout_minutes is 20, but limits.run_timeout_minutes ends the work earlier, at 5" in notes
    assert "limits.story_max_attempts is 30, but limits.run_max_attempts ends the work earlier, at 20" in notes
    assert "limits.run_max_tokens is set, so the first attempt runs alone: it shows what one costs" in notes


def test_a_story_that_waits_for_money_is_said_to(tmp_path: Path) -> None:
    """The first attempt runs alone under a limit on tokens; the line says why the second does not begin."""
    play = "stories:\n" + "".join(
        f"  R{n}:\n    - write: {{{name}: here}}\n      tokens: 10\n" for n, name in enumerate(("a.txt", "b.txt"), 1)
    )
    prd = document(
        "Files: `a.txt`\n\n**Verification:** `grep here a.txt`", "Files: `b.txt`\n\n**Verification:** `grep here b.txt`"
    )
    repo = greeter.committed(tmp_path / "repo", {"prd.md": prd, "play.yaml": play})
    ran = santiago(
        "run", "prd.md", "--playbook", "play.yaml", "--trust-commands", "--jobs", "2", "--max-tokens", "100",
        "--sandbox", "off", cwd=repo, env=greeter.place(repo), code=0,
    )  # fmt: skip
    held = [line for line in ran.stderr.splitlines() if " held " in line]
    assert [line.endswith("run_max_tokens leaves no room for an attempt beside the running ones") for line in held] == [
        True
    ]


def test_a_run_keeps_the_limits_of_its_command_line_and_resume_names_what_adds_to_them(tmp_path: Path) -> None:
    spent = greeter.make(tmp_path / "repo", greeter.BAD)
    ran = greeter.says(spent, "run", "prd.md", *LIMITS, "--trust-commands")
    assert (ran.returncode, "1 attempt" in ran.stderr) == (30, True), ran.stderr
    limits = json.loads((greeter.out_dir(spent) / "run-input.json").read_text())["limits"]
    names = ("story_max_attempts", "run_max_cost_usd", "run_max_tokens", "run_timeout_minutes")
    assert [limits[name] for name in names] == [1, 2.5, 900000, 45]
    for words, grant in (
        (("--max-attempts", "3"), "--add-attempts 2"), (("--max-cost", "4"), "--add-cost 1.5"),
        (("--max-tokens", "1000000"), "--add-tokens 100000"), (("--timeout", "60"), "--add-minutes 15"),
    ):  # fmt: skip
        told = greeter.looks(spent, "resume", *words)
        assert (told.returncode, f"santiago resume {grant}`" in told.stderr) == (2, True), told.stderr
    told = greeter.looks(spent, "resume", "--timeout", "5")
    assert (told.returncode, "--add-" in told.stderr) == (2, False), told.stderr
    assert "--timeout 5 differs from what the run began with, which is 45" in told.stderr
    told = greeter.looks(spent, "resume", "--max-cost", "nan")
    assert (told.returncode, "--max-cost nan is not a valid limit" in told.stderr) == (2, True), told.stderr
    # The limit that a run began with may be said again: it is then refused for its own reason alone.
    told = greeter.looks(spent, "resume", *LIMITS)
    assert (told.returncode, "differs" in told.stderr) == (30, False), told.stderr


def test_run_reads_a_document_as_plan_would_be_told_to(tmp_path: Path) -> None:
    """`--strict` refuses what is only doubtful, and a document without units leads to `draft`."""
    doubtful = "# PRD\n\n### R1: One\n\nDepends on: R9\n\n- [ ] a\n"
    files = {
        "prd.md": doubtful,
        "plain.md": "# Idea\n\n## Core Features\n\n- Say hello to people\n- Say goodbye to people\n",
    }
    repo = greeter.committed(tmp_path / "repo", files)
    words = ("--agent", "sh -c true", "--dry-run", "--sandbox", "off", "--assume-external", "--verify", "test -s a")
    env = greeter.place(repo)
    assert inside("run", "prd.md", *words, cwd=repo, env=env).returncode == 0
    strict = inside("run", "prd.md", "--strict", *words, cwd=repo, env=env)
    assert (strict.returncode, "R9" in strict.stderr) == (30, True), strict.stderr
    plain = inside("run", "plain.md", *words, cwd=repo, env=env)
    assert (plain.returncode, "santiago draft plain.md --with AGENT" in plain.stderr) == (30, True), plain.stderr
