"""Tell the format of a text by its content, never by its file name: by the column names of tickets and the keywords of Gherkin, say.

To support another language of Gherkin, add a row to its table.
"""

# ruff: noqa: E501  # one language per line reads best

from __future__ import annotations

from santiago.contract.lazy_regex import pattern
from santiago.planner import ids
from santiago.planner.words import any_of

_YAML_KEY = pattern(r"^(?:- )?[\w\"'.-]+[ \t]*:(?:[ \t]|$)")
_ID_LINE = pattern(r"^(?:- )?[A-Z][A-Za-z-]*\d[\w.-]*[ \t]*:[ \t]+[^\s|>&{\[]")
"""`- FR-1: The system …`: a Markdown list of requirements that looks like YAML."""
_JSON_LIST = pattern(r"\[\s*(?:[\[{\"\]\d-]|(?:true|false|null)\b)")
_NOT_JSON = pattern(r"\[[^\]\n]*\]\(|\[[ xX]\]\s|\{[{%#:]")
_BOX_LINE = pattern(r"[-*] \[[ xX~-]?\] ")
"""A check box at the left margin. No YAML value begins like this."""
_HEADING = pattern(r"#{2,6} (\S.*)")


def looks_like(text: str, *, front_matter: bool) -> str:
    """Return `json`, `csv`, `gherkin`, `yaml` or `markdown`."""
    head = text.lstrip()
    if (head[:1] == "{" or _JSON_LIST.match(head)) and not _NOT_JSON.match(head):
        return "json"
    if columns_of(text) is not None:
        return "csv"
    if is_gherkin(text):
        return "gherkin"
    return "yaml" if not front_matter and _is_yaml(text) else "markdown"


def _is_yaml(text: str) -> bool:
    """Tell whether a text is a mapping or a list of mappings. Lines that look like headings must be comments between keys."""
    lines = [line for line in text.split("\n", 400)[:400] if line.strip()]
    rows = [line for line in lines if not line.lstrip().startswith("#") and line.strip() not in ("---", "...")]
    if not rows or not (_YAML_KEY.match(rows[0]) and not _ID_LINE.match(rows[0])) or any(map(_BOX_LINE.match, rows)):
        return False
    others = sum(not row.startswith((" ", "\t", "- ")) and not _YAML_KEY.match(row) for row in rows)
    headings = [found[1] for line in lines if (found := _HEADING.match(line))]
    if not headings:
        return others < 0.15 * len(rows)
    return not others and _are_records(rows) and not any(map(ids.lead, headings))


def _are_records(rows: list[str]) -> bool:
    """Tell whether the lines are nested records that all begin with the same key, and not a list of fields."""
    bullets = [row for row in rows if row.startswith(("- ", "* "))]
    nested = any(row[0] == " " for row in rows) and not any(row.startswith(("- [", "* ")) for row in bullets)
    return nested and len({row.partition(":")[0] for row in bullets}) < 2


# CSV: exports of issue trackers

COLUMNS = {
    "id": "issue key|key|id|identifier|issue id|ticket|number|#|issue number|work item id",
    "title": "summary|title|name|subject|issue|task|story|user story",
    "body": "description|body|details|notes|content|acceptance criteria",
    "status": "status|state|status category|column",
    "priority": "priority|severity|importance",
    "chunk": "sprint|milestone|cycle|cycle name|project milestone|fix version/s|fix versions|iteration path|epic name|epic|phase|release",
    "parent": "parent|parent key|parent issue|epic link|parent id|parent summary",
    "kind": "issue type|type|work item type|tracker",
    "labels": "labels|label|tags|components",
    "depends": "blocked by|depends on|dependencies|inward issue link (blocks)|predecessors|blockers|is blocked by",
}
"""The column names for each meaning."""
_MEANINGS = {name: meaning for meaning, names in COLUMNS.items() for name in names.split("|")}


def columns_of(text: str) -> tuple[str, list[str]] | None:
    """Return the separator and the headers of a CSV table of tickets, or None if the text is something else."""
    first = text[:20_000].lstrip("\n").partition("\n")[0]
    for separator in (",", "\t", ";"):
        if first.count(separator) > 1:
            import csv  # most documents need no reader of CSV

            headers = next(csv.reader([first], delimiter=separator), [])
            known = {means(header) for header in headers}
            if "title" in known and len(known - {None}) > 2 and all(len(header) < 80 for header in headers):
                return separator, headers
    return None


def means(header: str) -> str | None:
    """Return what a column means, or None if it is not read."""
    return _MEANINGS.get(header.strip().lower())


# Gherkin

_KEYWORDS = ("feature", "rule", "background", "scenario", "outline", "examples", "given", "when", "then", "and")

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


def _keywords(name: str) -> tuple[str, ...]:
    at = _KEYWORDS.index(name) + 1
    rows = [row.split(";") for row in _TABLE.strip().splitlines()]
    return tuple(dict.fromkeys(word.strip() for row in rows for word in row[at].split("|")))


def _steps(name: str) -> str:
    """Return a pattern for the keywords of a step. A blank must follow them, except in scripts that use no blanks."""
    found = _keywords(name)
    spaced = tuple(word for word in found if word[0] < "\u2e80" and not word.endswith("'"))
    joined = tuple(word for word in found if word not in spaced)
    return rf"(?:{any_of(spaced)})(?=\s|$)" + (rf"|(?:{any_of(joined)})" if joined else "")


HEADERS = {name: frozenset(_keywords(name)) for name in _KEYWORDS[:6]}
HEADER = pattern(
    r"(" + any_of(tuple(word for name in _KEYWORDS[:6] for word in _keywords(name))) + r")[ \t]*[:：][ \t]*(.*)$"
)
"""The first line of a feature, rule, background, scenario, outline or table of examples."""

STEP = pattern(r"(?:" + "|".join(_steps(name) for name in _KEYWORDS[6:]) + r"|\*(?=\s))")
THEN = pattern(_steps("then"))

_SCENARIO_OR_STEP = pattern(
    rf"(?m)^[ \t]*(?:(?:{any_of(_keywords('background') + _keywords('scenario') + _keywords('outline'))})[ \t]*[:：]"
    rf"|(?:{'|'.join(map(_steps, ('given', 'when', 'then')))}))",
)


def is_gherkin(text: str) -> bool:
    """Tell whether a text is a feature file: its first line is a feature or a rule, and a scenario or step follows.

    Comments, tags and empty lines may come before the first line.
    """
    for raw in text.split("\n", 200)[:200]:
        line = raw.strip()
        if line and line[0] not in "#@":
            word = line.replace("：", ":").partition(":")[0].rstrip(" \t")
            opens = len(word) < len(line) and (word in HEADERS["feature"] or word in HEADERS["rule"])
            return opens and bool(_SCENARIO_OR_STEP.search(text))
    return False
