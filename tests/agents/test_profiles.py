"""Profiles are data that can be trusted: those that ship are whole, a wrong one is one clear error, the page tells the truth."""

import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from santiago.agent import stream
from santiago.agent.catalog import MOST_BYTES, Catalog, availability, expanded, installation
from santiago.agent.profile import FOR_ANY, Fault, Needs, Profile, Rule, SignIn, Start, Stop, parse
from santiago.agent.ralph_fresh import cleared
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import MEANINGS, Reason
from tests.agents.streams import ending, read

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "agents.md").read_text("utf-8")
NAMES = Catalog().names()
PROGRAMS = [name for name in NAMES if name not in FOR_ANY]
HEAD = 'name = "x"\nstart.argv = ["x"]\n'


def test_the_agents_that_the_contract_names_ship() -> None:
    assert {"claude", "codex", "opencode", "gemini", "aider", "mini-swe-agent", "goose", "command"} <= set(NAMES)
    assert NAMES[:6] == ["claude", "codex", "opencode", "gemini", "aider", "mini-swe-agent"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_profile_that_ships_is_whole(name: str) -> None:
    profile = Catalog().get(name)
    assert profile.title
    assert re.fullmatch(r"\d+\.\d+\.\d+", profile.seen)
    assert profile.install
    assert profile.sign_in.command
    assert profile.sign_in.env or profile.sign_in.files
    assert set(profile.reports) <= {"tokens", "cost"}
    rules = (*profile.on, *profile.report)
    assert any(rule.tokens for rule in rules) is ("tokens" in profile.reports)
    assert any(rule.cost for rule in rules) is ("cost" in profile.reports)
    assert any(rule.ends in ("ok", "closed") for rule in rules) or not profile.closes
    assert any(rule.ends == "error" or rule.error for rule in rules)
    words = " ".join(profile.start.argv)
    assert ("{prompt}" in words, "{prompt_file}" in words) == (
        profile.start.prompt == "argument",
        profile.start.prompt == "file",
    )
    assert bool(profile.report) is ("{report}" in words or "{side}" in words)
    assert "{options}" in profile.start.argv or not (profile.start.model or profile.start.budget)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_groups_that_a_rule_for_plain_text_names_are_in_its_pattern(name: str) -> None:
    for rule in Catalog().get(name).on:
        if rule.matches is not None:
            wanted = {
                rule.session,
                rule.message,
                rule.cost,
                rule.tool,
                *rule.tokens,
                *rule.subject,
                *rule.error,
                *rule.wait,
            }
            assert wanted - {"", "line"} <= set(rule.matches.groupindex)
            assert rule.passing or rule.matches.pattern.startswith("^"), (
                "words in the middle of a line may be anybody's"
            )


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_pattern_that_every_line_is_held_against_takes_steps_by_a_power_of_its_length(name: str) -> None:
    """A line is anybody's, up to 20,000 characters long, and nobody can stop a pattern that is at work on it."""
    profile = Catalog().get(name)
    wanted = [one for rule in profile.on for one in (*rule.when.values(), *rule.where.values(), rule.matches)]
    for pattern in (one.pattern for one in wanted if isinstance(one, re.Pattern)):
        endless = re.findall(r"(?<!\\)\.[*+]", pattern)
        assert len(endless) <= (2 if pattern.startswith("^") else 0), pattern


def wrong(text: str) -> str:
    with pytest.raises(SantiagoError) as caught:
        parse(text, "my.toml")
    error = caught.value
    assert (error.kind, error.where) == (Kind.USAGE, "my.toml")
    assert "\n" not in error.message
    assert "claude.toml is a whole profile" in error.hint
    return error.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "not valid TOML"),
        ("name = " + "[" * 20_000, "not valid TOML: nested too deeply"),
        (f'{HEAD}[[on]]\nmatches = "a{{{"9" * 30}}}"', "on[1].matches is not a valid pattern"),
        (f"{HEAD}[[on]]\nmatches = '{'(' * 3000}{')' * 3000}'", "on[1].matches is not a valid pattern"),
        ('title = "x"', "name is missing"),
        ('name = "x"', "start.argv is missing"),
        (f"{HEAD}colour = 1", "unknown key colour"),
        (f"{HEAD}start.colour = 1", "unknown key start.colour"),
        (f"{HEAD}[[on]]\nwehn = {{}}", "unknown key on[1].wehn"),
        (f'{HEAD}[[on]]\nmessage = "a"\n[[on]]\nmessage = 3', "on[2].message must be a text, not 3"),
        ('name = 5\nstart.argv = ["x"]', "name must be a text, not 5"),
        ('name = "x"\nstart.argv = [1]', "start.argv must be a list of texts, not [1]"),
        ('name = "x"\nstart = 1', "start must be a table, not 1"),
        (f'{HEAD}start.prompt = "pipe"', "start.prompt must be one of stdin, argument, file, not 'pipe'"),
        (f"{HEAD}start.env = {{ A = 1 }}", "start.env.A must be a text, not 1"),
        (f'{HEAD}closes = "yes"', "closes must be true or false, not 'yes'"),
        (f"{HEAD}stop.grace_seconds = -1", "stop.grace_seconds must be a number of seconds, not -1"),
        (f"{HEAD}on = 1", "on must be a list of tables, not 1"),
        (f'{HEAD}[[on]]\nends = "done"', "on[1].ends must be one of ok, error, closed, not 'done'"),
        (f'{HEAD}[[on]]\nmatches = "("', "on[1].matches is not a valid pattern"),
        (f'{HEAD}[[on]]\nwhen = {{ a = "~(" }}', "on[1].when.a is not a valid pattern"),
        (f"{HEAD}[[on]]\nwhen = {{ a = 1.5 }}", "on[1].when.a must be a value"),
        (f'{HEAD}[[fault]]\nmatches = "a"\nreason = "tired"', "fault[1].reason must be one of"),
        (f'{HEAD}[[fault]]\nreason = "agent_refused"', "fault[1].matches is missing"),
        (f'{HEAD}[[fault]]\nmatches = "a"', "fault[1].reason is missing"),
        (f"{HEAD}reports = ['joy']", "reports must be one of tokens, cost, not 'joy'"),
    ],
)  # fmt: skip
def test_a_wrong_profile_is_one_error_with_file_and_key(text: str, message: str) -> None:
    assert message in wrong(text)


VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.lists(st.integers(), max_size=2)
)


@given(st.sampled_from([one.name for one in fields(Rule)]), VALUES)
def test_any_value_under_any_key_is_read_or_refused(key: str, value: Any) -> None:
    spelled = "[]" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)
    text = f"{HEAD}[[on]]\n{key} = {spelled}"
    with suppress(SantiagoError):
        assert len(parse(text, "my.toml").on) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'name = "other"\nstart.argv = ["x"]', "the file is called mine, the profile in it other"),
        (b"\xff\xfe", "cannot be read"),
        (b"#" * (MOST_BYTES + 1), "too large"),
    ],
)
def test_a_file_that_is_no_profile_is_one_error_with_its_name(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "mine.toml").write_bytes(content)
    with pytest.raises(SantiagoError, match=message) as caught:
        Catalog(tmp_path).get("mine")
    assert caught.value.where == str(tmp_path / "mine.toml")


@pytest.mark.parametrize("kind", ["folder", "pipe", "loop", "nowhere"])
def test_what_is_no_file_in_a_profiles_place_is_one_error_and_is_passed_over(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "mine.toml"
    makes: dict[str, Callable[[], object]] = {
        "folder": path.mkdir,
        "pipe": partial(os.mkfifo, path),
        "loop": partial(path.symlink_to, "mine.toml"),
        "nowhere": partial(path.symlink_to, "/nowhere"),
    }
    makes[kind]()
    catalog = Catalog(tmp_path)
    with pytest.raises(SantiagoError) as caught:
        catalog.get("mine")
    assert (caught.value.kind, caught.value.where) == (Kind.USAGE, str(path))
    assert [one.name for one in catalog.broken()] == ["mine"]
    assert "mine" not in [one.profile.name for one in catalog.availabilities({})]


def test_a_program_open_in_a_home_folder_shows_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert installation(str(tmp_path / "agent.py")) == (str(tmp_path / "agent.py"),)
    assert installation("/home/somebody/agent.py") == ("/home/somebody/agent.py",)
    assert installation("/tmp/agent.py") == ("/tmp/agent.py",)  # a name only
    assert installation(str(tmp_path / "tool" / "agent.py")) == (str(tmp_path / "tool"),)


def test_an_unknown_agent_is_told_which_there_are() -> None:
    with pytest.raises(SantiagoError, match="no agent is called robo") as caught:
        Catalog().get("robo")
    assert "claude, codex" in caught.value.hint


def test_a_profile_of_ones_own_takes_the_place_of_a_built_in_one(tmp_path: Path) -> None:
    (tmp_path / "codex.toml").write_text('name = "codex"\ntitle = "mine"\nstart.argv = ["my-codex"]', "utf-8")
    (tmp_path / "robo.toml").write_text('name = "robo"\nstart.argv = ["robo"]', "utf-8")
    catalog = Catalog(tmp_path)
    assert (catalog.get("codex").title, catalog.get("claude").title) == ("mine", "Claude Code")
    assert catalog.names()[-1] != "robo"
    assert "robo" in catalog.names()


def installed(folder: Path, name: str) -> dict[str, str]:
    (folder / name).write_text("#!/bin/sh\n", "utf-8")
    (folder / name).chmod(0o755)
    return {"PATH": str(folder), "HOME": str(folder / "home")}


def test_an_agent_is_ready_where_it_is_installed_and_signed_in(tmp_path: Path) -> None:
    codex, here = Catalog().get("codex"), installed(tmp_path, "codex")
    assert availability(codex, {"PATH": "/nowhere", "HOME": "/h", "OPENAI_API_KEY": "k"}).ready is False
    assert (availability(codex, here).program, availability(codex, here).signed_in) == (str(tmp_path / "codex"), False)
    assert availability(codex, {**here, "OPENAI_API_KEY": "k"}).ready
    (tmp_path / "home" / ".codex").mkdir(parents=True)
    (tmp_path / "home" / ".codex" / "auth.json").write_text("{}", "utf-8")
    assert availability(codex, here).signed_in
    assert availability(codex, {**here, "PATH": os.path.relpath(tmp_path)}).program is None, (
        "a checkout may have planted it"
    )
    installed(tmp_path, "aider")
    found = Catalog().first_ready({**here, "ANTHROPIC_API_KEY": "k"})
    assert found is not None
    assert found.profile.name == "codex"


def test_places_of_a_variable_count_only_where_it_is_set() -> None:
    places = ("~/.codex", "$CODEX_HOME/x", "/etc/x", "relative")
    assert expanded(places, {"HOME": "/h"}) == [Path("/h/.codex"), Path("/etc/x")]
    assert expanded(places, {"HOME": "/h", "CODEX_HOME": "/c"}) == [Path("/h/.codex"), Path("/c/x"), Path("/etc/x")]


def test_what_an_agent_leaves_for_itself_is_removed_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / ".aider.conf.yml").write_text("tracked", "utf-8")
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "kept").write_text("", "utf-8")
    with cleared(str(tmp_path), (".aider.*",)):
        (tmp_path / ".aider.tags.cache.v4").mkdir()
        (tmp_path / ".aider.tags.cache.v4" / "cache.db").write_text("", "utf-8")
        (tmp_path / ".aider.chat.history.md").write_text("", "utf-8")
        (tmp_path / ".aider.link").symlink_to(outside)
        (tmp_path / "work.py").write_text("", "utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".aider.conf.yml", "work.py"]
    assert (outside / "kept").exists()


def table(head: str) -> list[list[str]]:
    """Return the cells of the page's table that begins with this head."""
    rows = PAGE[PAGE.index(f"| {head} |") :].splitlines()
    body = rows[2 : next((n for n, row in enumerate(rows) if not row.startswith("|")), len(rows))]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in body]


