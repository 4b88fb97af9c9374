"""Between types and bytes: one way to write, and only what is exactly right is read."""

import json
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import example as with_example
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from pydantic_core import to_json

from santiago.contract import codec
from santiago.contract.board import Ticket
from santiago.contract.codec import UPCASTS, canonical, decode, digest, parse_json, to_data
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.events import Context, LogLine
from santiago.contract.phases import StoryPhase
from santiago.contract.plan import Plan
from santiago.contract.policy import Limits, RunInput
from santiago.contract.quantities import Minutes, Seconds, Usd
from santiago.contract.reasons import Reason
from santiago.contract.result import Result, Session
from santiago.contract.schema import SCHEMAS
from santiago.contract.steps import ExamineBase, Order, VerifyRun, WriteBack
from tests.contract.test_schema import validator
from tests.contract.values import LARGEST, example, mutants, values
from tests.util.each import each

DOCUMENTS = [RunInput, Plan, Result, Session, Ticket, LogLine]
SMALLEST = {"contract_version": 1, "repo_path": "/repo", "prd_path": "docs/prd.md"}
SECRET = "sk-live-0123456789"

every_document = each("kind", DOCUMENTS)


def read(**fields: Any) -> RunInput:
    return decode(RunInput, json.dumps({**SMALLEST, **fields}).encode(), "run-input.json")


def refusal(**fields: Any) -> str:
    """Return what is said about a run input with these fields."""
    with pytest.raises(SantiagoError) as caught:
        read(**fields)
    return caught.value.message


def refusal_of(raw: bytes) -> SantiagoError:
    with pytest.raises(SantiagoError) as caught:
        decode(RunInput, raw, "run-input.json")
    return caught.value


# Writing


@settings(max_examples=20)
@given(plan=values(Plan))
def test_canonical_json_is_sorted_indented_unescaped_and_ends_in_a_newline(plan: Plan) -> None:
    written = canonical(plan)
    plain = json.dumps(json.loads(written), sort_keys=True, indent=2, ensure_ascii=False) + "\n"
    assert written == plain.encode()


@settings(max_examples=80)
@given(data=st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20,
))  # fmt: skip
@with_example(data={"tiny": 1e-05, "small": 0.0001, "large": 1e16, "text": "1e-5"})
@with_example(data=["\x00\x1f\x7f\u2028\U0001f600", '\\"/\b\f\n\r\t'])
def test_short_and_long_documents_are_written_alike(data: object) -> None:
    """Digests are of these bytes, so it must not matter which of the two writers made them."""
    assert canonical(data) == to_json(to_data(data), indent=2) + b"\n"


def test_a_long_document_is_written_like_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = example(Plan)
    short = canonical(plan)
    monkeypatch.setattr(codec, "_PIECES", 1)
    assert canonical(plan) == short


def test_canonical_json_looks_like_this_and_a_digest_is_the_sha256_of_its_bytes() -> None:
    value = {"ö": ["Привет", "日本"], "b": {"z": (), "a": None}, "a": {}}
    assert canonical(value).decode() == (
        '{\n  "a": {},\n  "b": {\n    "a": null,\n    "z": []\n  },\n  "ö": [\n    "Привет",\n    "日本"\n  ]\n}\n'
    )
    assert digest(value) == digest(dict(reversed(value.items()))) == sha256(canonical(value)).hexdigest()


def test_quantities_and_enums_are_written_as_people_read_them_and_what_has_no_json_form_is_refused() -> None:
    assert to_data((Minutes.of(20), Minutes.of(0.5), Seconds(1500), Usd(1_250_000))) == [20, 0.5, 1.5, 1.25]
    assert to_data({"phase": StoryPhase.DONE}) == {"phase": "done"}
    assert to_data(Context(tokens=0, reason="")) == {"reason": "", "tokens": 0}
    with pytest.raises(TypeError, match="no JSON form for set"):
        to_data({"names": {"a"}})


