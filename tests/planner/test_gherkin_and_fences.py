"""What a text is by its content, feature files, and Markdown whose stories are records in code fences."""

from santiago.planner.source import Source
from tests.planner.structured import codes, look, read, targets
from tests.util.each import each


@each(
    ("text", "kind"),
    [
        ('{"a": 1}', "json"),
        ("\ufeff\n [\n {}]", "json"),
        ("[]", "json"),
        ("[link](x) and text", "markdown"),
        ("[ ] a box", "markdown"),
        ("[TOC]\n\n# Title", "markdown"),
        ("{% raw %}\n# Title", "markdown"),
        ("a: 1\nb: 2\n", "yaml"),
        ("# A comment\n---\na:\n  - b\n", "yaml"),
        ("- id: 1\n  title: x\n", "yaml"),
        ("a: 1\n\n## Part two\n\nb:\n  c: 2\n", "yaml"),
        ("key: value\n\n## US-001: title\n\n- [ ] box\n", "markdown"),
        ("# Title\n\nSome words.\n", "markdown"),
        ("---\ntitle: x\n---\n\nBody\n", "markdown"),
        ("# language: fr\n@a @b\nFonctionnalité: X\n  Scénario: y\n", "gherkin"),
        ("Feature: X\n\nScenario: y\n  Given z\n", "gherkin"),
        ("Feature: X is a word\n\nSome prose follows here.\n", "markdown"),
        ("# Spec\n\nFeature: X\n  Scenario: y\n", "gherkin"),
        ("Intro text.\n\nFeature: X\n  Scenario: y\n", "markdown"),
    ],
)
def test_a_text_is_known_by_its_content(text: str, kind: str) -> None:
    assert Source(text).looks_like == kind


FEATURE = '''\
# A comment at the top
@web @US-7
Feature: Sign in
  As a guest I want in

  Background:
    Given a door

  @AC-1
  Scenario: AC-1 The right key
    Given a key
    When I turn it
    # Then it breaks
    Then it opens
    And it lets `src/door.py` know:
      """
      Scenario: not one
      """

  Scenario Outline: Some keys
    When I turn <key>
    #Then nothing
    Examples:
      | key |
      | red |
'''


def test_a_feature_is_a_unit_and_its_scenarios_are_criteria() -> None:
    document = read(FEATURE)
    (unit,) = document.units
    assert (unit.id, unit.title, unit.line, unit.tags) == ("US-7", "Sign in", 3, ("web", "US-7"))
    assert [(c.line, c.id) for c in unit.criteria] == [(10, "AC-1"), (20, None)]
    assert unit.criteria[0].text.startswith("The right key: Given a key When I turn it Then it opens")
    assert "Scenario: not one" in unit.criteria[0].text
    assert "| red |" in unit.criteria[1].text
    assert unit.text == "As a guest I want in\nBackground:\nGiven a door"
    assert [(finding.code, finding.line) for finding in document.findings] == [("scenario_without_then", 20)]


def test_rules_are_units_of_their_feature() -> None:
    document = read(
        "Feature: F\n  Scenario: a\n    Then b\n  Rule: R one\n    Example: c\n      Then d\nFeature: G\n  Rule: R two\n    Scenario: e\n      Then f\n"
    )
    assert [(unit.title, unit.chunk, unit.line, len(unit.criteria)) for unit in document.units] == [
        ("F", "F", 1, 1),
        ("R one", "F", 4, 1),
        ("R two", "G", 8, 1),
    ]


