"""The table of words: what a person who adds a language may rely on."""

from santiago.planner import words
from santiago.planner.markdown.harvest import FIELDS
from tests.util.each import each

TABLES = {concept: words.split(table) for concept, table in words._TABLES.items()}
DECIDES = frozenset({"criteria", "success", "gates", "depends", "verify", "covers", "never", *FIELDS})
"""Concepts that change what a plan holds; the others only say which text is not a criterion."""
SETS = """EXCLUDED_SECTIONS NEVER_UNIT_SECTIONS STORY_SECTIONS DONE_SECTIONS BACKLOG_SECTIONS OPTIONAL_SECTIONS
NAME_COLUMNS OTHER_COLUMNS CHAPTERS NONE_WORDS"""


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


@each("name", SETS.split())
def test_names_of_sections_are_in_lower_case(name: str) -> None:
    assert all(word == word.lower() and word == word.strip() and word for word in getattr(words, name))


def test_a_label_may_lack_its_accents() -> None:
    assert words.concept("Criterios de aceptacion") == "criteria"
    assert words.concept("Dependances") == "depends"


def test_a_heading_may_lack_its_accents() -> None:
    assert words.fate("Consideracoes Tecnicas") == words.fate("Considerações técnicas") == words.CONTEXT
    assert words.fate("Introducao") == words.CONTEXT
    assert words.fate("Nao objetivos") == ("left_out", "out of scope")
    assert words.without_accents("ガイド") == "ガイド"


def test_the_words_in_front_of_a_number_are_known_kinds() -> None:
    assert set(words.UNIT_WORDS.values()) == {"story", "requirement", "task", "step", "feature"}
    assert all(word == word.lower() for word in words.UNIT_WORDS)


def test_no_section_is_both_out_of_scope_and_a_list_of_stories() -> None:
    assert not words.EXCLUDED_SECTIONS & words.STORY_SECTIONS
    assert not words.EXCLUDED_SECTIONS & words.DONE_SECTIONS


@each(
    ("sentence", "is_one"),
    [
        ("As a user, I want to log in so that I see my data", True),
        ("En tant qu'utilisateur, je veux me connecter", True),
        ("Als Nutzer möchte ich mich anmelden", True),
        ("Als gebruiker wil ik inloggen", True),
        ("Como usuario quiero iniciar sesión", True),
        ("Como usuário, quero entrar", True),
        ("Jako użytkownik chcę się zalogować", True),
        ("Som användare vill jag logga in", True),
        ("Как пользователь, я хочу войти", True),
        ("Sebagai admin, saya ingin masuk", True),
        ("作为用户，我想登录", True),
        ("ユーザーとして、ログインしたい", True),
        ("사용자로서 로그인하고 싶다", True),
        ("As a result, we want less", False),
        ("As an example, I need that", False),
        ("Come back later", False),
        ("As soon as I can", False),
    ],
)
def test_stories_are_known_in_many_languages_and_sentences_alike_are_none(sentence: str, is_one: bool) -> None:
    assert bool(words.is_story(sentence)) is is_one