# Round trips


@each("name", SCHEMAS)
@settings(max_examples=16)
@given(data=st.data())
def test_what_is_written_is_valid_and_read_back_as_the_library_would(name: str, data: st.DataObject) -> None:
    kind = SCHEMAS[name]
    value = data.draw(values(kind))
    written = canonical(value)
    assert decode(kind, written, "f") == value
    assert canonical(decode(kind, written, "f")) == written
    assert adapter(kind).validate_json(written) == value
    validator(name).validate(json.loads(written))
    try:
        assert codec.read_plain(kind, json.loads(written)) == value
    except codec.NotPlainError:
        assert kind is LogLine  # lines of the log have a reader of their own


@cache
def adapter(kind: type) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


@every_document
def test_whatever_is_spoiled_is_left_to_the_library(kind: type) -> None:
    taken = []
    for mutant in mutants(kind, to_data(example(kind))):
        with suppress(codec.NotPlainError):
            codec.read_plain(kind, mutant.data)
            taken.append(mutant.name)
    assert taken == []


@each("step", [WriteBack(commit="c1"), ExamineBase(commit="c1"), VerifyRun(round=1)])
def test_an_order_is_read_back_with_the_step_that_it_is_for(step: WriteBack | ExamineBase | VerifyRun) -> None:
    order = Order(step=step, run_id="r", head="c1", base="c1", began="c0", anchor="1:0")
    assert decode(Order, canonical(order), "an order") == order


@each("kind", [Minutes, Seconds, Usd])
@given(data=st.data())
def test_a_quantity_survives_being_written(kind: type[Minutes | Seconds | Usd], data: st.DataObject) -> None:
    value = kind(data.draw(st.integers(0, 10**9 * kind.SCALE)))
    assert kind.of(json.loads(canonical(value))) == value


def test_the_smallest_run_input_gets_all_defaults_and_an_attempt_half_the_minutes_of_its_story() -> None:
    limits = read().limits
    assert (limits.story_max_attempts, limits.run_max_attempts) == (4, 20)
    assert (limits.story_timeout_minutes, limits.attempt_ms) == (20 * 60_000, 10 * 60_000)
    assert (limits.run_timeout_minutes, limits.wait_max_minutes) == (180 * 60_000, 360 * 60_000)
    assert read().workspace.copy == (".env",)
    assert (read().policy.proof, read().policy.gate, read().policy.sandbox) == ("own_tests", "auto", "auto")
    assert Limits(story_timeout_minutes=Minutes.of(7)).attempt_ms == 210_000
    assert Limits(attempt_timeout_minutes=Minutes.of(2)).attempt_ms == 120_000


# Fields


def test_an_unknown_field_is_refused_by_name_with_a_suggestion_if_it_is_like_another() -> None:
    assert refusal(zzz=1) == "unknown field zzz"
    assert refusal(polcy={}) == "unknown field polcy (did you mean policy?)"
    said = refusal(limits={"story_max_attemps": 1})
    assert said == "unknown field limits.story_max_attemps (did you mean story_max_attempts?)"
    data = to_data(example(Plan))
    data["stories"][0]["depend_on"] = data["stories"][0].pop("depends_on")
    with pytest.raises(SantiagoError, match=r"unknown field stories\[0\]\.depend_on \(did you mean depends_on\?\)"):
        decode(Plan, json.dumps(data).encode(), "plan.json")


def test_a_refusal_says_where_all_that_is_wrong_and_what_to_do() -> None:
    error = refusal_of(b'{"contract_version": 1, "repo_path": 7, "limits": {"run_max_attempts": 0}, "colour": "red"}')
    for fault in ("repo_path", "prd_path is missing", "limits.run_max_attempts", "unknown field colour"):
        assert fault in error.message
    assert (error.where, error.kind, error.reason) == ("run-input.json", Kind.INPUT, Reason.INVALID_INPUT)
    assert error.exit_code == 30
    assert "santiago schema run-input" in error.hint


