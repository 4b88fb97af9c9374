"""Of files that hold more than a runner's settings only these are put back, and all else stays as it was written.

Of source files the base's tests are put back, whatever the work did to them.
"""

import configparser
import doctest
import json
import tomllib
import types

import pytest
from hypothesis import given
from hypothesis import strategies as st

from santiago.judge.sections import put_back, with_new_examples
from tests.util.each import each

PYPROJECT = b"""# ours
[project]
name = "x"  # [tool.pytest.ini_options]
dependencies = [
  "a",
]

[tool.pytest.ini_options]
addopts = "-q"
filterwarnings = [
  ["error"]
]

[tool.black]
line-length = 99
"""
WORKED = b"""# ours
[project]
name = "y"
description = \"\"\"
 [tool.pytest.ini_options]
5" disk
\"\"\"

[tool.pytest.ini_options]
addopts = "-q -k nothing"

[tool.coverage.run]
omit = ["*"]

[tool.black]
line-length = 120"""


def test_only_the_runners_tables_are_put_back() -> None:
    made = put_back("pyproject.toml", WORKED, PYPROJECT)
    read = tomllib.loads(made.decode())
    assert read["tool"]["pytest"] == tomllib.loads(PYPROJECT.decode())["tool"]["pytest"]
    assert "coverage" not in read["tool"]
    assert read["project"] == tomllib.loads(WORKED.decode())["project"]
    assert b"[tool.black]\nline-length = 120" in made


def test_what_has_the_same_settings_is_left_as_it_is_written() -> None:
    worked = PYPROJECT.replace(b'"a"', b'"a", "b"').replace(b'addopts = "-q"', b"addopts = '-q' # quiet")
    assert put_back("pyproject.toml", worked, PYPROJECT) == worked


@each(
    "written", [b'tool.pytest.ini_options.addopts = "-k no"\n', b'[tool]\npytest = { ini_options = { addopts = "-k no" } }\n']
)  # fmt: skip
def test_settings_that_are_written_in_another_way_give_the_judge_the_whole_file(written: bytes) -> None:
    assert put_back("pyproject.toml", written, PYPROJECT) == PYPROJECT
    assert put_back("pyproject.toml", b"no [ toml", PYPROJECT) == PYPROJECT
    assert put_back("pyproject.toml", b"# " + b"x" * 2_000_000, PYPROJECT) == PYPROJECT


def test_a_long_value_that_looks_like_a_section_gives_the_judge_the_whole_file() -> None:
    mine = PYPROJECT.replace(b'name = "x"', b'name = """\n[tool.pytest.ini_options]\n"""').replace(b'"-q"', b'"-k no"')
    assert put_back("pyproject.toml", mine, PYPROJECT) == PYPROJECT
    mine = PYPROJECT.replace(b"[tool.pytest.ini_options]\na", b'[tool."pytest.ini_options"]\na')
    assert tomllib.loads(put_back("pyproject.toml", mine, PYPROJECT).decode()) == tomllib.loads(PYPROJECT.decode())


def test_a_file_that_the_judge_does_not_have_loses_the_runners_sections_and_one_that_nobody_can_read_none() -> None:
    assert put_back("pyproject.toml", PYPROJECT, b"no [ toml") == PYPROJECT
    mine = b"[metadata]\nname = x\n[tool:pytest]\naddopts = -k no\n"
    assert put_back("setup.cfg", mine, b"") == b"[metadata]\nname = x\n"
    assert put_back("package.json", b'{"name": "x", "jest": {"bail": 1}}', b"") == b'{"name": "x"}\n'


