"""What a section is by the words of its heading: context of the work, or something that is left out by intention.

A heading that says neither may name work. To support another language, add its words here.
"""

from __future__ import annotations

import re
from functools import lru_cache

from santiago.contract.patterns import pattern
from santiago.contract.plan import Became
from santiago.planner import words

Fate = tuple[Became, str]
"""What becomes of a section, and why."""

CONTEXT: Fate = ("context", "")

_OF_DONE = pattern(
    r"\bdefinitions? of (?:done|ready)\b|\bdod\b|definition von fertig|critères de finition|definici[oó]n de (?:hecho|terminado)"
    r"|definição de (?:pronto|feito)|完了の定義|完成的?定[义義]|완료의? 정의",
    re.IGNORECASE,
)
_BEYOND = pattern(r"(?:\W|\d)*out[ -]of[ -]scope\b(?!.*\bin[ -]scope\b)")
_NOT_FUNCTIONAL = pattern(
    r"\b(?:non[- ]?func|non[- ]?fonct|nicht[- ]?funk|no[- ]func|não[- ]func|non[- ]funz|niet[- ]?func|icke[- ]?funk|niefunk)|нефункц|非功能|非機能|비기능"
)
_CONTEXT = words.spaced("""
overview introduction intro background context summary abstract preface purpose mission vision motivation rationale why about tldr tl;dr
scope problem problems opportunity opportunities existing baseline findings observations insights history evolution
goal goals objective objectives aim aims outcome outcomes okr okrs hypothesis hypotheses benefits success metric metrics kpi kpis measure measures measurement measurements
non-goals non-functional nonfunctional nfr nfrs performance scalability reliability availability accessibility a11y usability localization i18n quality
security privacy compliance legal gdpr safety observability monitoring logging telemetry analytics threat threats auditing
architecture architectural design designs diagram diagrams component components stack infrastructure technology technologies tech technical platform platforms environment environments hosting
structure structures layout layouts directory directories folder folders codebase repository repo files
database schema schemas entity entities model models type types interface interfaces contract contracts api apis endpoint endpoints protocol protocols format formats storage state
ui ux wireframe wireframes mockup mockups mock-ups branding typography palette theme themes breakpoints tokens accessibility responsive
audience persona personas stakeholder stakeholders actor actors roles market competitor competitors competition competitive landscape alternative alternatives comparison research
journey journeys flow flows workflow workflows scenario scenarios case cases narrative lifecycle principle principles philosophy values algorithm algorithms logic
constraint constraints limitation limitations assumption assumptions dependency dependencies prerequisite prerequisites pre-requisites risk risks mitigation mitigations trade-off trade-offs tradeoffs considerations consideration challenges concerns gotchas pitfalls caveats warnings handling issues invariants
timeline timelines schedule deadline deadlines estimate estimates estimation estimated effort budget cost costs pricing resources resource team teams ownership owner owners responsibilities raci governance communication monetization business
testing test tests qa verification validation acceptance criteria evaluation benchmark benchmarks coverage
deployment release releases rollout launch migration rollback operations maintenance support go-to-market marketing distribution
setup set-up installation configuration usage commands command conventions convention standards standard guidelines guideline guidance instructions instruction rules rule practices practice style naming policies policy patterns pattern tooling tools tool workflow
glossary terms terminology definitions acronyms abbreviations reference references links sources reading bibliography appendix appendices annex attachments related faq faqs documents
question questions clarification clarifications decision decisions adr adrs discussion feedback note notes remarks comments hints tips example examples sample samples snippet snippets legend key status metadata version versions changelog log revision revisions approvals approval sign-off signoff review reviewers author authors contact contacts credits license licence acknowledgements acknowledgments contents toc index
planspec strategy strategies approach methodology analysis traceability matrix mapping conclusion recommendations recommendation impact information info parallelization parallel opportunities order
présentation contexte objectif objectifs sécurité risque risques contrainte contraintes glossaire hypothèses calendrier annexe annexes indicateurs conception données enjeux problématique résumé références métriques atténuations jalons équipe tests hypothèse performances
contexto introducción introdução objetivo objetivos visión visão resumen resumo arquitectura arquitetura seguridad segurança riesgos riscos restricciones restrições glosario glossário supuestos premissas cronograma anexo anexos métricas indicadores diseño datos dados problema justificación justificativa rendimiento desempenho referencias referências pruebas testes dependencias dependências
einleitung überblick übersicht hintergrund kontext ziel ziele zielgruppe zweck architektur sicherheit risiken randbedingungen annahmen glossar zeitplan anhang kennzahlen entwurf daten ausgangslage problemstellung zusammenfassung technik hinweise abhängigkeiten
introduzione panoramica obiettivi contesto architettura sicurezza rischi vincoli glossario inleiding doel doelen achtergrond architectuur beveiliging bakgrund mål syfte arkitektur säkerhet wprowadzenie cele cel architektura bezpieczeństwo ryzyka słownik amaç hedefler mimari güvenlik tujuan arsitektur keamanan
обзор введение контекст цель цели архитектура безопасность риски риск метрики глоссарий ограничения допущения приложение приложения тестирование производительность описание стек структура проблема зависимости
""")
"""Words for what surrounds the work."""
_BESIDE = words.spaced("""
priority priorities item items domain-specific this that medium low considered frame outstanding resolved classification primary secondary enables last updated reminders dates summary
a an and the of for to in on with by from or our this that these its it's is are what how who when where we at as vs via per
product project system application app software solution service user users customer customers target key main core high-level high level low-level current desired proposed future-proof overall general other additional important initial final
functional requirement requirements technical business document data information file file error errors edge value proposition statement plan plans plan's list table section details detail description specification specifications spec specs
open known frequently asked change further getting started quick start quickstart start development developer dev build run local work works process management control executive scope criteria exit entry external internal third-party
success common visual look feel color colors colour colours font fonts code source naming non state end-to-end unit integration e2e manual automated mvp v1 v2 phase execution dependency implementation table tables field fields input inputs output outputs request response environment variable variables space model feature
de des du la le les et d'ensemble vue non fonctionnelles fonctionnel techniques technique y e do da dos das no não del los las técnica técnico técnicas sistema producto produto usuarios usuários usuario usuário und der die das des für produkt projekt nutzer и для проекта проект технический технические dan
""")
"""Words that may stand beside them in a heading."""
_SIGNS = pattern(
    r"概述|概要|背景|目标|目的|目標|愿景|架构|架構|設計|设计|技术栈|技術|数据|データ|安全|セキュリティ|性能|非功能|非機能|風險|风险|リスク|指标|指標|术语|用語|附录|付録|参考|备注|備考|约束|制約|前提|假设|用户画像|流程|排期|スケジュール|测试|テスト|部署|说明|說明|原则|現状|现状|问题|はじめに|ペルソナ|環境|环境|品質|执行方式"
    r"|개요|배경|목표|목적|비전|아키텍처|설계|기술|데이터|보안|성능|비기능|위험|지표|용어|부록|참고|제약|가정|일정|테스트|배포|구조|원칙|현황|문제|세부|사용자|역할|상태",
)
_WORKS = pattern(
    r"(?<!非)(?:功能|機能)(?!要件以外)|需求|要件|任务|任務|タスク|(?<!비)기능|요구|작업|故事|ストーリー|스토리"
)
_AND = pattern(r"\s*(?:[:：(\[—–/,&+]|\band\b|\bund\b|\bet\b|\by\b|\be\b)\s*")
_COLON = pattern(r"\s*[:：(（—–]\s*")
_ABOUT_ALL = frozenset({"criteria", "success", "gates", "verify", "files"})
"""Concepts whose sections tell how the whole is judged, or where it stands."""
_EXCLUDED = words.EXCLUDED_SECTIONS
_WORD = pattern(r"[^\W_]+(?:[-'’;][^\W_]+)*")