@each(
    "words",
    [
        ("Fonctionnalité", "Contexte", "Scénario", "Étant donné", "Quand", "Alors"),
        ("Funktionalität", "Grundlage", "Szenario", "Angenommen", "Wenn", "Dann"),
        ("Característica", "Antecedentes", "Escenario", "Dado", "Cuando", "Entonces"),
        ("Funcionalidade", "Contexto", "Cenário", "Dado", "Quando", "Então"),
        ("Funzionalità", "Contesto", "Scenario", "Dato", "Quando", "Allora"),
        ("Functionaliteit", "Achtergrond", "Scenario", "Gegeven", "Als", "Dan"),
        ("Egenskap", "Bakgrund", "Scenario", "Givet", "När", "Så"),
        ("Właściwość", "Założenia", "Scenariusz", "Mając", "Kiedy", "Wtedy"),
        ("Функция", "Контекст", "Сценарий", "Дано", "Когда", "Тогда"),
        ("Функціонал", "Передумова", "Сценарій", "Дано", "Коли", "Тоді"),
        ("Özellik", "Geçmiş", "Senaryo", "Diyelim ki", "Eğer ki", "O zaman"),
        ("機能", "背景", "シナリオ", "前提", "もし", "ならば"),
        ("功能", "背景", "场景", "假如", "当", "那么"),
        ("기능", "배경", "시나리오", "조건", "만일", "그러면"),
        ("Fitur", "Latar Belakang", "Skenario", "Diketahui", "Ketika", "Maka"),
    ],
)
def test_gherkin_speaks_many_languages(words: tuple[str, ...]) -> None:
    feature, background, scenario, given_, when, then = words
    document = read(
        f"{feature}: A\n  {background}:\n    {given_} a\n\n  {scenario}: B\n    {when} b\n    {then} c\n  {scenario}: C\n    {when} d\n"
    )
    assert [(unit.title, unit.line, [c.line for c in unit.criteria]) for unit in document.units] == [("A", 1, [5, 8])]
    assert [finding.line for finding in document.findings] == [8]


FENCED = """\
# Template

```yaml
id: US-001
title: …
as_a: "As a …"
acceptance_criteria:
  - GIVEN … THEN …
```

## Phase 1: Base

### US-001 — Open the box

```yaml
id: US-001
title: Open the box
acceptance_criteria:
  # first
  - GIVEN a box :
      • closed
    THEN it opens
  - it stays open
dependencies: [US-XXX]
```

- US-002 — Close the box

```json
{"id": "US-002", "title": "Close the box",
 "acceptance_criteria": ["shut"], "dependencies": ["US-001"]}
```

## Phase 2: Rest

### US-003 — Paint the box

```yaml
id: US-003
title: Paint the box
title: Paint it again
```

### US-004 — Sell the box

**Acceptance Criteria:**
- sold
"""


def test_records_in_fences_are_stories_where_a_heading_or_item_announces_them() -> None:
    document = read(FENCED)
    assert document.format == "fenced-stories"
    assert [(unit.id, unit.line, unit.chunk, [c.line for c in unit.criteria]) for unit in document.units] == [
        ("US-001", 13, "Phase 1: Base", [20, 23]),
        ("US-002", 27, "Phase 1: Base", [31]),
        ("US-003", 36, "Phase 2: Rest", []),
        ("US-004", 44, "Phase 2: Rest", [47]),
    ]
    assert [targets(unit) for unit in document.units] == [["US-XXX"], ["US-001"], [], []]
    assert document.units[0].title == "Open the box"
    assert sorted(codes(document)) == ["fence_not_read", "fence_not_read", "yaml_repaired"]
    document = read("### US-001: Open the box\n\n```yaml\nid: US-001\nacceptance_criteria: [it opens]\n```\n")
    found = [(unit.id, unit.line) for unit in document.units]
    assert (document.format, found) == ("fenced-stories", [("US-001", 1)]), "also in the first line of a document"


@each(
    "text",
    [
        '# A\n\n### US-001: Post it\n\n```json\n{"id": 7, "title": "x"}\n```\n',
        "# A\n\n```yaml\nid: US-xxx\ntitle: …\nas_a: …\n```\n",
        "# A\n\n```yaml\nname: x\n```\n",
        "# A\n\n```python\nid: int\n```\n",
    ],
)
def test_examples_in_fences_are_no_stories(text: str) -> None:
    document = look(text)
    assert document is None or document.format != "fenced-stories"