def test_the_page_explains_every_key_and_no_other() -> None:
    parts: dict[str, Any] = {
        "": Profile,
        "start.": Start,
        "needs.": Needs,
        "sign_in.": SignIn,
        "stop.": Stop,
        "on.": Rule,
        "fault.": Fault,
    }
    known = [f"{prefix}{one.name}" for prefix, kind in parts.items() for one in fields(kind)]
    assert sorted(row[0].strip("`") for row in table("key")) == sorted(known)


def test_the_page_lists_every_agent_as_its_profile_is() -> None:
    rows = {re.sub(r"\[(.+?)\].*", r"\1", row[0]): row for row in table("agent")}
    assert sorted(rows) == sorted(PROGRAMS)
    for name, row in rows.items():
        profile = Catalog().get(name)
        assert (row[1] == "yes", row[2] != "no") == ("tokens" in profile.reports, "cost" in profile.reports), name
        assert row[-1] == profile.seen
        shows = any(rule.todos or rule.todo_id for rule in profile.on)
        assert (row[3] == "yes") is shows, name
        assert f"### {name}\n" in PAGE
        assert f"`{profile.install}`" in PAGE.replace("\n", " "), name


def test_the_page_tells_of_every_reason_what_the_contract_says() -> None:
    rows = {row[0].strip("`"): row for row in table("reason")}
    expected = {str(one) for one in Reason if one.startswith("agent_")} | {"usage_unknown", "cost_budget_exhausted"}
    assert set(rows) == expected
    for name, row in rows.items():
        meaning = MEANINGS[Reason(name)]
        assert (row[2], row[3] == "yes") == (meaning.ends_in, meaning.spends), name


