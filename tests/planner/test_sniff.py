"""What a text is, by its content."""

from __future__ import annotations

from santiago.planner.source import Source
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