def test_ini_sections_are_put_back() -> None:
    mine = b"[metadata]\nname = y\n\n[tool:pytest]\naddopts = -k no\n\n[flake8]\nignore = E1\n"
    base = b"[tool:pytest]\naddopts = -q\n[coverage:run]\nbranch = True\n[metadata]\nname = x\n"
    made = (
        b"[metadata]\nname = y\n\n[tool:pytest]\naddopts = -q\n[flake8]\nignore = E1\n[coverage:run]\nbranch = True\n"
    )
    assert put_back("setup.cfg", mine, base) == made
    plugin = b"[metadata]\nname = y\n\n[options.entry_points]\npytest11 =\n  a = a\n"
    assert put_back("setup.cfg", plugin, b"[metadata]\n") == b"[metadata]\nname = y\n\n"
    assert put_back("setup.cfg", plugin, b"[metadata]\n", loaded=False) == plugin
    worked = b"[testenv]\ncommands = true\n[gh]\na = 1\n"
    before = b"[tox]\nskipsdist = 1\n[testenv]\ncommands = pytest\n"
    made = b"[testenv]\ncommands = pytest\n[gh]\na = 1\n[tox]\nskipsdist = 1\n"
    assert put_back("tox.ini", worked, before) == made


def test_package_scripts_and_runners_are_put_back_with_the_same_indent() -> None:
    mine = b'{\n\t"name": "y",\n\t"files": ["a"],\n\t"scripts": {"test": "true"},\n\t"ava": {"files": []},\n\t"dependencies": {"b": "1"}\n}\n'
    base = b'{"name": "x", "scripts": {"test": "ava"}, "jest": {"bail": true}}'
    made = put_back("package.json", mine, base)
    assert json.loads(made) == {
        "name": "y", "files": ["a"], "scripts": {"test": "ava"}, "dependencies": {"b": "1"}, "jest": {"bail": True},
    }  # fmt: skip
    assert b'\n\t"files": [' in made
    twice = b'{"scripts": {"test": "true"}, "scripts": {"test": "false"}}'
    assert json.loads(put_back("package.json", twice, base))["scripts"] == {"test": "ava"}


def test_of_cargo_the_tests_are_put_back_or_the_whole_file_where_they_are_switched_off() -> None:
    mine = b'[package]\nname = "y"\n\n[[test]]\nname = "a"\nharness = false\n'
    base = b'[package]\nname = "x"\n\n[[test]]\nname = "a"\n\n[[test]]\nname = "b"\n'
    read = tomllib.loads(put_back("Cargo.toml", mine, base).decode())
    assert read == {"package": {"name": "y"}, "test": [{"name": "a"}, {"name": "b"}]}
    assert put_back("Cargo.toml", mine + b"[lib]\ntest = false\n", base) == base


@each(
    ("path", "work", "base"),
    [
        ("package.json", '{"name": "y", "babel": {"plugins": ["./x"]}}', '{"name": "x"}'),
        ("Cargo.toml", '[package]\nname = "y"\n\n[profile.test]\ndebug-assertions = false\n', '[package]\nname = "x"\n'),
        ("Cargo.toml", '[package]\nname = "x"\nbuild = "other.rs"\n', '[package]\nname = "x"\n'),
    ],
)  # fmt: skip
def test_what_is_only_loaded_is_put_back_with_the_judge_of_the_base_and_stays_work_where_only_tests_are_asked_for(
    path: str, work: str, base: str
) -> None:
    made = put_back(path, work.encode(), base.encode()).decode()
    assert not any(word in made for word in ("babel", "profile", "build"))
    assert put_back(path, work.encode(), base.encode(), loaded=False) == work.encode()


VALUES = st.sampled_from(
    ['"x"', "1", '["a", "b"]', '[\n  ["c"],\n]', '"""\n [tool.pytest]\n"""', "'''\n]'\n'''", "{ a = 1 }", '["""\nx""", [\n ["tool"]\n]]']
)  # fmt: skip
KEYS = st.dictionaries(st.sampled_from(["a", "b", "c-d"]), VALUES, max_size=3)
TOML_NAMES = st.sampled_from(
    ["project", "tool.black", "tool.pytest.ini_options", "tool.coverage.run", "tool.tox", "project.entry-points.pytest11", "tool.hatch.envs.test"]
)  # fmt: skip
INI_NAMES = st.sampled_from(
    ["metadata", "flake8", "tool:pytest", "pytest", "testenv:a", "tox", "coverage:run", "aliases"]
)


def toml_text(tables: dict[str, dict[str, str]]) -> bytes:
    parts = [
        f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items()) for name, keys in tables.items()
    ]
    return "\n".join(parts).encode()