def example(start: str, language: str) -> str:
    text = PAGE[PAGE.index(start) :]
    return text[text.index(f"```{language}\n") + len(language) + 4 :].partition("\n```")[0]


def test_the_example_on_the_page_reads_the_stream_on_the_page() -> None:
    profile = parse(example("## Your own agent", "toml"), "robo.toml")
    stream = example("## Your own agent", "json")
    end = ending(profile, stream)
    assert (end.reason, end.usage.tokens, end.usage.cost_usd, end.session, end.message) == (
        None,
        5340,
        31_000,
        "r-17",
        "Done.",
    )
    assert [str(action) for action in read(profile, stream.splitlines()).actions] == ["edit src/app.py"]
    refused = "\n".join(stream.splitlines()[:3])
    end = ending(profile, refused, 1)
    assert (end.reason, end.wait_seconds) == (Reason.AGENT_RATE_LIMITED, 20)
    assert ending(profile, "robo: fatal: no license seat left", 1).reason is Reason.AGENT_NOT_SIGNED_IN


def test_the_readme_leads_to_the_page() -> None:
    assert "(docs/agents.md)" in (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    "change", [lambda text: text.replace("closes = true", "closes = 1"), lambda text: text + "\nx = 1"]
)
def test_a_slip_in_the_example_would_be_noticed(change: Callable[[str], str]) -> None:
    wrong(change(example("## Your own agent", "toml")))


def test_an_expression_looks_only_at_the_beginning_of_a_long_text() -> None:
    rule = {"text": re.compile("overloaded")}
    assert stream.fits({"text": "x" * (stream.MOST_SEARCHED - 10) + "overloaded"}, rule)
    assert not stream.fits({"text": "x" * (stream.MOST_SEARCHED - 9) + "overloaded"}, rule)
    assert not stream.fits({"text": None}, rule)
