"""The schemas say what the program does: an independent validator takes what we write and refuses what we refuse."""

import json
import os
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

import jsonschema_rs

import santiago
from santiago.contract.codec import canonical, decode, to_data
from santiago.contract.errors import SantiagoError
from santiago.contract.schema import SCHEMAS, schema_of
from tests.contract.values import example, hints, mutants, required
from tests.util.each import each

every_document = each("name", SCHEMAS)


@cache
def validator(name: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(schema_of(name))


def test_the_public_documents_are_these_seven() -> None:
    assert list(SCHEMAS) == ["run-input", "plan", "detail", "event", "result", "session", "ticket"]


@every_document
def test_a_schema_is_valid_and_has_every_field_of_the_type_and_no_other(name: str) -> None:
    schema = schema_of(name)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"santiago:{name}:1"
    assert jsonschema_rs.meta.is_valid(schema)
    assert set(schema["properties"]) == set(hints(SCHEMAS[name]))
    objects = [schema, *schema.get("$defs", {}).values()]
    assert all(part["additionalProperties"] is False for part in objects if part.get("type") == "object")


def test_every_setting_of_a_run_input_says_what_it_means() -> None:
    schema = schema_of("run-input")
    parts = {"": schema, **schema["$defs"]}
    fields = {f"{part}.{name}": one for part, each in parts.items() for name, one in each["properties"].items()}
    assert [name for name, one in fields.items() if not one.get("description") and "$ref" not in one] == []
    assert [part for part, each in parts.items() if not each.get("description")] == []
    assert fields["Limits.story_max_attempts"]["description"] == "Attempts of one story."


@every_document
def test_a_document_is_valid_with_every_field_and_without_those_that_have_a_default(name: str) -> None:
    kind = SCHEMAS[name]
    whole = example(kind)
    validator(name).validate(json.loads(canonical(whole)))
    assert decode(kind, canonical(whole), "f") == whole
    smallest = {key: value for key, value in to_data(whole).items() if key in required(kind)}
    validator(name).validate(smallest)
    decode(kind, json.dumps(smallest).encode(), "f")
    assert set(schema_of(name)["required"]) == required(kind)


@every_document
def test_schema_and_program_both_refuse_whatever_is_spoiled(name: str) -> None:
    taken = []
    for mutant in mutants(SCHEMAS[name], to_data(example(SCHEMAS[name]))):
        if validator(name).is_valid(mutant.data):
            taken.append(f"by the schema: {mutant.name}")
        with suppress(SantiagoError):
            decode(SCHEMAS[name], json.dumps(mutant.data).encode(), "f")
            taken.append(f"by the program: {mutant.name}")
    assert taken == []


def test_a_schema_is_the_same_in_every_process() -> None:
    seed = "1" if os.environ.get("PYTHONHASHSEED") == "2" else "2"
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(santiago.__file__).parents[1])}
    show = "import json; from santiago.contract.schema import *; print(json.dumps([schema_of(n) for n in SCHEMAS]))"
    there = subprocess.run([sys.executable, "-c", show], env=environment, capture_output=True, check=True).stdout
    assert there.decode().strip() == json.dumps([schema_of(name) for name in SCHEMAS])
