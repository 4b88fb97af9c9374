"""The table of words: what a person who adds a language may rely on."""

from __future__ import annotations

from santiago.planner import words
from santiago.planner.markdown.gather import FIELDS
from tests.util.each import each

TABLES = {concept: words.split(table) for concept, table in words._TABLES.items()}
DECIDES = frozenset({"criteria", "success", "gates", "depends", "verify", "covers", "never", *FIELDS})
"""Concepts that change what a plan holds; the others only say which text is not a criterion."""
SETS = {
    "EXCLUDED_SECTIONS": words.EXCLUDED_SECTIONS,
    "NEVER_UNIT_SECTIONS": words.NEVER_UNIT_SECTIONS,
    "STORY_SECTIONS": words.STORY_SECTIONS,
    "DONE_SECTIONS": words.DONE_SECTIONS,
    "BACKLOG_SECTIONS": words.BACKLOG_SECTIONS,
    "OPTIONAL_SECTIONS": words.OPTIONAL_SECTIONS,
    "NAME_COLUMNS": words.NAME_COLUMNS,
    "OTHER_COLUMNS": words.OTHER_COLUMNS,
    "CHAPTERS": words.CHAPTERS,
    "NONE_WORDS": words.NONE_WORDS,
}


def test_no_word_means_two_things_that_matter() -> None:
    meaning: dict[str, str] = {}
    for concept in sorted(DECIDES):
        for word in TABLES[concept]:
            assert meaning.setdefault(word, concept) == concept, word


def test_a_word_that_decides_is_not_taken_by_one_that_does_not() -> None:
    for concept in DECIDES:
        for word in TABLES[concept]:
            assert words.LABELS[word] == concept, word


@each("concept", sorted(TABLES))
def test_labels_are_written_as_they_are_compared(concept: str) -> None:
    for word in TABLES[concept]:
        assert word == word.lower(), word
        # In emphasis, with a number in front and a colon behind: as authors write them.
        assert words.concept(f"**3. {word}:**") == words.LABELS[word], word


@each("name", sorted(SETS))
def test_names_of_sections_are_in_lower_case(name: str) -> None:
    assert all(word == word.lower() and word == word.strip() and word for word in SETS[name])


def test_a_label_may_lack_its_accents() -> None:
    assert words.concept("Criterios de aceptacion") == "criteria"
    assert words.concept("Dependances") == "depends"


def test_the_words_in_front_of_a_number_are_known_kinds() -> None:
    assert set(words.UNIT_WORDS.values()) == {"story", "requirement", "task", "step", "feature"}
    assert all(word == word.lower() for word in words.UNIT_WORDS)


def test_no_section_is_both_out_of_scope_and_a_list_of_stories() -> None:
    assert not words.EXCLUDED_SECTIONS & words.STORY_SECTIONS
    assert not words.EXCLUDED_SECTIONS & words.DONE_SECTIONS


@each(
    "sentence",
    [
        "As a user, I want to log in so that I see my data",
        "En tant qu'utilisateur, je veux me connecter",
        "Als Nutzer möchte ich mich anmelden",
        "Como usuario quiero iniciar sesión",
        "Como usuário, quero entrar",
        "Jako użytkownik chcę się zalogować",
        "Som användare vill jag logga in",
        "Как пользователь, я хочу войти",
        "作为用户，我想登录",
        "ユーザーとして、ログインしたい",
        "사용자로서 로그인하고 싶다",
    ],
)
def test_stories_are_known_in_many_languages(sentence: str) -> None:
    assert words.is_story(sentence)


@each("sentence", ["As a result, we want less", "As an example, I need that", "Come back later", "As soon as I can"])
def test_sentences_that_only_begin_so_are_no_stories(sentence: str) -> None:
    assert not words.is_story(sentence)
