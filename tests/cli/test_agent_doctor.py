"""`santiago doctor` and `init` about agents: which are here, which one a run takes, and whether they answer."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli import fakes


@pytest.fixture
def place(tmp_path: Path) -> fakes.Place:
    return fakes.Place(tmp_path)


def _doctor(place: fakes.Place, *arguments: str) -> Any:
    return json.loads(place.santiago("doctor", *arguments, "--json").stdout)


def _agents(told: Any) -> dict[str, Any]:
    return {one["name"]: one for one in told["agents"]}


def test_doctor_lists_what_is_installed_with_version_and_sign_in_and_says_which_one_runs(place: fakes.Place) -> None:
    place.install("claude", version="2.1.325 (Claude Code)")
    place.install("codex", version="WARNING: no aliases\ncodex-cli 0.166.0")
    place.sign_in("OPENAI_API_KEY")
    ran = place.santiago("doctor")
    assert "! warn  claude        2.1.325, not signed in   " in ran.stdout
    assert "fix: claude auth login\n" in ran.stdout
    assert f"✓ ok    codex         0.166.0, signed in   {place.bin}/codex   `santiago run` takes it\n" in ran.stdout
    assert "- skip  not here      opencode, gemini, " in ran.stdout
    assert f"agent         codex (the first that is installed and signed in)   {place.bin}/codex\n" in ran.stdout
    assert (place.calls("claude"), place.calls("codex")) == ([], []), "nobody asked them anything"
    told = _agents(_doctor(place))
    assert [(one["version"], one["signed_in"], one["taken"], one["answers"]) for one in told.values()] == [
        ("2.1.325", False, False, None),
        ("0.166.0", True, True, None),
    ]


def test_an_agent_that_does_not_start_fails_where_a_run_would_take_it(place: fakes.Place) -> None:
    place.install("claude")
    place.sign_in()
    (place.bin / "claude").write_text("#!/bin/sh\necho broken install >&2\nexit 3\n")
    ran = place.santiago("doctor", code=2)
    assert "✗ fail  claude        does not start: broken install" in ran.stdout


def test_a_profile_of_ones_own_that_is_none_is_said_with_its_file_and_stops_no_other_agent(place: fakes.Place) -> None:
    place.install("claude", fakes.GOOD)
    place.sign_in()
    own = place.home / ".config" / "santiago" / "agents"
    own.mkdir(parents=True)
    (own / "mine.toml").write_text('name = "mine"\nstrat = 1\n')
    told = f"{own}/mine.toml: unknown key strat"
    shown = place.look("doctor")
    assert f"! warn  profile       {told}" in shown
    assert f", {shown.count('! warn')} warnings " in shown, "the sum counts it, too"
    ran = place.run()
    assert (ran.returncode, f"a profile is left out: {told}" in ran.stderr) == (0, True), ran.stderr
    (place.bin / "claude").unlink()
    ran = place.run()
    assert (ran.returncode, f"error: {told}" in ran.stderr) == (2, True), ran.stderr


@pytest.mark.parametrize("sandbox", ["off", "auto"])
def test_online_has_the_agents_answer_in_an_empty_repository(place: fakes.Place, sandbox: str) -> None:
    (place.repo / "santiago.toml").write_text(f'[policy]\nsandbox = "{sandbox}"\n[agent]\nmodel_hint = "m-1"\n')
    place.env["PATH"] += ":/usr/bin:/bin" if sandbox == "auto" else ""
    place.install("claude", [fakes.begins(), fakes.ends("ready")])
    place.sign_in()
    ran = place.santiago("doctor", "--online")
    if "no sandbox works here" in ran.stdout:
        pytest.skip("no sandbox works here, so that no agent is asked")
    assert ran.returncode == 0, ran.stdout
    assert "costs a few tokens" in ran.stderr
    assert f"✓ ok    claude        9.9.9, signed in   {place.bin}/claude   `santiago run` takes it\n" in ran.stdout
    assert f"\n{'':22}answers, in " in ran.stdout
    if sandbox == "off":
        (call,) = place.calls("claude")
        assert call["prompt"] == "Answer with the single word ready.\n"
        assert "m-1" in call["argv"]
    assert not list((place.repo / ".santiago").glob("runs/*"))


def test_online_names_the_reason_and_the_remedy_of_an_agent_that_does_not_answer(place: fakes.Place) -> None:
    place.install("claude", fakes.fails("Invalid API key · Please run /login", 401))
    place.install("codex", [{"print": {"type": "turn.completed", "usage": {}}}])
    place.sign_in()
    told = _doctor(place, "--online")
    claude, codex = _agents(told)["claude"], _agents(told)["codex"]
    assert (told["ok"], claude["level"], claude["answers"]) == (False, "fail", False)
    assert claude["words"] == "agent_not_signed_in: Invalid API key · Please run /login"
    assert claude["fix"] == "claude auth login"
    assert (codex["level"], codex["answers"], codex["words"]) == ("warn", False, "it ended without any output")


def test_init_suggests_the_agent_of_this_machine_and_sets_none_for_others(place: fakes.Place) -> None:
    place.install("codex")
    place.sign_in("OPENAI_API_KEY")
    (place.repo / "santiago.toml").unlink()
    assert place.santiago("init", "--verify", "grep hello hello.txt").returncode == 0
    assert '# [agent]\n# profile = "codex"   # ' in (place.repo / "santiago.toml").read_text()
    assert place.json("config", "show")["agent.profile"]["value"] is None
