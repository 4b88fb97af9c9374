"""The block for coding agents in AGENTS.md: put in, kept up to date, and taken out, with every other byte as it was."""

from pathlib import Path

import pytest

from santiago.app.agents_md import BEGIN, BLOCK, END
from tests.cli.inside import inside


@pytest.mark.parametrize(
    "own", [b"", b"# Ours\n", b"# Ours\n\n", b"# Ours\r\n\r\nBe kind.\r\n", b"# \xff\xfe not UTF-8\n", b"no line end"]
)
def test_the_block_comes_and_goes_with_every_other_byte_as_it_was(own: bytes, tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    if own:
        path.write_bytes(own)
    inside("init", "--agents-md", cwd=tmp_path, code=0)
    first = path.read_bytes()
    assert BLOCK.encode() in first.replace(b"\r\n", b"\n")
    assert "unchanged" in inside("init", "--agents-md", cwd=tmp_path).stdout
    path.write_bytes(first.replace(b"## Santiago", b"## An older text") + b"More below\n")
    inside("init", "--agents-md", cwd=tmp_path, code=0)
    assert path.read_bytes() == first + b"More below\n"
    path.write_bytes(first)
    inside("init", "--no-agents-md", cwd=tmp_path, code=0)
    assert path.exists() is bool(own)
    assert not own or path.read_bytes() == (own if own.endswith(b"\n") else own + b"\n")
    assert "no block" in inside("init", "--no-agents-md", cwd=tmp_path).stdout
    assert not (tmp_path / "santiago.toml").exists()


def test_marks_that_are_no_pair_and_links_that_lead_away_are_refused(tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    path = tmp_path / "repo" / "AGENTS.md"
    for text in (BEGIN, END, f"{END}{BEGIN}", f"{BEGIN}{END}{BEGIN}{END}"):
        path.write_text(text)
        assert "not one pair" in inside("init", "--agents-md", cwd=path.parent, code=30).stderr
        assert path.read_text() == text
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere.md")
    assert "out of this repository" in inside("init", "--agents-md", cwd=path.parent, code=2).stderr
