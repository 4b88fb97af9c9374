"""A run that a command of a page names is the run that the page showed under that id."""

from tests.docs.matching import as_on_page, same_runs


def test_runs_come_in_the_same_order_on_the_page_and_in_its_world() -> None:
    known = same_runs({}, ["run r_20261117_000001"], ["run r_20270101_000000", "in r_20270101_000000"])
    known = same_runs(known, ["r_20261117_000002, not r_20261117_000001"], ["r_20270101_000007, not r_20270101_000000"])
    assert known == {"r_20261117_000001": "r_20270101_000000", "r_20261117_000002": "r_20270101_000007"}


def test_what_is_printed_has_the_ids_of_the_page() -> None:
    known = {"r_20261117_000001": "r_20270101_000000"}
    assert as_on_page(known, ["r_20270101_000000, then r_20270101_000007"]) == [
        "r_20261117_000001, then r_20270101_000007"
    ]
