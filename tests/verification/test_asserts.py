"""A module that is checked by its own asserts keeps them, and those of C keep their meaning (b.101)."""

from __future__ import annotations

import pytest

from tests.verification.test_seal import broken

MAIN = b"""import sys

def slug(text):
    assert isinstance(text, str)
    return text

def selftest():
    assert slug("B") == "b"

if __name__ == "__main__":
    assert slug("A") == "a"
    if "--selftest" in sys.argv:
        selftest()
"""
TEST = b'#include <assert.h>\n#include "add.h"\nint main(void) { assert(add(2, 3) == 5); }\n'
BASE = {"slug.py": MAIN, "add.h": b"int add(int, int);\n", "t.c": TEST, "Makefile": b"test: t\n\t./t\n"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'assert slug("A") == "a"', b"pass"), (b' == "a"', b""), (b' == "b"', b""), (b"        selftest()", b"        pass"),
        (b'    assert slug("A")', b'    if 0: assert slug("A")'), (b"def selftest():", b"def selftest():\n    pass\n\ndef other():"),
    ],
)  # fmt: skip
def test_asserts_of_a_module_that_a_check_runs_may_not_go(old: bytes, new: bytes) -> None:
    changed = MAIN.replace(old, new)
    assert broken({"slug.py": changed}, ["python3 slug.py --selftest"], ("slug.py",), base=BASE) == ("slug.py",)
    assert broken({"slug.py": changed}, ["pytest"], ("slug.py",), base=BASE) == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"    assert isinstance(text, str)\n    return text", b"    return text.lower()"), (b"import sys\n", b"import re\nimport sys\n"),
        (b'    assert slug("A")', b'    assert slug("C") == "c"\n    assert slug("A")'), (b"        selftest()", b"        selftest()\n    print('ok')"),
    ],
)  # fmt: skip
def test_the_work_beside_them_may_change(old: bytes, new: bytes) -> None:
    assert broken({"slug.py": MAIN.replace(old, new)}, ["python3 slug.py"], ("slug.py",), base=BASE) == ()


def test_asserts_of_c_keep_their_meaning() -> None:
    for line in (b"#define NDEBUG\n", b"#undef assert\n", b" # define assert(x) ((void)(x))\n"):
        now: dict[str, bytes | None] = {"add.h": line + BASE["add.h"]}
        assert broken(now, ["make test"], ("add.h",), base=BASE) == ("add.h",)
        assert broken(now, ["cc -o t t.c && ./t"], ("add.h",), base=BASE) == ("add.h",)
        assert broken(now, ["pytest"], ("add.h",), base=BASE) == ()
        assert broken(now, ["make test"], ("add.h",), base={**BASE, "add.h": line}) == ()
    honest = b"#include <assert.h>\n#define MOST 3\n#ifndef NDEBUG\n#define LOG 1\n#endif\n"
    assert broken({"add.h": honest}, ["make test"], base=BASE) == ()


def test_a_macro_that_nobody_used_yet_may_be_called_after_asserts() -> None:
    now: dict[str, bytes | None] = {"add.h": b"#define assert_small(n) assert((n) < 9)\n"}
    assert broken(now, ["make test"], base=BASE) == ()
    assert broken(now, ["make test"], ("add.h",), base={**BASE, "t.c": b"int main(void) { assert_small(3); }\n"}) == (
        "add.h",
    )
