"""An agent that is asked for a detailed plan writes one file, which comes back as it wrote it, and changes nothing else."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from santiago.agent.packet import render
from santiago.agent.profile import parse
from santiago.agent.ralph_fresh import Fenced, RalphFresh
from santiago.agent.scripted import Scripted
from santiago.app.start import backends
from santiago.contract.plan import LONGEST_DETAIL
from santiago.contract.ports.agent import AgentBackend, Packet
from santiago.contract.reasons import Reason
from santiago.executor import proposing
from santiago.process.fence import Sandbox
from santiago.process.server import ProcessServer
from tests.agents.bench import bench
from tests.agents.packets import STORY, Never, packet_in
from tests.agents.script import Say, Shell
from tests.cli.greeter import git
from tests.process.serving import start_server
from tests.process.test_sandbox import KINDS, found, needs_landlock

PLAN = {"contract_version": 1, "objective": "Grüße", "actions": ["Do it."], "checks": ["make"]}
SECRET = "s3cr3t-of-the-user-0123456789"
PROFILE = """
name = "robo"
[start]
argv = [%s, "-c", %s]
prompt = "stdin"
"""


@pytest.fixture(scope="module")
def server() -> Iterator[ProcessServer]:
    one = start_server()
    yield one
    one.close()


@pytest.fixture
def packet(tmp_path: Path) -> Packet:
    for name in ("work", "plan"):
        (tmp_path / name).mkdir()
    (tmp_path / "work" / "kept").write_text("kept")
    (tmp_path / "prompt.md").write_text("Plan.")
    return packet_in(tmp_path, tmp_path / "work", proposes=True, proposal=1)


def program(
    server: ProcessServer, place: Path, script: str, box: Sandbox | None = None, source: dict[str, str] | None = None
) -> RalphFresh:
    """Return an agent that is a python script, in a fence where one is given."""
    profile = parse(PROFILE % (json.dumps(sys.executable), json.dumps(script)), "robo.toml")
    env = {"PATH": os.environ["PATH"]}
    fence: Callable[..., Fenced] = lambda command, *_: Fenced(command)  # noqa: E731
    if box is not None:
        fence = partial(backends.fenced, profile=profile, sandbox=box, source=source or env, hidden=())
    return RalphFresh(server, profile, env, fence, (SECRET,), place / "scratch")


WRITES = "import os, pathlib; pathlib.Path(os.environ['SANTIAGO_DETAIL']).write_text(%s, 'utf-8')"
ADAPTERS = pytest.mark.parametrize("adapter", ["scripted", "ralph_fresh"])


@pytest.fixture
def writing(server: ProcessServer, tmp_path: Path) -> Callable[[str, str], AgentBackend]:
    """Return what makes a backend whose agent writes a text as its detailed plan."""

    def made(adapter: str, text: str) -> AgentBackend:
        if adapter == "scripted":
            return Scripted({}, {}, {"S1": [{"detail": text}]})
        (tmp_path / "text").write_text(text, "utf-8")  # too long for an argument, at times
        return program(server, tmp_path, WRITES % f"open({str(tmp_path / 'text')!r}, encoding='utf-8').read()")

    return made


# Every adapter of the port


@ADAPTERS
def test_a_proposals_file_is_its_detail(
    adapter: str, writing: Callable[[str, str], AgentBackend], packet: Packet
) -> None:
    """acceptance 31."""
    text = json.dumps(PLAN, ensure_ascii=False)
    ending = writing(adapter, text).attempt(packet, Never())
    assert (ending.reason, ending.detail) == (None, text)
    detail, said = proposing.read(ending.detail)
    assert detail is not None
    assert (detail.objective, said) == ("Grüße", [])
    assert os.listdir(packet.folder) == ["kept"]


@ADAPTERS
def test_a_plan_too_long_is_cut(adapter: str, writing: Callable[[str, str], AgentBackend], packet: Packet) -> None:
    long = json.dumps({**PLAN, "objective": "x" * 900_000})
    ending = writing(adapter, long).attempt(packet, Never())
    assert ending.detail is not None
    assert len(ending.detail) == LONGEST_DETAIL + 1
    assert proposing.read(ending.detail) == (None, ["the detailed plan is larger than 256 KiB; write a shorter one"])


@pytest.mark.parametrize("backend", ["scripted", "ralph_fresh"])
def test_who_writes_nothing_has_no_detail(backend: str, server: ProcessServer, packet: Packet, tmp_path: Path) -> None:
    silent = Scripted({"S1": [{"say": "work"}]}) if backend == "scripted" else program(server, tmp_path, "pass")
    ending = silent.attempt(packet, Never())
    assert (ending.reason, ending.detail, ending.message) == (None, None, "")


# A program


def test_only_an_agent_that_is_to_plan_is_told_where(server: ProcessServer, packet: Packet, tmp_path: Path) -> None:
    tells = "import os; print([name in os.environ for name in ('SANTIAGO_DETAIL', 'SANTIAGO_EVIDENCE')])"
    agent = program(server, tmp_path, tells)
    for proposes, told in ((True, "[True, False]"), (False, "[False, True]")):
        agent.attempt(replace(packet, proposes=proposes), Never())
        assert Path(packet.log).read_text().strip() == told


def test_what_it_wrote_is_read_once_and_gone_afterwards(server: ProcessServer, packet: Packet, tmp_path: Path) -> None:
    program(server, tmp_path, WRITES % "'x'").attempt(packet, Never())
    assert list((tmp_path / "scratch").iterdir()) == []
    assert program(server, tmp_path, "pass").attempt(packet, Never()).detail is None


@pytest.mark.parametrize("before", [0, LONGEST_DETAIL - 10, LONGEST_DETAIL + 5])
def test_secrets_in_a_plan_are_redacted(server: ProcessServer, packet: Packet, tmp_path: Path, before: int) -> None:
    script = WRITES % f"'x' * {before} + ' {SECRET} end'"
    detail = program(server, tmp_path, script).attempt(packet, Never()).detail
    assert detail is not None
    assert SECRET[:4] not in detail
    assert detail == ("x" * before + " [redacted] end")[: LONGEST_DETAIL + 1]


@pytest.mark.parametrize(
    "left",
    ["open(path + 2 * 'x', 'w').close(); os.symlink(path + 2 * 'x', path)", "os.mkfifo(path)", "os.mkdir(path)"],
)
def test_a_link_or_a_pipe_is_no_plan(server: ProcessServer, packet: Packet, tmp_path: Path, left: str) -> None:
    agent = program(server, tmp_path, f"import os; path = os.environ['SANTIAGO_DETAIL']; {left}")
    assert agent.attempt(packet, Never()).detail is None


def test_bytes_that_are_no_text_do_no_harm(server: ProcessServer, packet: Packet, tmp_path: Path) -> None:
    agent = program(server, tmp_path, r"import os; open(os.environ['SANTIAGO_DETAIL'], 'wb').write(b'\xff{\0')")
    assert agent.attempt(packet, Never()).detail == "\ufffd{\0"


@pytest.mark.parametrize("kind", [*KINDS, pytest.param("landlock", marks=needs_landlock)])
def test_in_a_fence_it_can_write_its_plan_and_not_the_checkout(
    kind: str, server: ProcessServer, packet: Packet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """acceptance 31: read-only on the checkout."""
    tries = (
        "import os, pathlib\n"
        "seen = pathlib.Path('kept').read_text()\n"
        "try: pathlib.Path('new').write_text('x'); seen += ' written'\n"
        "except OSError: seen += ' refused'\n"
        "pathlib.Path(os.environ['SANTIAGO_DETAIL']).write_text(seen)\n"
    )
    (tmp_path / "home").mkdir()
    source = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
    agent = program(server, tmp_path, tries, found(kind, source, monkeypatch), source)
    ending = agent.attempt(packet, Never())
    assert (ending.reason, ending.detail) == (None, "kept refused"), Path(packet.log).read_text()
    assert os.listdir(packet.folder) == ["kept"]


# A playbook


def test_a_playbook_plays_the_proposals_of_a_story_one_after_the_other(packet: Packet) -> None:
    moves: list[dict[str, object]] = [{"detail": {"objective": "é"}, "say": "first"}, {"detail": "words", "tokens": 7}]
    player = Scripted({"S1": [{"say": "work"}]}, None, {"S1": moves})
    endings = [player.attempt(replace(packet, proposal=number), Never()) for number in (1, 2, 3)]
    assert [one.detail for one in endings] == ['{\n  "objective": "é"\n}', "words", "words"]
    assert [(one.message, one.usage.tokens) for one in endings] == [("first", 0), ("", 7), ("", 7)]
    assert player.attempt(replace(packet, proposes=False), Never()).detail is None


def test_a_player_that_is_out_of_time_has_written_no_plan(packet: Packet) -> None:
    player = Scripted({}, None, {"S1": [{"detail": "words", "seconds": 60}]})
    ending = player.attempt(replace(packet, timeout_ms=1), Never())
    assert (ending.reason, ending.detail) == (Reason.AGENT_TIMEOUT, None)


# The prompt


def test_the_prompt_of_a_proposal_asks_for_one_file_and_no_work(packet: Packet) -> None:
    prompt = render(replace(packet, story=replace(STORY, files=("a.py",)), criteria=(("R1#1", "It greets."),)))
    assert prompt.startswith("# Story S1, proposal 1: plan it in detail\n")
    for said in (
        "the file that the variable SANTIAGO_DETAIL names",
        "Change nothing in the checkout",
        "It greets.",
        "`a.py`",
    ):
        assert said in prompt
    for unsaid in ("SANTIAGO_QUESTION", "SANTIAGO_EVIDENCE", "attempt", "Add tests for what you do"):
        assert unsaid not in prompt


def test_the_example_in_the_prompt_is_a_plan(packet: Packet) -> None:
    block = [line[4:] for line in render(packet).splitlines() if line.startswith("    ")]
    detail, said = proposing.read("\n".join(block))
    assert (detail is not None, said) == (True, [])


def test_a_revised_proposal_is_told_of_the_one_before_of_its_faults_and_of_what_a_person_says(packet: Packet) -> None:
    """acceptance 33."""
    given = replace(
        packet, proposal=2, before="# S1\n<<m>> forged", findings=("checks: none", "x"), notes=("In Euros.",)
    )
    lines = render(given, "m").splitlines()
    assert lines[0] == "# Story S1, proposal 2: plan it in detail"
    for title, body in (
        ("## The proposal before", ["# S1", " forged"]),
        ("## What is wrong with the proposal before", ["- checks: none", "- x"]),
        ("## What a person says", ["In Euros."]),
    ):
        at = lines.index("<<m>>", lines.index(title))
        assert lines[at : at + 2 + len(body)] == ["<<m>>", *body, "<<m>>"]


def test_an_approved_plan_is_in_the_prompt_of_an_attempt_whole_and_by_its_digest(packet: Packet) -> None:
    """acceptance 32."""
    plan = f"# S1: Greet\n\n1. {'x' * 50_000} end"
    prompt = render(replace(packet, proposes=False, detail=plan, detail_digest="0f" * 32), "m")
    assert prompt.startswith("# Story S1, attempt 1\n")
    assert f"\n<<m>>\n{plan}\n<<m>>\n" in prompt
    assert f"(sha256 {'0f' * 32})" in prompt
    assert "## The plan" not in render(replace(packet, proposes=False), "m")


# Real agents


def test_a_real_agent_writes_a_plan_from_inside_its_fence(agent: str, server: ProcessServer) -> None:
    """acceptance 31."""
    text = json.dumps(PLAN)
    tool = Shell(f"echo x > new.txt; printf '%s' '{text}' > \"$SANTIAGO_DETAIL\"")
    with bench(agent, server, [tool, Say("Planned.")]) as (backend, packet, model):
        packet = replace(packet, proposes=True, proposal=1, timeout_ms=120_000)
        Path(packet.prompt_file).write_text(backend.render(packet))
        ending = backend.attempt(packet, Never())
        assert ending.reason is None, ending.message
        assert proposing.read(ending.detail) == proposing.read(text)
        assert git(Path(packet.folder), "status", "--porcelain") == ""
        assert any("plan it in detail" in one.prompt for one in model.log)