def ini_text(sections: dict[str, dict[str, str]]) -> bytes:
    plain = {
        name: {key: "1\n  [pytest]" if "\n" in value else value for key, value in keys.items()}
        for name, keys in sections.items()
    }
    return toml_text(plain)


def is_runners(name: str) -> bool:
    return name not in {"project", "tool.black", "metadata", "flake8"}


TOML = st.dictionaries(TOML_NAMES, KEYS, max_size=7)
INI = st.dictionaries(INI_NAMES, KEYS, max_size=8)
MEMBERS = st.dictionaries(
    st.sampled_from(["name", "files", "scripts", "jest", "c8"]), st.sampled_from([1, "x", ["a"], {"test": "jest"}, {}]), max_size=5
)  # fmt: skip


@given(TOML, TOML)
def test_toml_there_and_back(work: dict[str, dict[str, str]], base: dict[str, dict[str, str]]) -> None:
    mine, judges = toml_text(work), toml_text(base)
    assert put_back("pyproject.toml", mine, mine) == mine
    made = put_back("pyproject.toml", mine, judges)
    expected = {
        **{name: keys for name, keys in work.items() if not is_runners(name)},
        **{name: keys for name, keys in base.items() if is_runners(name)},
    }
    assert without_empty(tomllib.loads(made.decode())) == without_empty(tomllib.loads(toml_text(expected).decode()))
    for name in ("project", "tool.black"):
        if name in work:
            assert toml_text({name: work[name]}).rstrip() in made
    back = put_back("pyproject.toml", made, mine)
    assert without_empty(tomllib.loads(back.decode())) == without_empty(tomllib.loads(mine.decode()))


def without_empty(data: object) -> object:
    """A table that says nothing may come or go."""
    if not isinstance(data, dict):
        return data
    inner = {key: without_empty(value) for key, value in data.items()}
    return {key: value for key, value in inner.items() if value != {}}


@given(INI, INI)
def test_ini_there_and_back(work: dict[str, dict[str, str]], base: dict[str, dict[str, str]]) -> None:
    mine, judges = ini_text(work), ini_text(base)
    assert put_back("setup.cfg", mine, mine) == mine
    made = put_back("setup.cfg", mine, judges)
    assert sections(made, runners=True) == sections(judges, runners=True)
    assert sections(made, runners=False) == sections(mine, runners=False)
    back = put_back("setup.cfg", made, mine)
    assert {**sections(back, runners=True), **sections(back, runners=False)} == {
        **sections(mine, runners=True),
        **sections(mine, runners=False),
    }


def sections(raw: bytes, *, runners: bool) -> dict[str, dict[str, str]]:
    parser = configparser.RawConfigParser()
    parser.read_string(raw.decode())
    return {name: dict(parser[name]) for name in parser.sections() if is_runners(name) == runners}


@given(MEMBERS, MEMBERS, st.sampled_from([None, 2, "\t"]))
def test_json_there_and_back(work: dict[str, object], base: dict[str, object], indent: int | str | None) -> None:
    mine, judges = json.dumps(work, indent=indent).encode() + b"\n", json.dumps(base).encode()
    assert put_back("package.json", mine, mine) == mine
    made = put_back("package.json", mine, judges)
    own = {"name", "files"}
    assert json.loads(made) == {
        **{key: value for key, value in work.items() if key in own}, **{key: value for key, value in base.items() if key not in own},
    }  # fmt: skip
    assert json.loads(put_back("package.json", made, mine)) == work


@pytest.mark.parametrize("path", ["pyproject.toml", "setup.cfg", "package.json", "Cargo.toml"])
@given(st.text(alphabet="ab[]{}\"'=\n#,: ", max_size=40), st.text(alphabet="ab[]{}\"'=\n#,: ", max_size=40))
def test_any_text_is_taken_without_a_fault(path: str, mine: str, judges: str) -> None:
    assert isinstance(put_back(path, mine.encode(), judges.encode()), bytes)


# Tests inside source files

