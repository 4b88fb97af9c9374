"""A planning session made of events with fixed times, as its conductor would have written them: for pictures, and large plans."""

from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from santiago.artifacts.frame import GENESIS, encode
from santiago.artifacts.names import INPUT, LOG
from santiago.artifacts.session_files import ASKED
from santiago.contract import codec
from santiago.contract.events import Context, Event, EventKind
from santiago.contract.phases import SessionPhase
from santiago.contract.policy import Agent, RunInput
from santiago.contract.session import Drafter, SessionInput
from santiago.planner.compile import compile_plan
from santiago.planner.source import Source
from tests.cli import greeter
from tests.tui.made import CHUNKS, COMMIT, document

K, P = EventKind, SessionPhase
SESSION = "p_20261115_011702"
NOW = "2026-11-15T01:26:00.000Z"
AGENTS = ("claude", "codex")
SAID = "ask for the reason of a refund, and leave the release notes to the end"


class MadeSession:
    def __init__(self, root: Path, task: str = "Give customers their money back") -> None:
        self.folder = root / ".santiago" / "sessions" / SESSION
        (self.folder / "revisions").mkdir(parents=True)
        drafters = tuple(Drafter(label=name, agent=Agent(command=(name,))) for name in AGENTS)
        asked = SessionInput(contract_version=1, session_id=SESSION, task=task, drafters=drafters)
        run_input = RunInput(contract_version=1, repo_path=str(root), prd_path="docs/prd.md")
        (self.folder / INPUT).write_bytes(codec.canonical(run_input))
        (self.folder / ASKED).write_bytes(codec.canonical(asked))
        self.base = greeter.git(root, "rev-parse", "HEAD") if (root / ".git").exists() else COMMIT
        self.seq, self.prev, self.second, self.revision, self.turn = 0, GENESIS, 0, 0, 0
        self.add(K.SESSION_CREATED, P.DRAFTING, input_digest=codec.digest(asked), log=1, version="0.1.0")

    def add(
        self, event_kind: EventKind, phase: SessionPhase | None = None, /, *, attempt: int | None = None, status: Any = None,
        after: int = 5, **context: Any,
    ) -> None:  # fmt: skip
        self.seq, self.second = self.seq + 1, self.second + after
        time = f"2026-11-15T01:{17 + self.second // 60:02}:{self.second % 60:02}.000Z"
        event = Event(
            seq=self.seq, timestamp=time, run_id=SESSION, event=event_kind, phase=phase, attempt=attempt, status=status,
            actor="ann", context=cast("Context", context),
        )  # fmt: skip
        line, self.prev = encode(event, self.prev)
        with (self.folder / LOG).open("ab") as file:
            file.write(line)

    def begin_turn(self, said: str = "", agents: tuple[str, ...] = AGENTS) -> None:
        if said:
            self.add(K.QUESTION_ANSWERED, question=f"plan-{self.revision}", answer="adjust", text=said)
        self.turn += 1
        mode = "multi" if len(agents) > 1 else "single"
        began: dict[str, Any] = {"mode": mode, "agents": list(agents), "base": self.base, "revision": self.revision}
        self.add(K.TURN_STARTED, P.DRAFTING, attempt=self.turn, text=said, **began)

    def drafts(self, agent: str, *, kind: str = "draft", done: bool = True) -> None:
        self.add(K.DRAFT_STARTED, attempt=self.turn, agent=agent, kind=kind, round=1)
        if done:
            spent = {"ms": 41_000, "tokens": 18_200, "cost_micro_usd": 140_000, "digest": "2" * 64}
            self.add(K.DRAFT_ENDED, attempt=self.turn, status="ok", agent=agent, kind=kind, after=41, **spent)

    def ends_turn(self, text: str) -> None:
        compiled = compile_plan(Source(text, path="docs/prd.md"))
        assert compiled.plan is not None, compiled.findings
        content, self.revision = codec.canonical(compiled.plan), self.revision + 1
        (self.folder / "revisions" / f"{self.revision:04}.json").write_bytes(content)
        digest = sha256(content).hexdigest()
        self.add(K.TURN_ENDED, P.REVIEW, status="ok", revision=self.revision, digest=digest, agent=AGENTS[0])
        name = f"plan-{self.revision}"
        self.add(K.QUESTION_ASKED, question=name, kind="plan", text="?", round=self.revision, revision=self.revision)

    def has_turn(self, text: str, said: str = "") -> None:
        self.begin_turn(said)
        for name in AGENTS:
            self.drafts(name)
        self.drafts(AGENTS[0], kind="merge")
        self.ends_turn(text)


def changed() -> str:
    text = document({**CHUNKS, "Release notes": ("Write the notes", "Tell the customers")})
    text = text.replace(
        "- [ ] Refund endpoint is tested", "- [ ] Refund endpoint is tested\n- [ ] a refund names its reason"
    )
    return text.replace("`src/part3.py`", "`src/part3.py`, `src/reasons.py`")


def reviewed(root: Path) -> MadeSession:
    """Make a session with two revisions, which waits for a word."""
    made = MadeSession(root)
    made.has_turn(document())
    made.has_turn(changed(), SAID)
    return made


def drafting(root: Path) -> MadeSession:
    """Make a session whose second turn is under way: one has drafted, one drafts."""
    made = MadeSession(root)
    made.has_turn(document())
    made.begin_turn(SAID)
    made.drafts("claude")
    made.drafts("codex", done=False)
    return made


def large(root: Path, chunks: int = 8, stories: int = 50) -> MadeSession:
    """Make a session with very many stories, and a second revision of them."""
    made = MadeSession(root)
    plan = {
        f"part {place}": tuple(f"Piece {place}-{each} of the whole" for each in range(stories))
        for place in range(1, chunks + 1)
    }
    made.has_turn(document(plan))
    plan[f"part {chunks}"] = (*plan[f"part {chunks}"][:-1], "The last of all")
    made.has_turn(document(plan), "another last one")
    return made
