"""Reports in JUnit's form: what counts, and what is passed over."""

import os
from pathlib import Path

import pytest

from santiago.judge.naming import junit
from santiago.judge.naming.printed_results import named

SUREFIRE = """<testsuite name="com.x.FooTest">
<testcase classname="com.x.FooTest" name="adds"/>
<testcase classname="com.x.FooTest" name="breaks"><failure message="no">text &lt;skipped/&gt;</failure></testcase>
<testcase classname="com.x.FooTest" name="waits"><skipped/></testcase>
<testcase classname="com.x.FooTest" name="adds"><error/></testcase>
<testcase classname="com.x.FooTest" name="ends"/>
<error/></testsuite>"""


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    folder = tmp_path / "reports"
    folder.mkdir()
    return folder


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    return folder


def _write(path: Path, text: str | bytes, at_ns: int = 2_000) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.utime(path, ns=(at_ns, at_ns))
    return path


def test_a_report_that_a_build_tool_wrote_meanwhile_names_its_tests(reports: Path, checkout: Path) -> None:
    _write(checkout / "app/target/surefire-reports/TEST-com.x.FooTest.xml", SUREFIRE)
    assert named("", reports, checkout, 1_000) == {
        "com.x.FooTest::adds": "passed",
        "com.x.FooTest::breaks": "failed",
        "com.x.FooTest::waits": "skipped",
        "com.x.FooTest::adds (2)": "failed",
        "com.x.FooTest::ends": "passed",
    }


def test_a_report_from_before_the_check_or_behind_a_link_counts_for_nothing(reports: Path, checkout: Path) -> None:
    _write(checkout / "build/report.xml", SUREFIRE, at_ns=1_000)
    (reports / "pytest.xml").symlink_to(_write(reports.parent / "elsewhere.xml", SUREFIRE))
    assert named("", reports, checkout, 1_000) is None


def test_the_worst_of_several_processes_counts(reports: Path, checkout: Path) -> None:
    case = '<testsuites><testsuite><testcase file="a.py" classname="a" name="test_x">{}</testcase></testsuite></testsuites>'
    for number, mark in enumerate(("", "<failure/>", "<skipped/>")):
        _write(reports / f"pytest-{number}.xml", case.format(mark))
    assert named("", reports, checkout, 0) == {"a.py::test_x": "failed"}


def test_a_test_written_in_a_base_class_belongs_to_the_file_that_collected_it(reports: Path, checkout: Path) -> None:
    _write(
        reports / "pytest.xml",
        '<testsuite><testcase file="tests/base.py" classname="tests.test_a.TestA" name="test_x"/></testsuite>',
    )
    assert named("", reports, checkout, 0) == {"tests/test_a.py::TestA::test_x": "passed"}


@pytest.mark.parametrize(
    "broken",
    [
        SUREFIRE[:-5],
        '<!DOCTYPE testsuite [<!ENTITY a "b">]>' + SUREFIRE,
        ('<?xml version="1.0" encoding="utf-16"?><!DOCTYPE a [<!ENTITY a "b">]>' + SUREFIRE).encode("utf-16"),
        "<project><testcase name='x'/></project>",
        '<?xml version="1.0" encoding="nonsense"?>' + SUREFIRE,
        "",
    ],
)
def test_a_file_that_is_broken_or_declares_entities_or_is_no_report_is_passed_over(
    reports: Path, checkout: Path, broken: str | bytes
) -> None:
    _write(reports / "a.xml", broken)
    assert named("", reports, checkout, 0) is None
    _write(reports / "b.xml", SUREFIRE)
    assert named("", reports, checkout, 0) is not None


def test_a_report_beyond_the_largest_size_names_nothing_and_is_told_of(
    reports: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(junit, "LARGEST", len(SUREFIRE) - 1)
    _write(reports / "a.xml", SUREFIRE.replace("testsuite", "drawings"))
    assert named("", reports, checkout, 0) is None, "it is no report"
    _write(reports / "a.xml", SUREFIRE)
    with pytest.raises(junit.UnreadError, match="a test report of more than 0 MiB, which is not read"):
        named("", reports, checkout, 0)


def test_more_reports_than_are_read_name_nothing_and_are_told_of(
    reports: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(2):
        _write(reports / f"{number}.xml", f'<testsuite><testcase name="t{number}"/></testsuite>')
    monkeypatch.setattr(junit, "MOST_FILES", 2)
    assert named("", reports, checkout, 0) == {"t0": "passed", "t1": "passed"}
    monkeypatch.setattr(junit, "MOST_FILES", 1)
    with pytest.raises(junit.UnreadError, match="more than the 1 test reports that are read"):
        named("", reports, checkout, 0)