BASE = '''"""Sums.

>>> 1 + 1
2
"""


def add(a, b):
    """Add.

    >>> add(2, 3)
    5
    """
    return 0


class Pair:
    def swap(self, a, b):
        """Swap: `Pair().swap(1, 2)`.

        >>> Pair().swap(1, 2)
        (2, 1)
        """
        return (b, a)
'''
RUST = """pub fn add(a: i64, b: i64) -> i64 { a - b }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small() { assert_eq!(add(2, 3), 5); }
}
"""


def failed(text: str) -> int:
    """Return how many examples of a module fail."""
    module = types.ModuleType("sums")
    exec(compile(text, "sums.py", "exec"), module.__dict__)
    return doctest.testmod(module, report=False, verbose=False).failed


def put_back_in(work: str, path: str = "sums.py", base: str = BASE) -> str:
    return put_back(path, work.encode(), base.encode()).decode()


@each(
    "work",
    [
        BASE.replace("    5\n", "    0\n"),
        BASE.replace('    """Add.\n\n    >>> add(2, 3)\n    5\n    """\n', ""),
        BASE.replace("    >>> add(2", "    >>> add = int.__add__\n    >>> add(2"),
        BASE.replace(">>> add(2, 3)\n    5", "add(2, 3) is 5").replace("Sums.", "More sums."),
        BASE.partition('"""\n\n\n')[2]
        .replace('    """Add.\n\n    >>> add(2, 3)\n    5\n    """\n', "")
        .replace("):\n    return 0", "): return 0"),
    ],
)
def test_an_example_that_failed_fails_again_whatever_became_of_it(work: str) -> None:
    assert failed(BASE) == 1
    assert failed(work) == 0
    assert failed(put_back_in(work)) == 1


def test_the_works_code_stays_with_the_bases_examples() -> None:
    work = "import math\n\n\n" + BASE.partition('"""\n\n\n')[2].replace("return 0", "return a + b").replace(
        "(2, 1)", "(1, 2)"
    )
    text = put_back_in(work)
    assert "return a + b" in text
    assert "import math" in text
    assert failed(text) == 0


def test_examples_of_class_methods_and_properties_are_put_back_in() -> None:
    base = "class Pair:\n    @classmethod\n    def make(cls):\n        '''\n        >>> Pair.make()\n        1\n        '''\n        return 2\n"
    base += "\n    @property\n    def size(self):\n        '''\n        >>> Pair().size\n        1\n        '''\n        return 2\n"
    assert failed(base) == 2
    assert failed(put_back_in(base.replace("        1\n", "        2\n"), base=base)) == 2


def test_a_new_example_of_the_work_stays_where_the_base_has_none() -> None:
    work = BASE + '\n\ndef sub(a, b):\n    """Subtract.\n\n    >>> sub(5, 3)\n    2\n    """\n    return a - b\n'
    assert put_back_in(work) == work


@each("work", ["def broken(:\n", ""])
def test_what_has_no_room_for_tests_stays_as_it_is(work: str) -> None:
    base = BASE.partition('"""\n\n\n')[2]
    assert put_back_in(work, base=base) == work


@each(
    "work",
    [
        RUST.replace("assert_eq!(add(2, 3), 5);", ""),
        RUST.partition("\n#[cfg")[0],
        RUST.replace("    use super::*;\n", ""),
    ],
)
def test_tests_of_rust_are_put_back_in(work: str) -> None:
    assert put_back_in(work.replace("a - b", "b - a"), "lib.rs", RUST) == RUST.replace("a - b", "b - a")


def test_files_of_other_languages_stay_as_they_are() -> None:
    assert put_back_in("x", "sums.txt") == "x"


def test_a_new_example_of_what_the_base_does_not_define_fails_there() -> None:
    """New doctests count as tests: over the base they ask for what only the work defines. Those of old code run as they are."""
    base = b'def old():\n    """\n    >>> old()\n    1\n    """\n    return 1\n'
    work = base + b'\n\ndef new():\n    """\n    >>> new()\n    2\n    """\n    return 2\n'
    made = with_new_examples("calc.py", base, work)
    assert made.startswith(base.rstrip())
    found: dict[str, dict[str, str]] = {}
    exec(made, found)  # two lines above
    assert list(found["__test__"]) == ["new"]
    assert with_new_examples("calc.py", base, base) == base
    assert with_new_examples("calc.txt", base, work) == base
