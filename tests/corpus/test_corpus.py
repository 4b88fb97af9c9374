"""Real documents, labelled by people who did not write the readers: each is read exactly, or rightly refused.

The documents belong to their authors and are not part of this repository; without them there is nothing to test here.
"""

import pytest

from santiago.planner.compile import compile_plan
from santiago.planner.source import Source
from tests.corpus.score import CORPUS, Label, closest, differences, labels, read
from tests.util.each import each

if not CORPUS.is_dir():
    pytest.skip(f"the labelled documents are not here: {CORPUS}", allow_module_level=True)


@each(("family", "name", "label"), labels())
def test_is_read_exactly_or_rightly_refused_and_no_unit_is_missing_from_the_plan_without_a_word(
    family: str, name: str, label: Label
) -> None:
    """Through the whole compiler: a refusal says why; in a plan each unit is a story, or a finding at its line."""
    document = read(CORPUS / family / name)
    assert differences(document, label) == []
    text = (CORPUS / family / name).read_text(encoding="utf-8-sig")
    compilation = compile_plan(Source(text, path=name))
    wanted = closest(document, label)
    if compilation.plan is None:
        assert compilation.errors
        assert all(error.message and error.hint for error in compilation.errors)
        return
    assert wanted["outcome"] == "plan"
    stories = {story.origin.line for story in compilation.plan.stories}
    said = {finding.line for finding in compilation.findings}
    assert {unit["line"] for unit in wanted["units"]} <= stories | said


def test_the_labels_cover_enough_to_mean_something() -> None:
    found = labels()
    assert len(found) >= 60
    assert len({family for family, _, _ in found}) >= 12
    assert any(label["outcome"] == "refused" for _, _, label in found)
