"""The table of docs/agents-faults.md, from the code's own table; `python -m tests.agents.document` writes it."""

from pathlib import Path

from santiago.contract.reasons import Reason
from tests.agents.faults import AGENTS, CASES, FREE, OF_PROTOCOL, TABLE
from tests.agents.install import PROGRAMS

PAGE = Path(__file__).parents[2] / "docs" / "agents-faults.md"
BEGINS, ENDS = "<!-- the table begins -->\n", "<!-- the table ends -->\n"


def table() -> str:
    """Return the table as Markdown."""
    names = [f"{PROGRAMS[name].executable or name} {PROGRAMS[name].version}" for name in AGENTS]
    head = [f"| fault | what happens | {' | '.join(names)} |", f"|---|---|{'---|' * len(names)}"]
    rows = [
        f"| {case.name} | {case.happens} | {' | '.join(_end(TABLE[name][case.name]) for name in AGENTS)} |"
        for case in CASES
    ]
    return "\n" + "\n".join([*head, *rows]) + "\n\n" + of_protocol()


def of_protocol() -> str:
    """Return the table of faults that an agent of any make has which speaks ACP."""
    rows = [f"| {name} | {happens} | {_end(reason)} |" for name, (happens, reason) in OF_PROTOCOL.items()]
    return (
        "\n".join(["| fault of an agent that speaks ACP | what happens | ends in |", "|---|---|---|", *rows]) + "\n\n"
    )


def _end(reason: Reason | None) -> str:
    if reason is None:
        return "done"
    return f"`{reason}`{' ○' if reason in FREE else ''}"


def page_with(written: str) -> str:
    """Return the page with the table in it."""
    head, _, rest = written.partition(BEGINS)
    return head + BEGINS + table() + ENDS + rest.partition(ENDS)[2]


if __name__ == "__main__":
    PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