LEFT_OUT = frozenset({"left out of the plan", "left out", "not planned"})
"""Headings of a section in which an author, or an agent that drafts, names what is not to be planned."""


@lru_cache(maxsize=4096)
def fate(heading: str) -> Fate | None:
    """Return what a section is by its heading; None if the heading may name work."""
    if _OF_DONE.search(heading[:300]):
        return "left_out", "a definition of done"
    if _BEYOND.match(words.normal(heading)[:300]):
        return "left_out", "out of scope"
    if words.matches(heading, words.EXCLUDED_SECTIONS):
        with_others = any(_is_context(part) for part in _AND.split(words.normal(heading)) if part not in _EXCLUDED)
        return CONTEXT if with_others else ("left_out", "out of scope")
    if words.normal(heading) in LEFT_OUT:
        return "left_out", "named as left out"
    if words.matches(heading, words.DONE_SECTIONS):
        return "left_out", "done"
    label = words.normal(heading)
    if _NOT_FUNCTIONAL.search(label):
        return CONTEXT
    if label in words.NEVER_UNIT_SECTIONS or words.concept(heading) in _ABOUT_ALL:
        return CONTEXT
    return CONTEXT if _is_context(label) or _is_context(_COLON.split(label, maxsplit=1)[0]) else None


def _is_context(label: str) -> bool:
    """Tell whether all words of a label name what surrounds the work, or may stand beside such a word."""
    if not label.isascii() and _SIGNS.search(label):
        return not _WORKS.search(label)
    found = _WORD.findall(label[:120])
    said = any(word in _CONTEXT for word in found)
    return said and all(word in _CONTEXT or word in _BESIDE or word.isdigit() or _is_joined(word) for word in found)


def _is_joined(word: str) -> bool:
    """Tell whether a word is joined of such words: `project-type`."""
    return "-" in word and all(part in _CONTEXT or part in _BESIDE for part in word.split("-"))
