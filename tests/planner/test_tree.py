"""JSON and YAML as located value trees: values, lines, and every refusal."""

import json
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from santiago.planner.draft import DocumentError
from santiago.planner.structured import json_tree, yaml_tree
from santiago.planner.structured.tree import (
    Array,
    Node,
    Object,
    Scalar,
    as_bool,
    flat,
    fold_key,
    items,
    spoken,
    text_lines,
)
from tests.util.each import each


def _number(text: str) -> int | float:
    return int(text) if text.lstrip("+-").isdecimal() else float(text)


def plain(node: Node) -> Any:
    """The tree as Python values."""
    if isinstance(node, Scalar):
        values: dict[str, Callable[[str], Any]] = {
            "string": str,
            "number": _number,
            "bool": lambda text: text.lower() == "true",
            "null": lambda _: None,
        }
        return values[node.kind](node.text)
    if isinstance(node, Array):
        return [plain(each) for each in node.items]
    return {key: plain(entry.value) for key, entry in node.fields.items()}


def lines(node: Node) -> list[int]:
    """The lines of all scalars, in order."""
    if isinstance(node, Scalar):
        return [node.line]
    inner = node.items if isinstance(node, Array) else [entry.value for entry in node.fields.values()]
    return [line for each in inner for line in lines(each)]


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.sampled_from([None, 0, 2]), st.booleans())
@settings(max_examples=150)
def test_json_agrees_with_the_standard_library(value: Any, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert plain(json_tree.parse(text)) == json.loads(text) == value


@given(st.text(alphabet='{}[],:"\\u0019eE+-. \n\ttruefalsnNaI', max_size=30))
@settings(max_examples=200)
def test_json_accepts_only_what_the_standard_library_accepts(text: str) -> None:
    try:
        found = plain(json_tree.parse(text))
    except DocumentError:
        return
    assert found == json.loads(text)


@given(st.lists(VALUES, min_size=1, max_size=6))
def test_json_lines_are_where_the_values_stand(values: list[Any]) -> None:
    text = "[\n" + ",\n".join(json.dumps(value) for value in values) + "\n]"
    root = json_tree.parse(text)
    assert isinstance(root, Array)
    assert [node.line for node in root.items] == list(range(2, len(values) + 2))


def test_json_keys_and_values_know_their_lines() -> None:
    root = json_tree.parse('{"a":\n\n1,\n"b"\n:[true,\nnull]\n}', first_line=10)
    assert isinstance(root, Object)
    assert [(key, entry.line) for key, entry in root.fields.items()] == [("a", 10), ("b", 13)]
    assert lines(root) == [12, 14, 15]


@each(
    ("text", "line", "says"),
    [
        ("", 1, "ends"),
        ("   \n ", 2, "ends"),
        ("[1,\n]", 2, "expected a value"),
        ('{"a": 1,\n}', 2, "expected a key"),
        ('{"a" 1}', 1, "colon"),
        ("{'a': 1}", 1, "key in double quotes"),
        ("[1 2]", 1, "comma"),
        ("[1}", 1, "comma"),
        ("[1]\n\nx", 3, "the end of the document"),
        ("[1] [2]", 1, "the end of the document"),
        ('{"a": 1,\n "a": 2}', 2, '"a" is there twice (also on line 1)'),
        ("[\nNaN]", 2, "NaN is not a JSON number"),
        ("[-Infinity]", 1, "-Infinity is not a JSON number"),
        ("[1e999]", 1, "larger than any number"),
        ("[01]", 1, "expected a value"),
        ("[1.]", 1, "expected a value"),
        ("[+1]", 1, "expected a value"),
        ("[truex]", 1, "expected a value"),
        ('["a\tb"]', 1, "control character"),
        ('["a\nb"]', 1, "control character"),
        ('["\\q"]', 1, "escape"),
        ('["abc', 1, "unterminated"),
        ('["\\ud800"]', 1, "surrogate"),
        ('{"\\udc00": 1}', 1, "surrogate"),
        ("// comment\n{}", 1, "expected a value"),
        ("[" + "9" * 100_000 + "]", 1, "100000 characters"),
        ("[" * 100_000, 1, "deeper than 200"),
        ('{"a":' * 100_000, 1, "deeper than 200"),
    ],
)
def test_broken_json_is_refused_with_its_line(text: str, line: int, says: str) -> None:
    with pytest.raises(DocumentError, match=r".") as caught:
        json_tree.parse(text)
    assert caught.value.line == line
    assert says in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.hint


def test_json_takes_200_levels_a_thousand_digits_crlf_and_surrogate_pairs() -> None:
    assert isinstance(json_tree.parse("[" * 200 + "]" * 200), Array)
    assert plain(json_tree.parse("9" * 1_000)) == int("9" * 1_000)
    root = json_tree.parse('[\r\n"\\ud83d\\ude00",\r\n2]')
    assert (plain(root), lines(root)) == (["😀", 2], [2, 3])


def test_json_work_grows_with_length_alone() -> None:
    """In calls, which are the same on every machine; what is called looks at one token each."""

    def calls(text: str) -> int:
        seen = 0

        def count(*_: object) -> None:
            nonlocal seen
            seen += 1

        sys.setprofile(count)
        try:
            json_tree.parse(text)
        finally:
            sys.setprofile(None)
        return seen

    record = '{"id": "US-1", "title": "A title of some length", "criteria": ["one\\n", "two"],\n "priority": 1}'
    small, large = (f"[{','.join([record] * count)}]" for count in (500, 4_000))
    assert calls(large) < 9 * calls(small)


def test_json_lines_hold_one_object_each() -> None:
    text = '{"id": 1}\n\n{"id": 2}\n'
    assert json_tree.is_lines(text)
    found = json_tree.parse_lines(text)
    assert plain(found) == [{"id": 1}, {"id": 2}]
    assert lines(found) == [1, 3]
    assert not json_tree.is_lines('{\n"a": {}\n}')
    assert not json_tree.is_lines('{"a": 1}\n')


@each(
    ("written", "kind"),
    [
        *(("003", "number"), ("1.10", "number"), ("true", "bool"), ("~", "null"), ("NO", "string"), ("yes", "string")),
        *((text, "string") for text in ("0x1F", "1_000", "2026-01-01", ".inf", "1e999", '"12"', "!!str 12")),
        ("9" * 5_000, "string"),
    ],
)
def test_yaml_scalars_keep_their_text(written: str, kind: str) -> None:
    root = yaml_tree.parse(f"a: {written}")
    assert isinstance(root, Object)
    node = root.get("a")
    assert isinstance(node, Scalar)
    assert (node.kind, node.text) == (kind, written.removeprefix("!!str ").strip('"'))


def test_yaml_lines_are_those_of_the_text() -> None:
    root = yaml_tree.parse("# note\na: 1\nb:\n  - x\n  - y: |\n      one\n      two\nc: {d: e}\n", first_line=5)
    assert isinstance(root, Object)
    assert [(key, entry.line) for key, entry in root.fields.items()] == [("a", 6), ("b", 7), ("c", 12)]
    block = items(root.get("b"))[1]
    assert isinstance(block, Object)
    text = block.get("y")
    assert isinstance(text, Scalar)
    assert list(text_lines(text)) == [("one", 10), ("two", 11), ("", 12)]


def test_yaml_of_several_documents_is_a_list_and_an_alias_to_a_scalar_is_its_text() -> None:
    assert plain(yaml_tree.parse("---\na: 1\n---\nb: 2\n")) == [{"a": 1}, {"b": 2}]
    assert plain(yaml_tree.parse("# nothing\n")) is None
    assert plain(yaml_tree.parse("a: &x some text\nb: *x")) == {"a": "some text", "b": "some text"}


BOMB = "".join(f"{new}: &{new} [*{old}, *{old}]\n" for old, new in pairwise("abcdefghijklmnopqrstu"))


@each(
    ("text", "line", "says"),
    [
        ("a: 1\nb: 2\na: 3", 3, '"a" is there twice (also on line 1)'),
        ("a: &x [1, 2]\nb: *x", 2, "repeats a list or object"),
        ("a: &x {b: *x}", 1, "repeats a list or object"),
        ("a: *nowhere", 1, "no anchor"),
        ("a: !!python/object:os.system x", 1, "tag"),
        ("a: !local x", 1, "tag"),
        ("? [a, b]\n: c", 1, "as a key"),
        ("a: 1\n\tb: 2\nc: 3\n\td", 2, "not valid YAML"),
        ("a: b\x07c", 1, "control characters"),
        ("- " * 5_000 + "x", 1, "deeper than 200"),
        ("[" * 5_000, 1, "deeper than 200"),
        ("a: [1, 2\nb: 3", 2, "not valid YAML"),
        ("a: &a [x, x, x]\n" + BOMB, 2, "repeats a list or object"),
    ],
)
def test_hostile_and_broken_yaml_is_refused_with_its_line(text: str, line: int, says: str) -> None:
    with pytest.raises(DocumentError, match=r".") as caught:
        yaml_tree.parse(text)
    assert caught.value.line == line
    assert says in caught.value.message
    assert "\n" not in caught.value.message


def test_yaml_without_the_compiled_parser_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    import yaml

    text = "a: [1, two]\nb:\n  - c: |\n      x\n"
    before = plain(yaml_tree.parse(text))
    monkeypatch.delattr(yaml, "CBaseLoader", raising=False)
    assert plain(yaml_tree.parse(text)) == before
    with pytest.raises(DocumentError):
        yaml_tree.parse("a: 'open")


@each(
    ("text", "repaired", "value"),
    [
        ("a:\n  - [ ] Given x\n  - [x] Then y: z\n", [2, 3], {"a": ["[ ] Given x", "[x] Then y: z"]}),
        ("who: @someone\nid: 007\n", [1], {"who": "@someone", "id": 7}),
        ("a: one: two\nb: 1\n", [1], {"a": "one: two", "b": 1}),
        ("a: `code`\nb: *bold* text\n", [1, 2], {"a": "`code`", "b": "*bold* text"}),
        ("a: 'it's'\n", [1], {"a": "it's"}),
        ("- id: @x\n  title: a: b\n- id: y\n", [1, 2], [{"id": "@x", "title": "a: b"}, {"id": "y"}]),
        ("c:\n  - GIVEN a list :\n      • one\n    WHEN b\n    THEN c : d\nid: 1\n", [2], {"c": ["GIVEN a list : • one WHEN b THEN c : d"], "id": 1}),
        ("a: [x, @y]\nb: 1", [1], {"a": "[x, @y]", "b": 1}),
        ("a: fine\n", [], {"a": "fine"}),
    ],
)  # fmt: skip
def test_yaml_as_people_write_it_is_repaired_line_by_line(text: str, repaired: list[int], value: object) -> None:
    root, found = yaml_tree.parse_mended(text)
    assert found == repaired
    assert plain(root) == value


def test_repair_keeps_lines_gives_up_in_bounded_time_and_swallows_no_record() -> None:
    root, _ = yaml_tree.parse_mended("a:\n  - [ ] one\n  - two\nb: 3\n", first_line=7)
    assert lines(root) == [8, 9, 10]
    for text in ("".join(f"k{n}: @x{n}\n" for n in range(200)), "\ta: b\n\t- c", "- id: a\n  'broken\n- id: b\n"):
        with pytest.raises(DocumentError):
            yaml_tree.parse_mended(text)


@each("parse", [json_tree.parse, yaml_tree.parse])
def test_objects_find_keys_in_any_spelling(parse: Callable[[str], Node]) -> None:
    root = parse('{"dependsOn": ["a"], "files_to_modify": "x", "Title": " T ", "empty": null}')
    assert isinstance(root, Object)
    assert [plain(each) for each in items(root.get("depends_on"))] == ["a"]
    assert [plain(each) for each in items(root.get("nothing", "filesToModify"))] == ["x"]
    assert root.text("title") == "T"
    assert items(root.get("empty")) == items(root.get("missing")) == []


def test_keys_are_folded_and_spoken_words_are_truths_and_flat_text_shows_every_scalar_once() -> None:
    assert fold_key("Acceptance-Criteria") == fold_key("acceptance_criteria") == "acceptancecriteria"
    assert spoken("outOfScope") == spoken("out_of_scope") == "out of scope"
    assert [as_bool(Scalar(1, text)) for text in ("true", "No", "maybe")] == [True, False, None]
    root = json_tree.parse('{"a": 1, "b": [{"c": "x", "d": ["y"]}, "z"], "e": null, "f": {}}')
    assert flat(root) == "a: 1\nb:\n  - c: x\n    d:\n      - y\n  - z\nf:"


@given(VALUES)
def test_flat_text_loses_no_scalar(value: Any) -> None:
    text = flat(json_tree.parse(json.dumps(value)))
    stack = [value]
    while stack:
        each = stack.pop()
        if isinstance(each, dict):
            stack += each.values()
        elif isinstance(each, list):
            stack += each
        elif isinstance(each, str):
            assert each.strip() in text
        elif each is not None:
            assert json.dumps(each) in text
