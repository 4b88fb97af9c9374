"""The rows of docs/proofs.md: what each says, the command that measures it, and the code that it depends on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One command, and the rows that it measures."""

    command: str
    """At its documented size, as it is typed."""
    rows: dict[str, str]
    """Name of the row, which is also its anchor in the page → what is measured."""
    paths: tuple[str, ...]
    """A change here makes the figures old."""
    short: str = ""
    """Options that make it a matter of seconds or a few minutes, to see that it works."""

    @property
    def part(self) -> Literal["proofs", "benchmarks"]:
        """Return the table of the page that the rows stand in."""
        return "benchmarks" if self.command.startswith("./dev bench ") else "proofs"

    @property
    def words(self) -> list[str]:
        """Return what follows the program's name."""
        return self.command.removeprefix("./dev bench ").removeprefix("python -m proofs ").split()


def _packages(names: str) -> tuple[str, ...]:
    return tuple(f"src/santiago/{name}" for name in names.split())


RUN = _packages("agent app artifacts contract engine executor judge process util workspace")
CRASH = (*RUN, "proofs/crash", "tests/crash/world.py", "proofs/telling.py")
SIMULATED = (*_packages("contract executor simulation"), "proofs/simulating", "proofs/simulate.py")
GREETER = (*RUN, *_packages("cli planner"), "tests/cli/greeter.py")
BOARD = _packages("board contract")
HONEST = (*RUN, *_packages("cli planner"), "proofs/corpus.py", "proofs/honest.py")
MUTATIONS = (*RUN, *_packages("cli planner"), "proofs/corpus.py", "proofs/mutating", "proofs/mutations.py")
_HONEST = "real commits of other projects as the work of honest agents"
_BROKEN = "real commits whose source is broken while the tests that would show it are eased: none may end done"
_MACHINES = (
    "runs through {} on six workers, three of them in networks of their own: 50 `kill -9` and 50 pauses of workers, 20 cuts of "
    "their network, 10 `kill -9` of the server and 5 of the coordinator: every story is done once, nothing late is accepted (needs root)"
)

