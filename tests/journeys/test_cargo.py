"""A Rust package, whose tests stand beside the code: from a clone to merged work."""

import os
from pathlib import Path

import pytest

from tests.journeys.person import MERGED, Person, branch_of, shared
from tests.programs import works

CODE = "pub fn total(prices: &[u64]) -> u64 {\n    prices.iter().sum()\n}\n"
MORE = "pub fn discounted(cents: u64, percent: u64) -> u64 {\n    cents * (100 - percent) / 100\n}\n"
TESTS = "#[cfg(test)]\nmod tests {\n    use super::*;\n"
ONE = "    #[test]\n    fn total_of_two() {\n        assert_eq!(total(&[100, 250]), 350);\n    }\n"
TWO = "    #[test]\n    fn ten_percent() {\n        assert_eq!(discounted(1000, 10), 900);\n    }\n"
PRD = """\
# Discounts

## Requirements

- **R1** A discount in percent is taken off a total
  - `discounted(1000, 10)` is 900
- **R2** Prices are printed with their currency
  - `printed(150)` is `1.50 EUR`
"""
SHOP = {
    "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n', "src/lib.rs": "\n".join((CODE, TESTS, ONE + "}\n")), "docs/prd.md": PRD,
    ".gitignore": "/target\n",
}  # fmt: skip
PRINTED = (
    "pub fn printed(cents: u64) -> String {\n    format!(\"{}.{:02} EUR\", cents / 100, cents % 100)\n}\n\n" + TESTS
    + "    #[test]\n    fn of_one_and_a_half() {\n        assert_eq!(printed(150), \"1.50 EUR\");\n    }\n}\n"
)  # fmt: skip
IN_FILES = {"src/lib.rs": "\n".join(("pub mod text;\n", CODE, MORE, TESTS, ONE, TWO + "}\n")),
            "src/text/mod.rs": "pub mod prices;\n", "src/text/prices.rs": PRINTED}  # fmt: skip
WORK = {"src/lib.rs": "\n".join((CODE, MORE, TESTS, ONE, TWO + "}\n"))}


@pytest.mark.skipif(not works("cargo"), reason="no cargo here")
def test_a_rust_package(tmp_path: Path) -> None:
    ann = Person(tmp_path)
    # Where rustup has the toolchains, since this home is not the one that they are in.
    ann.env["RUSTUP_HOME"] = os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup"))
    ann.clones(shared(tmp_path, "shop", SHOP))
    assert "Found  cargo test   (because of Cargo.toml)" in ann.types("santiago init")
    ann.types("git add santiago.toml && git commit -q -m 'Set santiago up'")
    works = {"A discount in percent is taken off a total": WORK, "Prices are printed with their currency": IN_FILES}
    ann.installs("worker", works)
    ran = ann.types("santiago run docs/prd.md --agent worker")
    assert "success  2 done: 2 shown" in ran
    assert ran.count("own_tests)") == 2  # the second story's tests stand in files that only it has
    ann.types(f"git merge -q {branch_of(ran)}")
    assert MERGED in ann.types("santiago status")
