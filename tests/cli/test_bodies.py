"""A command's options stand in a light module, and its body is loaded only when it is called."""

import inspect
from dataclasses import fields
from typing import Any

from santiago.app.start.start_options import Places, StartOptions
from santiago.cli.options import Reading, Worker, body_at
from tests.commands import every_command
from tests.contract.test_imports import families, loaded_by
from tests.util.each import each

RECORDS: dict[str, Any] = {"flags": StartOptions, "reading": Reading, "worker": Worker, "places": Places}
"""Parameters that get several options together."""


def test_each_body_takes_exactly_the_options_of_its_command() -> None:
    told = [(path, one) for path, one in every_command() if hasattr(one.callback, "body")]
    assert len(told) > 9
    for path, command in told:
        body = body_at(command.callback.body)  # type: ignore[union-attr]  # asked above
        options = {one.name for one in command.params if one.expose_value}
        taken = inspect.signature(body).parameters.keys()
        if taken == {"options"}:  # all of them are the fields of one record
            continue
        for name, record in RECORDS.items():
            gathered = {one.name for one in fields(record)} & options if name in taken - options else set()
            options = (options - gathered) | ({name} if gathered else set())
        assert options == taken, path


@each("name", ["stop", "run", "queue"])
def test_the_help_of_a_command_loads_nothing_that_only_its_body_needs(name: str) -> None:
    unused = {"santiago.app.loading", "santiago.contract.state", "santiago.planner", "santiago.executor", "sqlite3"}
    assert families(loaded_by("-m", "santiago", name, "--help"), unused) == set()
