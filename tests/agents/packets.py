"""What an agent's backend is given, without the rest of a run: a packet, and nobody who stops it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from santiago.contract.ports.agent import Packet
from tests.contract.histories import plan_of

STORY = plan_of(S1="").stories[0]


class Never:
    """Nobody stops it."""

    def soon(self) -> bool:
        return False

    def now(self) -> bool:
        return False


def packet_in(place: Path, folder: Path, **given: Any) -> Packet:
    """Return the packet of a first attempt that works in `folder`; its other files are in `place`."""
    packet = Packet(
        run_id="r_1", story=STORY, attempt=1, criteria=(), commands=(), chunk_titles=(), critiques=(),
        notes=(), folder=str(folder), plan_folder=str(place / "plan"), log=str(place / "agent.log"),
        prompt_file=str(place / "prompt.md"), timeout_ms=60_000,
    )  # fmt: skip
    return replace(packet, **given)
