"""What an id tells about the test's function and file."""

from __future__ import annotations

from santiago.judge.naming import file_of, function_of
from tests.util.each import each

FILES = frozenset(
    {
        "tests/test_a.py",
        "tests/unit/test_b.py",
        "other/test_b.py",
        "pkg/__init__.py",
        "src/x.test.js",
        "crates/alpha/src/lib.rs",
        "tests/it.rs",
        "app/src/test/java/com/x/FooTest.java",
    }
)


@each(
    ("test", "function"),
    [
        ("tests/test_a.py::test_x[3]", "tests/test_a.py::test_x"),
        ("tests/test_a.py::C::test_x[a::b-[c]]", "tests/test_a.py::C::test_x"),
        ("tests/[id]/test_a.py::test_x", "tests/[id]/test_a.py::test_x"),
        ("com.x.FooTest::adds(int, int)[2]", "com.x.FooTest::adds"),
        ("pkg.mod.Class.test_x", "pkg.mod.Class.test_x"),
        ("example.com/m/sub/TestA/one_two", "example.com/m/sub/TestA"),
        ("example.com/Testing/TestA", "example.com/Testing/TestA"),
        ("a.test.js > suite > one (2)", "a.test.js > suite > one"),
        ("a.test.js > A::b [c]", "a.test.js > A::b [c]"),
    ],
)
def test_the_function_of_a_test_is_its_id_without_parameters(test: str, function: str) -> None:
    assert function_of(test) == function


@each(
    ("test", "file"),
    [
        ("tests/test_a.py::test_x[3]", "tests/test_a.py"),
        ("test_a.py::test_x", "tests/test_a.py"),
        ("test_b.py::test_x", None),
        ("unit/test_b.py::test_x", "tests/unit/test_b.py"),
        ("tests.test_a.Class.test_x", "tests/test_a.py"),
        ("test_a.Class.test_x", "tests/test_a.py"),
        ("pkg.Class.test_x", "pkg/__init__.py"),
        ("src/x.test.js > suite > one", "src/x.test.js"),
        ("./src/x.test.js", "src/x.test.js"),
        ("/tmp/checkout/src/x.test.js", "src/x.test.js"),
        ("alpha/src/lib.rs::tests::ok", "crates/alpha/src/lib.rs"),
        ("it/tests/it.rs::it", "tests/it.rs"),
        ("com.x.FooTest$Inner::adds", "app/src/test/java/com/x/FooTest.java"),
        ("a title", None),
    ],
)
def test_the_file_of_a_test_is_found_where_its_id_tells(test: str, file: str | None) -> None:
    assert file_of(test, FILES) == file
