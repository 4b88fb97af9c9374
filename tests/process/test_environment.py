"""Foreign programs see an allow-list, and secrets only where a profile names them (P17, first line of redaction)."""

from santiago.process.environment import for_agent, for_checks, own

SOURCE = {
    "PATH": "/usr/bin::relative:.:/opt/bin", "HOME": "/home/me", "LANG": "C.UTF-8", "LC_ALL": "C", "TERM": "xterm", "VIRTUAL_ENV": "/venv", "PYTHONPATH": "src",
    "LD_PRELOAD": "/evil.so", "API_TOKEN": "token-value-1", "HTTPS_PROXY": "http://proxy:3128", "HTTP_PROXY": "http://me:pass@proxy:3128",
    "PIP_INDEX_URL": "https://u:p@index.example", "DATABASE": "db://x/token-value-1", "CUSTOM": "1", "CARGO_HOME": "/c",
    "SSH_AUTH_SOCK": "/tmp/agent", "DB_PASSWORD": "x",
}  # fmt: skip


def test_checks_get_the_allow_list_without_relative_entries_of_the_search_path_and_nothing_else() -> None:
    found = for_checks(SOURCE)
    assert set(found) == {"PATH", "HOME", "LANG", "LC_ALL", "TERM", "HTTPS_PROXY", "CARGO_HOME"}
    assert found["TERM"] == "dumb"
    assert found["PATH"] == for_agent(SOURCE)["PATH"] == "/usr/bin:/opt/bin"


def test_named_variables_are_given_unless_they_hold_a_secret() -> None:
    names = ["CUSTOM", "API_TOKEN", "DATABASE", "DB_PASSWORD", "PIP_INDEX_URL", "MISSING"]
    found = for_checks(SOURCE, names)
    assert found["CUSTOM"] == "1"
    assert found["PIP_INDEX_URL"] == SOURCE["PIP_INDEX_URL"]
    assert not {"API_TOKEN", "DATABASE", "DB_PASSWORD", "MISSING"} & set(found)


def test_an_agent_gets_a_secret_only_where_its_profile_names_it() -> None:
    assert "API_TOKEN" not in for_agent(SOURCE, names=["API_TOKEN"])
    assert for_agent(SOURCE, profile=["API_TOKEN"])["API_TOKEN"] == "token-value-1"
    assert for_agent(SOURCE)["TERM"] == "xterm"


def test_santiagos_own_variables_come_last() -> None:
    given = own("run-1", "S1", 2, "/plan", "/prompt.md")
    found = for_checks({**SOURCE, "SANTIAGO_STORY": "S9"}, ["SANTIAGO_STORY"], given)
    assert found["SANTIAGO_STORY"] == "S1"
    assert {name for name in found if name.startswith("SANTIAGO_")} == set(given)
    assert found["SANTIAGO_ATTEMPT"] == "2"