PROOFS = (
    Measurement(
        command="python -m proofs ports", short="--count 2 --step 40", paths=(*CRASH, "proofs/ports.py"),
        rows={"ports": "death before, after and in the middle of every effect at the store and workspace ports; some runs die again while resumed"},
    ),
    Measurement(
        command="python -m proofs kills", short="--count 10", paths=(*CRASH, "proofs/kills.py"),
        rows={"kills": "`kill -9` at random system calls, three jobs, kills during the resume included"},
    ),
    Measurement(
        command="python -m proofs gates", short="--count 1 --step 15", paths=(*CRASH, "proofs/gates.py"),
        rows={"gates": "`kill -9` before and after every event of a step-by-step run whose questions are answered from outside: none is asked twice"},
    ),
    Measurement(
        command="python -m proofs sessions", short="--step 10", paths=(*CRASH, *_packages("sessions planner"), "proofs/sessions.py"),
        rows={"sessions": "`kill -9` before and after every event of a planning session and of its run: no turn counts twice, the same plan to the byte"},
    ),
    Measurement(
        command="python -m proofs loop", short="--step 30", paths=(*CRASH, *_packages("board planner"), "proofs/loop.py"),
        rows={"loop": "`kill -9` of `santiago loop` before and after what it and its run record: every ticket is done once, and no attempt lacks a claim"},
    ),
    Measurement(
        command="python -m proofs powercuts", short="--count 4", paths=(*CRASH, "proofs/powercuts.py"),
        rows={"powercuts": "power cuts: the file system is shut down at a random system call and mounted again, three jobs (needs root)"},
    ),
    Measurement(
        command="python -m proofs parity", short="--count 4", paths=(*RUN, "tests/executor/parity.py", "proofs/parity.py"),
        rows={"parity": "random plans with real git, one job against eight: the same completions, commit subjects and tree"},
    ),
    Measurement(
        command="python -m proofs seeds", short="--step 20",
        paths=(
            *_packages("app artifacts contract executor report util web"),
            "tests/executor", "tests/artifacts/test_inbox.py", "tests/web", "proofs/seeds.py",
        ),
        rows={"seeds": "random plans on simulated ports: jobs, deaths and waits change no end; two or three who answer a question at once: one counts"},
    ),
    Measurement(
        command="python -m proofs ids", short="--places 5", paths=(*_packages("planner contract"), "proofs/ids.py"),
        rows={"ids": "one requirement added at each place of a hundred, with and without ids: no other is renamed; 100,000 boxes are read"},
    ),
    Measurement(
        command="python -m proofs simulate", short="--count 250", paths=SIMULATED,
        rows={"simulate": "schedules on a virtual clock, with deaths, losses, late reports, skewed clocks, rate limits: the eight promises at every event"},
    ),
    Measurement(
        command="python -m proofs calibration", short="--count 20", paths=(*SIMULATED, "proofs/calibration.py"),
        rows={"calibration": "simulated runs that end between p10 and p90 of a forecast from thirty attempts, each in a world of its own"},
    ),
    Measurement(
        command="python -m proofs simulate --planted", short="--only any_order", paths=SIMULATED,
        rows={"simulate-planted": "bugs planted in the loop, one at a time: each is found by these schedules"},
    ),
    Measurement(
        command="python -m proofs maintenance", short="--count 4", paths=(*GREETER, "proofs/maintenance.py"),
        rows={
            "maintenance": "`gc --prune=now`, `repack`, `prune` and `pack-refs` at random moments of a run: it ends as ever, and `git fsck` finds no damage",
        },
    ),
    Measurement(
        command="python -m proofs disk", short="--step 200", paths=(*CRASH, "proofs/disk.py"),
        rows={"disk": "ENOSPC, EROFS and EIO at writes of a run, everywhere that it writes, once and for good; then the disk is mended and the run goes on"},
    ),
    Measurement(
        command="python -m proofs fenced-kills", short="--count 6", paths=(*GREETER, "tests/cli/fenced.py", "proofs/fenced_kills.py"),
        rows={
            "fenced-kills-bubblewrap": "`kill -9` at random moments while agents and checks work inside bubblewrap: nothing survives, no done work is lost",
            "fenced-kills-landlock": "`kill -9` at random moments while agents and checks work inside Landlock: nothing survives, no done work is lost",
        },
    ),
    Measurement(
        command="python -m proofs breakouts", short="--only socket", paths=("src/santiago/process", "proofs/breakouts.py", "proofs/breaking"),
        rows={"breakouts": "tries to break out of each kind of sandbox, as agent and as check, as the superuser and as an ordinary user (needs root)"},
    ),
    Measurement(
        command="python -m proofs flips", short="--every 1000", paths=(*GREETER, "proofs/flips.py"),
        rows={"flips": "random bits of every file of a finished run flipped, one at a time: `santiago audit` notices each"},
    ),
    Measurement(
        command="python -m proofs board",
        short="--minutes 0.2 --processes 4 --tickets 500", paths=(*BOARD, "tests/board/invariants.py", "proofs/board.py", "proofs/crowd.py"),
        rows={"board": "eight processes on one board of 10,000 tickets, one of them killed four times a second: no ticket is lost, none claimed twice"},
    ),
    Measurement(
        command="python -m proofs machines", short="--short",
        paths=(*RUN, "proofs/chaos.py", "tests/engine/machines.py", "tests/engine/networks.py", "proofs/machines.py"),
        rows={f"machines-{engine}": _MACHINES.format(name) for engine, name in (("postgres", "PostgreSQL"), ("temporal", "Temporal"))},
    ),
    Measurement(
        command="python -m proofs flood", short="--gigabytes 0.1", paths=(*GREETER, "proofs/flood.py"),
        rows={"flood": "peak resident memory of a run whose one check prints gigabytes"},
    ),
    Measurement(
        command="python -m proofs honest", short="--only tenacity-cb15300d", paths=HONEST,
        rows={"honest": _HONEST},
    ),
    Measurement(
        command="python -m proofs honest --variant default", short="--only tenacity-cb15300d", paths=HONEST,
        rows={"honest-default": f"{_HONEST}, under the default policy: what no test shows is asked about, and none is refused"},
    ),
    Measurement(
        command="python -m proofs honest --variant named", short="--only tenacity-cb15300d", paths=HONEST,
        rows={"honest-named": f"{_HONEST}, `Files` naming the source only"},
    ),
    Measurement(
        command="python -m proofs honest --variant tests-first", short="--only boltons-ebc7a8f7", paths=HONEST,
        rows={"honest-tests-first": f"{_HONEST}, their tests committed before the work; counted are the commits whose tests fail without it"},
    ),
    Measurement(
        command="python -m proofs mutations", short="--count 2 --only boltons-673e010d", paths=MUTATIONS,
        rows={"mutations": _BROKEN},
    ),
    Measurement(
        command="python -m proofs mutations --two-stories --count 20", short="--count 2 --only boltons-ebc7a8f7", paths=MUTATIONS,
        rows={"mutations-two-stories": "broken real commits in two stories: the first eases the tests, the second breaks the source: none may end done"},
    ),
    Measurement(
        command="python -m proofs adversaries", short="--only leaves_a_program", paths=(*RUN, "proofs/adversaries"),
        rows={"adversaries": "every [lying or hostile agent](adversaries.md), with and without a sandbox: each ends as the page says"},
    ),
    Measurement(
        command="python -m proofs junk", short="--in boltons --only says_it_is_done,tests_itself", paths=(*HONEST, "proofs/junk"),
        rows={"junk": "agents whose work does nothing for their story, in real repositories, a document without commands: none may end as success"},
    ),
    Measurement(
        command="python -m proofs pages", short="--only plan.md", paths=("src/santiago", "docs", "tests/docs", "proofs/pages.py"),
        rows={"pages": "every command of README and every page of docs, typed from top to bottom: it prints what the page shows"},
    ),
    Measurement(
        command="python -m proofs agents", short="claude --tests tests/agents/test_stories.py", paths=(*RUN, "tests/agents", "proofs/agents.py"),
        rows={"agents": "Claude Code, Codex, OpenCode and Gemini CLI, the real programs: stories, time-outs, [every fault](agents-faults.md) (needs npm)"},
    ),
    Measurement(
        command="python -m proofs interop", short="client",
        paths=(*RUN, *_packages("mcp report"), "plugin", ".claude-plugin", "tests/agents", "tests/mcp", "proofs/interop.py"),
        rows={
            "interop-client": "MCP: the library's own client uses every tool, by two protocol versions",
            "interop-inspector": "MCP: MCP Inspector's command line uses every tool (needs npm)",
            "interop-claude": "MCP: Claude Code, with a hook that accepts every form, uses every tool, and no answer is recorded (needs npm)",
            "interop-plug-in": "`claude plugin validate` of the plug-in and the marketplace; Claude Code loads its server and its skill (needs npm)",
            "interop-acp": "ACP: claude-agent-acp and Gemini CLI, the real programs: stories with a failed check in the sandbox, usage to the token, "
            "time-outs, [every fault](agents-faults.md) (needs npm)",
        },
    ),
    Measurement(
        command="python -m proofs suite", short="tests/util", paths=("src", "tests", "proofs/suite.py", "constraints.txt", "dev"),
        rows={"suite": "`./dev test` in a fresh clone with an empty home folder, from the making of its environment to its end"},
    ),
    Measurement(
        command="python -m proofs suite --quick", short="tests/util", paths=("src", "tests", "proofs/suite.py", "constraints.txt", "dev"),
        rows={"suite-quick": "`./dev test --quick` in a fresh clone whose environment is there already"},
    ),
)  # fmt: skip

