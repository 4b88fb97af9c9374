"""One attempt of a real agent through santiago's own backend, fence and reader, without the rest of a run."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from santiago.app.start import agents, backends
from santiago.contract.outcomes import AgentEnding
from santiago.contract.policy import Agent, RunInput
from santiago.contract.ports.agent import AgentBackend, Packet
from santiago.contract.reasons import MEANINGS, Reason
from santiago.process import sandbox
from santiago.process.redact import secrets_in
from santiago.process.server import ProcessServer
from tests.agents.faults import Case
from tests.agents.homes import home
from tests.agents.install import PROGRAMS
from tests.agents.model import Model
from tests.agents.packets import STORY, Never, packet_in
from tests.agents.running import surroundings
from tests.agents.script import Fault, Script
from tests.cli.greeter import git

SECONDS = 120
"""For an attempt that ends by itself."""
AT_ONCE = 4
"""They mostly wait."""


@dataclass(frozen=True)
class Ended:
    """What came of one attempt."""

    case: Case
    ending: AgentEnding
    changed: bool
    requests: int
    spent: int
    """Tokens that the model handed out."""

    @property
    def reason(self) -> Reason | None:
        """Return the reason that santiago would record; an attempt without one and without work changed nothing."""
        return self.ending.reason or (None if self.changed else Reason.AGENT_NO_CHANGE)

    @property
    def spends(self) -> bool:
        return self.reason is None or MEANINGS[self.reason].spends


def ended(name: str, cases: tuple[Case, ...], server: ProcessServer, seconds: int) -> dict[str, Ended]:
    """Let an agent meet each fault; `seconds` is the time of an attempt that does not end by itself."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        # what must wait for its time goes first, the rest meanwhile
        order = sorted(cases, key=lambda case: not case.lasts)
        return {one.case.name: one for one in pool.map(partial(meet, name, server, seconds), order)}


def meet(name: str, server: ProcessServer, seconds: int, case: Case) -> Ended:
    with bench(name, server, case.script, case.fault) as (backend, packet, model):
        packet = replace(packet, timeout_ms=(seconds if case.lasts else SECONDS) * 1000)
        Path(packet.prompt_file).write_text(backend.render(packet))
        ending = backend.attempt(packet, Never())
        changed = bool(git(Path(packet.folder), "status", "--porcelain"))
        return Ended(case, ending, changed, sum(one.place is not None for one in model.log), model.spent)


@contextmanager
def bench(
    name: str, server: ProcessServer, script: Script, fault: Fault | None = None
) -> Iterator[tuple[AgentBackend, Packet, Model]]:
    """Yield an agent in its fence, a packet for it to work on, and the model that it talks to."""
    with Model(script, fault) as model, home(name, model.url) as folders, TemporaryDirectory() as place:
        repo = _repository(Path(place, "repo"))
        model.counts_sides = PROGRAMS[name].counts_sides
        source = surroundings(name, folders, Path(place, "cache"))
        agent = agents.one_named(Agent(), PROGRAMS[name].words or name, None, None)
        profile = agents.profile_of(agent, source)
        fence = partial(
            backends.fenced,
            profile=profile,
            sandbox=sandbox.detect("auto", source),
            source=source,
            hidden=(),
        )
        run_input = RunInput(contract_version=1, repo_path=str(repo), prd_path="prd.md", agent=agent)
        scratch = Path(place, "scratch")
        backend = backends.backend(profile, run_input, server, source, fence, secrets_in(source), scratch)
        Path(place, "plan").mkdir()
        story = replace(STORY, title="Write new.txt")
        yield backend, packet_in(Path(place), repo, story=story, commands=("test -e new.txt",)), model


def _repository(folder: Path) -> Path:
    folder.mkdir()
    (folder / "README").write_text("Nothing yet.\n")
    git(folder, "init", "-q", "-b", "main", ".")
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "Start")
    return folder