@every_document
def test_the_hint_names_a_schema_that_exists(kind: type) -> None:
    with pytest.raises(SantiagoError) as caught:
        decode(kind, b"{}", "f")
    names = ("run-input", "plan", "detail", "result", "session", "ticket", "event")
    assert any(f"`santiago schema {name}`" in caught.value.hint for name in names)


def test_a_value_outside_a_closed_list_is_refused_with_the_list() -> None:
    assert refusal(policy={"gate": "maybe"}) == "policy.gate: input should be 'auto', 'chunk' or 'step'"


@each(
    ("field", "wrong"),
    [
        ("run_id", ["", "..", "../up", "a/b", "a b", "-x", "a\n", "x" * 81, "ü"]),
        ("story_max_attempts", [0, -1, 1.0, "4", True, LARGEST + 1, 10**400]),
        ("story_timeout_minutes", [0, -1, -0.5, "20", True, None, [20], 1e10]),
    ],
)
def test_unsafe_names_and_senseless_attempts_and_minutes_are_refused(field: str, wrong: list[object]) -> None:
    for value in wrong:
        assert field in refusal(**({field: value} if field == "run_id" else {"limits": {field: value}})), value


# Minutes


@each(("written", "stored"), [(20, 1_200_000), (0.5, 30_000), (1.25, 75_000), (1e-9, 1)])
def test_minutes_are_stored_as_milliseconds_and_a_money_limit_of_0_is_a_limit(written: float, stored: int) -> None:
    limits = read(limits={"story_timeout_minutes": written, "run_max_cost_usd": 0}).limits
    assert (int(limits.story_timeout_minutes), type(limits.story_timeout_minutes)) == (stored, Minutes)
    assert limits.run_max_cost_usd == 0
    assert read(limits={"run_max_cost_usd": 1.25}).limits.run_max_cost_usd == 1_250_000


# Bytes


@each(
    ("raw", "said"),
    [
        (b'{"repo_path": "/a", "repo_path": "/b"}', "the key repo_path stands twice in one object"),
        (b'{"limits": [{"a": 1, "b": 2, "a": 1}]}', "the key a stands twice in one object"),
        (b'{"limits": NaN}', "NaN is not a JSON number"),
        (b'{"limits": Infinity}', "Infinity is not a JSON number"),
        (b'{"limits": -Infinity}', "-Infinity is not a JSON number"),
        (b'{"limits": ' + b"9" * 5000 + b"}", "a number has too many digits"),
        (json.dumps(SMALLEST).encode("utf-8-sig"), "starts with a byte order mark"),
        (b'{"repo_path": "\xff"}', "not UTF-8 (byte 15)"),
    ],
)
def test_bytes_that_are_not_quite_json_are_refused_in_plain_words(raw: bytes, said: str) -> None:
    assert refusal_of(raw).message == said


def test_a_number_too_large_for_a_float_is_refused() -> None:
    raw = json.dumps({**SMALLEST, "limits": {"story_timeout_minutes": 7}}).replace("7", "1e999").encode()
    assert "limits.story_timeout_minutes" in refusal_of(raw).message


NO_OBJECT = [b"", b" ", b"[]", b"1", b"null", b'"text"', b"{", b"{} {}", b'{"prd_path": "\\ud800"}']


@each("raw", [*NO_OBJECT, *(json.dumps(SMALLEST).encode(encoding) for encoding in ("utf-16", "utf-16-le", "utf-32"))])
def test_other_encodings_and_what_is_no_json_object_are_refused(raw: bytes) -> None:
    refusal_of(raw)
    with pytest.raises(SantiagoError):
        read(prd_path="\ud800")


@each("opening", [b"[", b'{"a":'])
@each("depth", [300, 900, 100_000])
def test_deep_nesting_is_refused(opening: bytes, depth: int) -> None:
    closing = b"]" if opening == b"[" else b"}"
    raw = b'{"contract_version": 1, "limits": ' + opening * depth + b"1" + closing * depth + b"}"
    refusal_of(raw)


