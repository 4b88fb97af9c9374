"""The keywords of Gherkin in its most used languages. To support another language, add a row.

A row holds: language; feature; rule; background; scenario; outline; examples; given; when; then; and/but. `|` separates synonyms.
"""

# ruff: noqa: E501  # one language per line reads best

from __future__ import annotations

import re

from santiago.contract.patterns import pattern
from santiago.planner.words import any_of

_COLUMNS = ("feature", "rule", "background", "scenario", "outline", "examples", "given", "when", "then", "and")

_TABLE = """
en; Feature|Business Need|Ability; Rule; Background; Scenario|Example; Scenario Outline|Scenario Template; Examples|Scenarios; Given; When; Then; And|But
fr; Fonctionnalité; Règle; Contexte; Scénario|Exemple; Plan du scénario|Plan du Scénario; Exemples; Etant donné|Étant donné|Etant donnée|Étant donnée|Etant donnés|Étant donnés|Sachant|Soit; Quand|Lorsque|Lorsqu'; Alors|Donc; Et|Mais
de; Funktionalität|Funktion; Regel; Grundlage|Hintergrund|Voraussetzungen|Vorbedingungen; Szenario|Beispiel; Szenariogrundriss|Szenarien; Beispiele; Angenommen|Gegeben sei|Gegeben seien|Gegeben; Wenn; Dann; Und|Aber
es; Característica|Necesidad del negocio|Requisito; Regla|Regla de negocio; Antecedentes; Escenario|Ejemplo; Esquema del escenario; Ejemplos; Dado|Dada|Dados|Dadas; Cuando; Entonces; Y|E|Pero
pt; Funcionalidade|Característica|Caracteristica; Regra; Contexto|Cenário de Fundo|Fundo; Cenário|Cenario|Exemplo; Esquema do Cenário|Esquema do Cenario|Delineação do Cenário; Exemplos|Cenários; Dado|Dada|Dados|Dadas; Quando; Então|Entao; E|Mas
it; Funzionalità|Esigenza di Business|Abilità; Regola; Contesto; Scenario|Esempio; Schema dello scenario; Esempi; Dato|Data|Dati|Date; Quando; Allora; E|Ma
nl; Functionaliteit; Regel; Achtergrond; Scenario|Voorbeeld; Abstract Scenario; Voorbeelden; Gegeven|Stel; Als|Wanneer; Dan; En|Maar
sv; Egenskap; Regel; Bakgrund; Scenario; Abstrakt Scenario|Scenariomall; Exempel; Givet; När; Så; Och|Men
no; Egenskap; Regel; Bakgrunn; Scenario|Eksempel; Scenariomal|Abstrakt Scenario; Eksempler; Gitt; Når; Så; Og|Men
da; Egenskab; Regel; Baggrund; Scenarie|Eksempel; Abstrakt Scenario; Eksempler; Givet; Når; Så; Og|Men
fi; Ominaisuus; Sääntö; Tausta; Tapaus; Tapausaihio; Tapaukset; Oletetaan; Kun; Niin; Ja|Mutta
pl; Właściwość|Funkcja|Aspekt|Potrzeba biznesowa; Zasada|Reguła; Założenia; Scenariusz|Przykład; Szablon scenariusza; Przykłady; Zakładając|Mając; Jeżeli|Jeśli|Gdy|Kiedy; Wtedy; Oraz|I|Ale
cs; Požadavek; Pravidlo; Pozadí|Kontext; Scénář|Příklad; Náčrt Scénáře|Osnova scénáře; Příklady; Pokud|Za předpokladu; Když; Pak; A také|A|Ale
ru; Функция|Функциональность|Функционал|Свойство|Фича; Правило; Предыстория|Контекст; Сценарий|Пример; Структура сценария|Шаблон сценария; Примеры; Допустим|Дано|Пусть; Когда|Если; Тогда|Затем|То; И|К тому же|Также|Но|А|Иначе
uk; Функціонал; Правило; Передумова; Сценарій|Приклад; Структура сценарію; Приклади; Припустимо|Припустимо, що|Нехай|Дано; Якщо|Коли; Тоді|То; І|А також|Та|Але
tr; Özellik; Kural; Geçmiş; Senaryo|Örnek; Senaryo taslağı; Örnekler; Diyelim ki; Eğer ki; O zaman; Ve|Fakat|Ama
id; Fitur; Aturan; Dasar|Latar Belakang; Skenario; Skenario konsep|Garis Besar Skenario; Contoh|Misal; Diketahui|Dengan|Diasumsikan|Bila|Jika; Ketika; Maka|Kemudian; Dan|Tapi|Tetapi
ja; フィーチャ|機能; ルール; 背景; シナリオ; シナリオアウトライン|シナリオテンプレート|シナリオテンプレ|テンプレ; 例|サンプル; 前提; もし; ならば; 且つ|かつ|しかし|但し|ただし
zh; 功能; 规则|規則; 背景; 场景|剧本|場景|劇本; 场景大纲|剧本大纲|場景大綱|劇本大綱; 例子; 假如|假设|假定|假設; 当|當; 那么|那麼; 而且|并且|並且|同时|同時|但是
ko; 기능; 규칙; 배경; 시나리오; 시나리오 개요; 예; 조건|먼저; 만일|만약; 그러면; 그리고|하지만|단
"""


def _column(name: str) -> tuple[str, ...]:
    at = _COLUMNS.index(name) + 1
    rows = [row.split(";") for row in _TABLE.strip().splitlines()]
    return tuple(dict.fromkeys(word.strip() for row in rows for word in row[at].split("|")))


def _steps(name: str) -> str:
    """Return a pattern for the keywords of a step. A blank must follow them, except in scripts that use no blanks."""
    found = _column(name)
    spaced = tuple(word for word in found if word[0] < "\u2e80" and not word.endswith("'"))
    joined = tuple(word for word in found if word not in spaced)
    return rf"(?:{any_of(spaced)})(?=\s|$)" + (rf"|(?:{any_of(joined)})" if joined else "")


HEADERS = {name: frozenset(_column(name)) for name in _COLUMNS[:6]}
HEADER = pattern(
    r"(" + any_of(tuple(word for name in _COLUMNS[:6] for word in _column(name))) + r")[ \t]*[:：][ \t]*(.*)$"
)
"""The first line of a feature, rule, background, scenario, outline or table of examples."""

STEP = pattern(r"(?:" + "|".join(_steps(name) for name in _COLUMNS[6:]) + r"|\*(?=\s))")
THEN = pattern(_steps("then"))

_SCENARIO_OR_STEP = pattern(
    rf"^[ \t]*(?:(?:{any_of(_column('background') + _column('scenario') + _column('outline'))})[ \t]*[:：]"
    rf"|(?:{'|'.join(map(_steps, ('given', 'when', 'then')))}))",
    re.MULTILINE,
)


def _opens(line: str) -> bool:
    word = line.replace("：", ":").partition(":")[0].rstrip(" \t")
    return len(word) < len(line) and (word in HEADERS["feature"] or word in HEADERS["rule"])


def is_gherkin(text: str) -> bool:
    """Tell whether a text is a feature file: its first line is a feature or a rule, and a scenario or step follows.

    Comments, tags and empty lines may come before the first line.
    """
    for raw in text.split("\n", 200)[:200]:
        line = raw.strip()
        if line and line[0] not in "#@":
            return _opens(line) and bool(_SCENARIO_OR_STEP.search(text))
    return False
