"""Every command line that a page shows is run, and prints what the page shows.

The tests type most pages; those whose commands other pages type as well are typed by `python -m proofs pages`.
"""

import re
from pathlib import Path

import pytest

from santiago.process import sandbox
from tests.docs.matching import fits
from tests.docs.pages import ROOT, Fence, pages, read
from tests.docs.playing import play
from tests.docs.renewing import renew

FENCE = sandbox.detect("auto").kind
NOT_RUN = {
    "README.md: ./dev demo     # sets up and runs the ma": "installs from the package index; CI runs it",
    "README.md: pipx install .        # or: uv tool inst": "the same",
    "machines.md: pip install 'santiago[postgres]'   # or ": "the same",
    "machines.md: export SANTIAGO_ENGINE=postgresql://sant": "the server of the tests has a port of its own",
    "machines.md: sbatch --array=1-20 worker.sh": "needs a cluster",
}
"""Fences of commands that no test runs (`<!-- not run -->` in the page), by their first line, and why."""

NO_OUTPUT = {
    "architecture.md: src/santiago/": "folders",
    "architecture.md: text → sniff → reader → units → requirem": "a drawing",
    "architecture.md: log ── fold ──> RunState ── decide (pure": "a drawing",
    "architecture.md: base ─┐                                 ": "a drawing",
    "architecture.md: profile ── start ──> program ──> agent.l": "a drawing",
    "board.md: <root>                                .s": "files",
    "machines.md: coordinator ── orders (ids) ──> engine: ": "a drawing",
    "planning.md: .santiago/sessions/<session id>/": "files",
    "reference.md: .santiago/runs/<run id>/": "files",
    "verdict.md: success  5 done: 3 shown, 1 attested, 1 ": "a first line with every word",
}
"""Fences of `text`, by their first line, and what they are: output of a program is shown as `console`, below its command."""


def fences() -> list[tuple[Path, Fence]]:
    return [(page, part) for page in pages() for part in read(page) if isinstance(part, Fence)]


COMMAND = re.compile(r"\bsantiago ((?:queue )?[a-z][a-z-]*)")
IN_PROOFS = {"agents.md", "changing-the-document.md", "mcp.md", "no-commands.md", "recipes.md"}
"""Pages that `python -m proofs pages` types, and not the tests."""


def played() -> list[Path]:
    """Return the pages that have something to run."""
    return sorted({page for page, fence in fences() if fence.commands and "not run" not in fence.marks})


def commands(page: Path) -> set[str]:
    """Return the commands of santiago that a page types."""
    typed = [command.text for part in read(page) if isinstance(part, Fence) for command in part.commands]
    return {name for text in typed for name in COMMAND.findall(text)}


def test_every_command_of_a_page_that_only_a_proof_types_is_typed_on_a_page_of_the_tests() -> None:
    here = set().union(*(commands(page) for page in played() if page.name not in IN_PROOFS))
    missing = {page.name: commands(page) - here for page in played() if page.name in IN_PROOFS}
    assert missing == {name: set[str]() for name in IN_PROOFS}


@pytest.mark.skipif(FENCE not in ("bubblewrap", "namespaces"), reason="pages show runs inside a sandbox")
@pytest.mark.parametrize("page", [page for page in played() if page.name not in IN_PROOFS], ids=lambda page: page.name)
def test_what_a_page_shows_is_what_is_printed(page: Path, tmp_path: Path) -> None:
    wrong = [typed for typed in play(page, tmp_path) if not typed.is_right]
    assert not wrong, "\n\n".join(map(str, wrong))


def test_what_is_not_run_is_listed_with_its_reason() -> None:
    found = {f"{page.name}: {fence.body[0][:40]}" for page, fence in fences() if "not run" in fence.marks}
    assert found == set(NOT_RUN)


def test_output_stands_below_its_command() -> None:
    found = {f"{page.name}: {fence.body[0][:40]}" for page, fence in fences() if fence.language == "text"}
    assert found == set(NO_OUTPUT)
    bare = [
        f"{page.name}:{fence.line}"
        for page, fence in fences()
        if fence.language == "console" and not fence.body[0].startswith("$ ")
    ]
    assert bare == []


def test_every_fence_says_what_it_holds() -> None:
    assert [f"{page.name}:{fence.line}" for page, fence in fences() if not fence.language] == []


def test_no_fence_hides_a_command_from_the_tests() -> None:
    hidden = [
        f"{page.name}:{fence.line}" for page, fence in fences()
        if fence.language not in ("console", "sh") and any(line.startswith("$ ") for line in fence.body)
    ]  # fmt: skip
    assert hidden == []


@pytest.mark.parametrize(
    ("shown", "printed", "is_right"),
    [
        (["a", "…", "z"], ["a", "b", "c", "z"], True),
        (["a", "…", "z"], ["a", "z"], True),
        (["a … z"], ["a b c z"], True),
        (["a"], ["a", "b"], False),
        (["a", "b"], ["a"], False),
        (["10:20:08 ok  S1 (1.6 s)"], ["11:30:09 ok  S1 (12 s)"], True),
        (["r_20261117_102006 at 85b6bcd37c14"], ["r_20270101_000000_2 at 0000bcd37c14"], True),
        (["do r_20261117_102006   # a", "pr   # b"], ["do r_20261117_102006_2   # a", "pr     # b"], True),
        (["2 done of 5"], ["3 done of 5"], False),
        (["S1 attempt 1 of 4"], ["S1 attempt 2 of 4"], False),
    ],
)
def test_only_what_differs_from_run_to_run_may_differ(shown: list[str], printed: list[str], is_right: bool) -> None:
    assert fits(shown, printed) is is_right


def test_a_page_that_shows_what_is_not_printed_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- world: empty -->\n```console\n$ cat README.md\n# Ledger\n$ echo a\nb\n```\n")
    assert [(typed.command, typed.is_right) for typed in play(page, tmp_path / "worlds")] == [
        ("cat README.md", True),
        ("echo a", False),
    ]


def test_a_page_is_renewed_with_what_is_printed_now_and_leaves_out_what_it_left_out(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    text = "<!-- world: empty -->\n```console\n$ printf 'one\\ntwo\\nthree and a half\\nfour\\n'\n{}\n…\n```\n\n```sh\nfalse\n```\n"
    page.write_text(text.format("…\nthree and a third"))
    renew(page, list(play(page, tmp_path / "worlds")))
    assert page.read_text() == text.format("…\nthree and a half")


def test_the_readme_is_among_the_pages() -> None:
    assert ROOT / "README.md" in pages()