_LOOP = "wall time of 100 stories / a bare shell loop with the same checkouts, median of five interleaved pairs"
_FLEET = "300 stories on the virtual clock, attempts of about eight minutes and checks of one,"
_RED = "the same with one work in ten red beside the work of others / with checks that take no time, mean of eight,"
BENCHMARKS = (
    Measurement(
        command="./dev bench startup", paths=("src/santiago", "benchmarks/bench_startup.py"),
        rows={
            "startup-help": "`santiago --help` / `python -c pass`: processor time, modules compiled, median of 15",
            "startup-plan": "`santiago plan` of 20 requirements / `python -c pass`",
            "startup-plan-again": "`santiago plan` of 20 requirements into another folder / `python -c pass`",
            "startup-status": "`santiago status` of a killed run of 20 stories / `python -c pass`",
            "startup-run-help": "`santiago run --help` / `python -c pass`",
            "startup-stop": "`santiago stop` of a killed run of 20 stories / `python -c pass`",
            "startup-queue-list": "`santiago queue list` of a board without tickets / `python -c pass`",
            "startup-mcp": "`santiago mcp` until a client knows its tools / the least server of the same library, processor time, median of 15",
            "startup-help-mcp": "`santiago --help` / the same of the commit before the MCP server, median of 75 pairs",
            "startup-resume": "`santiago resume` of a killed run until its agent starts, without a sandbox / `python -c pass`",
        },
    ),
    Measurement(
        command="./dev bench compile", paths=(*_packages("planner contract"), "benchmarks/bench_compile.py", "benchmarks/documents.py"),
        rows={
            "compile-parser": "compile of 10,000 requirements with 30,000 edges / markdown-it-py parsing the same text: processor time, best of 5",
            "compile-time": "processor time when the requirements double, from 12,500 to 100,000: the worst of three doublings",
            "compile-memory": "peak memory when the requirements double, from 12,500 to 100,000: the worst of three doublings",
        },
    ),
    Measurement(
        command="./dev bench log", paths=(*_packages("artifacts contract"), "benchmarks/bench_log.py"),
        rows={
            "log-replay": "replay of 100,000 events with the chain verified / the fastest JSON library parsing the same lines, best of 15",
            "log-time": "processor time when the events double, from 50,000 to 200,000: the worse of two doublings",
            "log-memory": "peak memory of 200,000 events / of 50,000",
        },
    ),
    Measurement(
        command="./dev bench execute", paths=(*RUN, "benchmarks/bench_execute.py", "benchmarks/stories.py"),
        rows={
            "execute-git": "git processes per story, counted with strace",
            "execute-syncs": "syncs per story, counted with strace",
            "execute-cpu": "santiago's own processor time per story, best of 3",
            "execute-wall-real": f"{_LOOP}: a small Python agent and one unittest",
            "execute-wall-empty": f"{_LOOP}: an agent and a check that do next to nothing",
            "execute-wall-growth": "wall time of 1,000 stories / of 100, start included",
            "execute-cpu-growth": "processor time of 1,000 stories / of 100, start included",
            "execute-memory-growth": "peak memory of 1,000 stories / of 100",
        },
    ),
    Measurement(
        command="./dev bench simulate", paths=(*SIMULATED, "tests/executor/fleets.py", "benchmarks/bench_simulate.py"),
        rows={
            "fleet-64": f"{_FLEET} on 64 workers, mean of eight",
            "fleet-16": f"{_FLEET} on 16 workers, mean of eight",
            "fleet-64-red": f"{_RED} on 64 workers",
            "fleet-16-red": f"{_RED} on 16 workers",
            "fleet-verified": "second verdicts that are begun there for each story, on average",
            "fleet-large-time": "processor time to simulate 10,000 stories on 1,000 workers",
            "fleet-large-memory": "its peak memory",
            "simulate-forecast": "processor time of `santiago simulate` for 100 stories: 200 runs, and what would make them faster",
        },
    ),
    Measurement(
        command="./dev bench watch", paths=(*_packages("app artifacts cli contract report sessions tui"), "tests/tui", "benchmarks/bench_watch.py"),
        rows={
            "watch-paint": "`santiago watch` of 2,000 stories: first paint / a bare Textual tree of the same rows, from process start, median of 5",
            "watch-key": "`santiago watch`: from a key to its repaint, 95th percentile",
            "review-paint": "`santiago review` of a plan of 2,000 stories: first paint / a bare Textual tree of the same rows, median of 5",
            "review-key": "`santiago review`: from a key to its repaint, 95th percentile",
            "watch-memory": "memory of `santiago watch` after 100,000 more events / before",
        },
    ),
    Measurement(
        command="./dev bench report", paths=(*_packages("app contract report web"), "tests/web/reports.py", "benchmarks/bench_report.py"),
        rows={
            "report-size": "`santiago report` of 500 stories and 625 attempts: size of the file",
            "report-open": "opening that file in Chromium until its first paint / an empty page, median of 15 pairs",
            "report-loaded": "opening that file in Chromium until all of it is loaded / an empty page, median of 15 pairs",
        },
    ),
    Measurement(
        command="./dev bench serve", paths=(*_packages("app contract report web"), "tests/web/served.py", "benchmarks/bench_serve.py"),
        rows={
            "serve-paint": "`santiago serve`, a run of 2,000 stories: first paint / a static page of the same first screen, median of 15 pairs",
            "serve-memory": "memory of `santiago serve` after 100,000 more events with five pages open / before",
        },
    ),
    Measurement(
        command="./dev bench board", paths=(*BOARD, "benchmarks/bench_board.py"),
        rows={
            "board-claim": "claim of a ticket and its move to the review / huey's `dequeue` and `put_result`, durable writes, median of 25 rounds",
            "board-growth": "claim of a ticket and its move to the review with 100,000 tickets / with 100, files on",
        },
    ),
    Measurement(
        command="./dev bench queue",
        paths=(*_packages("engine contract/ports/queue.py"), "tests/engine/servers.py", "benchmarks/bench_queue.py"),
        rows={
            "queue-postgres": "empty orders through PostgreSQL, the queue alone with two workers in processes, median of 3",
            "queue-temporal": "empty orders through Temporal's dev server, the queue alone with two workers in processes, median of 3",
        },
    ),
)  # fmt: skip
MEASUREMENTS = (*PROOFS, *BENCHMARKS)