def test_broken_json_is_refused_with_its_line() -> None:
    assert refusal_of(b'{\n  "repo_path": "/r",\n  "limits": }\n').line == 3


def test_a_document_beyond_the_size_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec, "MAX_BYTES", 2**20)
    assert refusal_of(b" " * (2**20 + 1)).message == "larger than 1 MiB"


@settings(max_examples=100)
@given(raw=st.binary(max_size=40))
@with_example(raw=b'{"\\ud800": 1}')
@with_example(raw=b'{"contract_version": {"a": []}}')
def test_any_bytes_are_read_or_refused_but_never_crash(raw: bytes) -> None:
    refusal_of(raw)


@given(data=st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_plain_json_is_parsed_as_it_is(data: object) -> None:
    assert parse_json(json.dumps(data).encode(), "f") == data


# Versions


@each("version", [0, 2, 99, "1", 1.0, True, None, [1], {}])
def test_another_version_is_refused_naming_both(version: object) -> None:
    said = refusal(contract_version=version)
    assert f"contract_version {version!r} " in said
    assert "version 1" in said
    assert "contract_version is missing" in refusal_of(b'{"repo_path": "/r", "prd_path": "p"}').message


def test_an_older_version_is_brought_up_to_date_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    def second(data: dict[str, Any]) -> dict[str, Any]:
        return {**data, "contract_version": 0, "repository": data["repo"]}

    def first(data: dict[str, Any]) -> dict[str, Any]:
        kept = {key: value for key, value in data.items() if key not in {"repo", "repository"}}
        return {**kept, "contract_version": 1, "repo_path": data["repository"]}

    monkeypatch.setitem(UPCASTS, ("RunInput", -1), second)
    monkeypatch.setitem(UPCASTS, ("RunInput", 0), first)
    raw = '{"contract_version": -1, "repo": "/übung", "prd_path": "p"}'.encode()
    assert decode(RunInput, raw, "f") == RunInput(contract_version=1, repo_path="/übung", prd_path="p")


def test_an_upcast_belongs_to_one_type_and_its_result_is_validated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(UPCASTS, ("Plan", 0), lambda data: {**data, "contract_version": 1})
    assert "contract_version 0" in refusal(contract_version=0)
    with pytest.raises(SantiagoError, match="title is missing"):
        decode(Plan, b'{"contract_version": 0}', "plan.json")


# Secrets


def places(data: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of every value in a document."""
    if path:
        yield path
    if isinstance(data, dict):
        for key, value in data.items():
            yield from places(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from places(value, (*path, index))


WHOLE = canonical(example(RunInput))


@each("path", [path for path in places(json.loads(WHOLE)) if path != ("contract_version",)])
@each("value", [SECRET, [SECRET], {"token": SECRET}])
def test_a_refusal_never_repeats_a_value(path: tuple[str | int, ...], value: object) -> None:
    data = json.loads(WHOLE)
    inside = data
    for part in path[:-1]:
        inside = inside[part]
    inside[path[-1]] = value
    assert SECRET not in said_about(json.dumps(data).encode())


def said_about(raw: bytes) -> str:
    """Return all that is said about a run input; nothing where it is accepted."""
    try:
        decode(RunInput, raw, "run-input.json")
    except SantiagoError as error:
        return f"{error.message} {error.hint} {error} {error.__cause__}"
    return ""


@each("entry", [f"API_KEY={SECRET}", "", "A B", "1A", "A-B"])
def test_the_environment_of_a_workspace_is_names_never_values(entry: str) -> None:
    assert read(workspace={"env": ["API_KEY", "_x9"]}).workspace.env == ("API_KEY", "_x9")
    assert "workspace.env[0]" in refusal(workspace={"env": [entry]})
