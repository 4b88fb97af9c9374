"""The words for the parts of a document, in many languages, and what a heading says of its section. To support another
language, add its words here.

Add a word in lower case under its concept. Matching ignores case, emphasis, a leading number or emoji, and a colon.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from santiago.contract.lazy_regex import pattern
from santiago.contract.plan import Became


def split(words: str) -> tuple[str, ...]:
    """Return the words of a table. Bars and line ends separate them."""
    return tuple(word.strip() for line in words.strip().splitlines() for word in line.split("|") if word.strip())


def table(words: str) -> frozenset[str]:
    """Return the words of a table, with and without accents: some people type Latin letters without them."""
    return frozenset(each for word in split(words) for each in (word, without_accents(word)))


def without_accents(word: str) -> str:
    bare = unicodedata.normalize("NFD", word.replace("đ", "d")) if max(word) < "\u1f00" else word
    return "".join(char for char in bare if not unicodedata.combining(char))


def any_of(words: Iterable[str]) -> str:
    """Return a pattern for any of these words. Longer words come first, so that `task` does not hide `task list`."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def spaced(names: str) -> frozenset[str]:
    """Return the names of a table in which blanks separate them."""
    return table("|".join(names.split()))


_TABLES = {
    "criteria": """
acceptance criteria | acceptance criterion | acceptance | acceptance scenarios | acceptance tests | criteria | ac | acs
criteria of acceptance | acceptance conditions | conditions of satisfaction | conditions of acceptance | satisfaction criteria
done when | done criteria | completion criteria | definition of success | expected behavior | expected behaviour | requirements and acceptance
testable criteria | verification criteria | success scenarios | test scenarios | given/when/then | acceptance criteria (ears)
critères d'acceptation | critères d’acceptation | criteres d'acceptation | critère d'acceptation
criterios de aceptación | criterios de aceptacion | criterio de aceptación | criterios
critérios de aceitação | critérios de aceite | criterios de aceite | critério de aceite
akzeptanzkriterien | abnahmekriterien | akzeptanzkriterium | fertig, wenn
criteri di accettazione | criteri di accettabilità
acceptatiecriteria | acceptatie criteria
acceptanskriterier | godkännandekriterier | akseptansekriterier | acceptkriterier | hyväksymiskriteerit | hyväksyntäkriteerit
kryteria akceptacji | kritéria přijetí | akceptační kritéria | akceptačné kritériá | kriteriji prihvaćanja
критерии приемки | критерии приёмки | критерии готовности | критерії приймання | критерії прийняття
kabul kriterleri | kriteria penerimaan | kriteria penerimaan (acceptance criteria) | tiêu chí chấp nhận
受入基準 | 受け入れ基準 | 受入条件 | 受け入れ条件 | 完了条件 | 验收标准 | 验收条件 | 如何验收 | 验收方式 | 验收要点 | 验收 | 驗收標準 | 驗收條件 | 如何驗收 | 驗收 | 接受标准 | 接受標準
acceptance scenario | scénarios d'acceptation | escenarios de aceptación | cenários de aceitação | akzeptanzszenarien | acceptatiescenario's | scenari di accettazione
сценарии приемки | 受け入れシナリオ | 受入シナリオ | 验收场景 | 驗收情境 | 驗收場景 | 수용 시나리오 | 인수 시나리오
수용 기준 | 수락 기준 | 인수 기준 | 인수 조건 | 완료 조건 | 승인 기준 | 합격 기준
معايير القبول | स्वीकृति मानदंड | קריטריוני קבלה
""",
    # These are a unit's criteria if nothing is called acceptance criteria. Elsewhere they are metrics of the product.
    "success": """
success criteria | success criterion | critères de succès | critères de réussite | criterios de éxito | critérios de sucesso | erfolgskriterien | criteri di successo
succescriteria | framgångskriterier | критерии успеха | kryteria sukcesu | başarı kriterleri | kriteria keberhasilan | 成功基準 | 成功标准 | 成功標準 | 성공 기준
""",
    "gates": "quality gates | quality gate | release gates | go-live gates",
    "never": """
definition of done | dod | definition of ready | success metrics | metrics | kpis | key metrics | measurable outcomes | sign-off | sign off | signoff | approval | approvals
checklist for review | review checklist | out of scope | non-goals | definition von fertig | critères de finition | definición de hecho | definición de terminado | 完了の定義 | 完成的定义 | 완료의 정의
""",
    "depends": """
depends on | depends | depend on | dependencies | dependency | dependent on | blocked by | blocked on | prerequisites | prerequisite | requires
preconditions | precondition | needs | after | predecessors | deps | must follow | runs after | waits for | blocked-by | depends-on | depends_on | dependson | blockedby
dépend de | dépendances | dépendance | prérequis | depende de | dependencias | dependencia | dependências | dependência | pré-requisitos | requisitos previos
abhängig von | abhängigkeiten | abhängigkeit | hängt ab von | voraussetzungen | voraussetzung | beroende | beroende av | beroenden | kräver | avhengig av
afhankelijk van | afhankelijkheden | afhankelijkheid | dipende da | dipendenze | dipendenza | zależy od | zależności | závisí na | závislosti
зависит от | зависимости | зависимость | залежить від | залежності | bağımlılıklar | bağımlılık | bergantung pada | dependensi | ketergantungan | phụ thuộc
依存 | 依存関係 | 依存先 | 前提 | 依赖 | 依赖关系 | 依赖于 | 前置依赖 | 前置条件 | 依賴 | 依賴關係 | 의존성 | 의존 | 의존 관계 | 선행 | 선행 작업 | 선행 조건
""",
    "files": """
files | file | file list | files to modify | files to change | files to create | files to create/modify | files to modify/create | key files | affected files | relevant files
modified files | files affected | files touched | files changed | target files | key files expected to be modified | files likely touched | file path | file paths | targets
fichiers | archivos | arquivos | ficheiros | dateien | betroffene dateien | filer | bestanden | file coinvolti | pliki | файлы | файли | dosyalar | berkas
ファイル | 対象ファイル | 変更ファイル | 文件 | 相关文件 | 涉及文件 | 檔案 | 파일 | 대상 파일
new files
""",
    # These announce files inside a list of files. Elsewhere they may announce anything.
    "touched": """
create | modify | update | edit | test | tests | location
""",
    "verify": """
verify | verification | verification command | verification commands | verify command | verify with | test command | test commands | validation command | validation commands | validation
lint command | build command | typecheck command | type check command | check command | checks | lint | build | typecheck | how to verify | verify by | test plan | final verification | verify_commands
vérification | verificación | verificação | überprüfung | prüfung | verifiering | verificatie | verifica | weryfikacja | проверка | перевірка | doğrulama | verifikasi | 検証 | 验证 | 驗證 | 검증
""",
    "priority": """
priority | prio | moscow | priorité | prioridad | prioridade | priorität | prioritet | prioriteit | priorità | priorytet | приоритет | пріоритет | öncelik | prioritas | 優先度 | 优先级 | 優先級 | 우선순위
""",
    "role": "role | owner role | worker | assigned role | rôle | rol | rolle | roll | ruolo | роль | 役割 | 角色 | 역할",
    "profile": "profile | agent profile",
    # These commands are the work itself, never a check.
    "execute": "execute | execute command | execute commands",
    "id": "id | task id | story id | requirement id | feature id | issue id | ticket id | task_id | story_id | requirement_id | feature_id | issue_id | ticket_id | ticket | identifier | key",
    "title": "title | titre | título | titel | titolo | tytuł | název | название | заголовок | назва | başlık | judul | tiêu đề | タイトル | 标题 | 標題 | 제목",
    "status": "status | state | statut | estado | stato | статус | durum | 状態 | 状态 | 狀態 | 상태",
    "covers": """
requirements | requirement | requirements covered | covers | validates | implements | satisfies | traceability | traces to | fr coverage | frs covered | maps to | 要件 | 需求 | 요구사항 | exigences | requisitos | anforderungen | требования | требование | вимоги | krav | vereisten | requisiti | wymagania | požadavky | gereksinimler | kebutuhan | persyaratan | yêu cầu
""",
    "chunk": "chunk | milestone | epic | phase | sprint | wave | iteration | release",
    "description": """
description | user story | story | story overview | overview | story概览 | story 概览 | 概览 | 总览 | 概述 | 세부 | 세부사항 | 세부 사항 | 세부 내용 | 개요 | context | details | détails | detalles | detalhes | einzelheiten | dettagli | detaljer | детали | деталі | szczegóły | 詳細 | 细节 | 詳情 | 상세 | summary | goal | why | do | objective | as a user | statement | what | scope | background | notes | note | rationale | purpose
beschreibung | mô tả | descripción | descrição | descrizione | beskrivning | omschrijving | opis | описание | опис | açıklama | deskripsi | 説明 | 概要 | 目的 | 描述 | 说明 | 功能描述 | 需求描述 | 機能説明 | 用户故事 | 使用者故事 | 用戶故事 | 설명 | 목표 | 사용자 스토리 | ユーザーストーリー
""",
    # What is to be done. Its bullets are the criteria if the unit has no others.
    "work": """
implementation | implementation steps | implementation plan | implementation guide | implementation guidance | implementation details | technical requirements | technical approach | approach
steps | tasks | subtasks | sub-tasks | tasks / subtasks | deliverables | changes | required changes | what to do | action items | action | actions | scope of work
étapes | tâches | livrables | pasos | tareas | entregables | passos | tarefas | entregáveis | schritte | aufgaben | umsetzung | stappen | taken | steg | uppgifter | шаги | задачи | kroki | zadania
business rules | business rule | rules | règles métier | règles de gestion | reglas de negocio | regras de negócio | geschäftsregeln | regole di business | reguły biznesowe | бизнес-правила | quy tắc nghiệp vụ | aturan bisnis | 业务规则 | 業務規則 | 業務ルール | ビジネスルール | 비즈니스 규칙
手順 | タスク | 成果物 | 実装 | 实现 | 实施 | 步骤 | 任务 | 交付物 | 步驟 | 任務 | 작업 | 구현 | 단계별 작업
""",
    "other": """
independent test | read first | edge cases | assumptions | risks | open questions | technical notes | implementation notes | dev notes | testing | references | notes | leverage | prompt
technical details | technical considerations | constraints | examples | example | rollback | estimate | estimated effort | effort | complexity
change log | dev agent record | tests | outputs | inputs | output | input | trigger | triggers | actor | actors | data | filter | filters | non-functional requirements | nfr
""",
}
"""The words for each concept. A word that two concepts have belongs to the first."""

EXCLUDED_SECTIONS = table("""
out of scope | out-of-scope | not in scope | non-goals | non goals | nongoals | non-goals / out of scope | non-requirements | explicitly out of scope | scope boundaries | won't have | won't do | wont have | will not have | excluded | exclusions
future | future work | future considerations | future enhancements | future improvements | future features | future ideas | future phases | future scope | future versions | future roadmap | future requirements | deferred | deferred items | what's deferred | what's not included | not included | follow-ups | follow-up tickets | later | for later | ideas for later | maybe later | post-mvp | post mvp | post-launch | post-release | phase 2+ | backlog (future) | nice to have (future) | icebox | parking lot | someday | v2 ideas | stretch goals | wishlist | not now
obsolete | rejected | rejected alternatives | removed | cancelled | canceled | superseded | archived | won't fix
hors périmètre | hors scope | hors champ | fuera de alcance | fuera del alcance | fora de escopo | fora do escopo | nicht im umfang | nicht-ziele | außerhalb des umfangs | buiten scope | utanför scope | fuori ambito | poza zakresem | вне рамок | вне области | не входит в объем | kapsam dışı | di luar lingkup | 対象外 | スコープ外 | 範囲外 | 不在范围内 | 超出范围 | 范围外 | 非目标 | 非目標 | não objetivos | não-objetivos | no objetivos | no-objetivos | non-objectifs | не цели | 범위 외 | 범위 밖 | 제외 | 비목표 | 향후 | 今後 | 将来
évolutions futures | trabajo futuro | trabalhos futuros | zukünftige erweiterungen | framtida | будущее | в будущем | gelecek
""")

NEVER_UNIT_SECTIONS = table("""
success criteria | success metrics | success measures | metrics | kpis | key performance indicators | definition of done | definition of ready | dod | sign-off | sign off | signoff | approvals | approval | review checklist | checklist for review | quality checklist | validation checklist | release checklist | specification quality checklist | release criteria | exit criteria | launch criteria | go-live criteria | launch checklist | pre-launch checklist | deployment checklist | testing checklist | compliance checklist | pull request checklist
format | format: | path conventions | notes | notes for implementation | dependencies & execution order | dependencies and execution order | dependencies | parallel opportunities | parallel example | parallel execution examples | implementation strategy | execution order | legend | status legend | task format | table of contents | contents | toc | glossary | references | open questions | questions | risks | risks and mitigations | assumptions | decisions | decision log | architecture decisions | changelog | change log | revision history | document history | version history | review & acceptance checklist | execution status | user scenarios | edge cases | task dependencies | dependency graph | recommendations | resources | appendix | related documents | related tickets | related issues | related work | key entities | goals | objectives | business goals | user goals | personas | user personas | target users | constraints | technical stack | tech stack
dépendances | dependencias | dependências | abhängigkeiten | dipendenze | afhankelijkheden | beroenden | zależności | зависимости | залежності | 依赖 | 依赖关系 | 技术依赖 | 任务依赖 | 依賴關係 | 依存関係 | 의존성 | 의존 관계
critères de succès | métricas de éxito | erfolgskriterien | 成功指標 | 成功指标 | 성공 지표 | 用語集 | 承認 | 术语表 | 词汇表 | 용어집 | glossar | glossaire | glosario | index | inhaltsverzeichnis | sommaire | 目次 | 目录 | 목차
""")

GROUP_WORDS = split("""
phase | epic | milestone | sprint | wave | stage | iteration | release | week | étape | etapa | fase | этап | фаза | етап | meilenstein | aşama | tahap | フェーズ | 段階 | 阶段 | 階段 | 里程碑 | 단계 | 마일스톤 | エピック | 史诗 | 에픽 | theme | module | track | workstream | bloc | lot
""")

ID_COLUMNS = table("""
id | # | no | no. | number | nr | nr. | n° | № | req id | req. id | requirement id | ref | key | code | story id | task id | us | identifier | 编号 | 編號 | 序号 | 番号 | 번호 | ид
""")

NAME_COLUMNS = table("""
requirement | requirements | feature | features | story | user story | title | description | name | task | functionality | function | capability | statement | use case | item | deliverable | work item | action item | tarea | tarefa | aufgabe | tâche | задача | 任务 | タスク | 작업
功能 | 功能点 | 功能描述 | 需求 | 需求名称 | 描述 | 需求描述 | 機能 | 要件 | 要件名 | 요구 | 요구사항 | 요구사항명 | 기능 | 기능명 | fonctionnalité | exigence | description fonctionnelle | requisito | descripción | anforderung | beschreibung | требование | функция | kebutuhan | deskripsi | fitur
""")

OTHER_COLUMNS = table("""
risk | risks | impact | probability | likelihood | mitigation | metric | metrics | kpi | target | goal | term | definition | decision | test case | test | endpoint | method
type | default | version | date | author | technology | tool | cost | service | persona | question | assumption | use case
risiko | riesgo | risco | risque | риск | 风险 | 風險 | リスク | 위험 | 指标 | 指標 | 术语 | 術語 | 用語 | 용어
""")
"""Headers of tables whose rows are never units."""

NONE_WORDS = table(
    "none | n/a | na | - | – | — | nothing | no | nil | null | aucune | aucun | ninguna | ninguno | nenhuma | nenhum | keine | inga | ingen | geen | nessuna | brak | нет | немає | yok | tidak ada | なし | 無し | 无 | 無 | 没有 | 없음 | all done | can start immediately | no dependencies | independent | tbd | -- | []"
)

_NO_ROLE = (
    r"(?!(?:an? |the |any |our |some |una? |um |eine? |ein )?(?:result|consequence|rule|whole|example|reminder|note|fallback|default|matter|side|first"
    r"|starting|general|part|alternativ|ejemplo|exemplo|resultado|parte|mínimo|siempre|erstes|nächstes|ergebnis|beispiel|teil|voorbeeld|soon|long|well|is\b))"
)
_ROLE_FIRST = pattern(
    rf"(?i)as {_NO_ROLE}(?:(?:an?|the|any|our|some) |\w+(?:[ /-]\w+){{0,3}},? i )|en tant qu(?:e |['’])|(?:(?:eu|yo),? )?(?:c[oó]mo|als|som|come|jako) {_NO_ROLE}"
    r"|(?:как|як) |sebagai |bir .{2,40} olarak|là (?:một )?"
    r"|作为|作為|身为|身為|.{1,30}として|.{1,30}(?:으로서|로서)|بصفتي|ك[^\s]+[،,]",
)
_WISH_FIRST = pattern(
    r"(?i)i (?:want|need|would like|wish)\b|i['’]d like\b|je (?:veux|souhaite|voudrais)\b|(?:yo )?(?:quiero|necesito|deseo)\b|(?:eu )?(?:quero|preciso|desejo)\b"
    r"|ich (?:möchte|will|brauche)\b|ik wil\b|jag vill\b|voglio\b|vorrei\b|chcę\b|я хочу\b|saya ingin\b|我(?:想|要|希望|需要)",
)
_WISH = pattern(
    r"(?i)\bi(?:['’]d| would)?\b.{0,80}?\b(?:want|need|can|could|should|must|like|wish|expect|prefer|able)\b|\bwe want\b"
    r"|\b(?:je|j['’]|nous)\s?(?:veux|voulons|souhaite|souhaitons|peux|dois|aimerais|ai besoin|désire|voudrais)"
    r"|\b(?:quiero|queremos|deseo|necesito|puedo|quero|queremos|desejo|gostaria|preciso|posso|voglio|vorrei|posso|desidero)\b"
    r"|\b(?:möchte|will|kann|brauche|muss|wil|wens|moet|vill|vil|ønsker|haluan|chcę|chcemy|chci|potrzebuję|mogę)\b"
    r"|\b(?:хочу|хотим|могу|мне нужно|потрібно|можу|istiyorum|istiyoruz|ingin|dapat|muốn|cần)\b"
    r"|我?(?:想|希望|要|需要|可以|能)|たい|ほしい|欲しい|できる|싶|원한다|원합니다|수 있|أريد|أرغب",
)

WISH_COLUMN = pattern(
    r"(?i)(?:i |we )?(?:want|need|would like)|je (?:veux|souhaite|peux)|j['’]ai besoin|(?:yo )?(?:quiero|necesito|deseo)"
    r"|(?:eu )?(?:quero|preciso|desejo)|ich möchte|wil ik|voglio|хочу|saya ingin|我想|我要|我希望|想要|したい|원하는",
)
"""In a table of user stories, the header of the column that says what the user wants."""

FEATURES = pattern(
    r"(?i)\b(?:features?|requirements?|scope|roadmap|mvp|capabilit(?:y|ies)|functionality|deliverables|must[- ]haves?|what to build"
    r"|fonctionnalités|exigences|périmètre|funcionalidades|características|requisitos|alcance|escopo|funktionen|anforderungen|umfang"
    r"|funzionalità|requisiti|functionaliteiten|eisen|funktioner|krav|funkcje|wymagania|функции|функциональность|возможности"
    r"|требования|функціонал|вимоги|özellikler|gereksinimler|fitur|kebutuhan|ruang lingkup|tính năng|yêu cầu)\b"
    r"|機能|要件|スコープ|ロードマップ|功能|需求|範圍|范围|路线图|기능|요구|범위|로드맵",
)
"""Words in headings whose bullets come close to stories."""

GIVEN = pattern(
    r"(?i)^[*_\s]*(?:given|étant donn[ée]e?s?|etant donn[ée]e?s?|dado|dada|dados|dadas|dato|data|angenommen|gegeben(?: sei)?|givet|gegeven|zakładając|mając|дано|допустим|前提|假如|假设|假設|给定|조건|먼저|만일)\b[*_:,\s]*",
)
WHEN = pattern(
    r"(?i)^[*_\s]*(?:when|quand|lorsque|cuando|quando|wenn|när|als|wanneer|kiedy|jeśli|когда|если|коли|もし|当|當|만약|when/if)\b[*_:,\s]*",
)
THEN = pattern(
    r"(?i)^[*_\s]*(?:then|alors|entonces|então|allora|dann|så|dan|wtedy|тогда|то|тоді|ならば|那么|那麼|则|則|그러면|and|et|y|e|und|och|en|i|и|а|かつ|而且|并且|그리고|but|mais|pero|mas|aber|men|maar|ale|но)\b[*_:,\s]*",
)


def tells_story(text: str) -> bool:
    """Tell whether a text is half a user story: a role without a wish (`As a user, I click`), or a wish without a role."""
    bare = _bare(text)
    found = _ROLE_FIRST.match(bare)
    if found is None:
        return bool(_WISH_FIRST.match(bare))
    return bool(re.match(r"[^.,，、]{0,40}[,，、]\s*\S+(?:\s+\S+){2}", bare[found.end() - 1 :]))


OUTCOME = pattern(
    r"(?i)\b(?:then|shall|alors|entonces|então|dann|allora|wtedy|dan|så|тогда|тоді)\b|那么|那麼|则|則|ならば|그러면"
)
"""Words that say what follows, anywhere in a criterion."""


def opens_story(text: str) -> bool:
    """Tell whether a line begins like a user story: `As a user`."""
    return bool(_ROLE_FIRST.match(_bare(text)))


def is_story(text: str) -> bool:
    """Tell whether a text is a user story: a role and what it wants."""
    bare = _bare(text)
    found = _ROLE_FIRST.match(bare)
    return bool(found and _WISH.search(bare, found.end() - 3, found.end() + 200))


def _bare(text: str) -> str:
    return text[:300].replace("*", "").replace("_", " ").strip(" >\"“'„«")


def _concepts() -> dict[str, str]:
    found: dict[str, str] = {}
    for concept, table in _TABLES.items():
        for word in split(table):
            found.setdefault(word, concept)
    for word, concept in list(found.items()):
        found.setdefault(without_accents(word), concept)
    return found


UNIT_WORDS = {
    word: kind
    for kind, table in {
        "story": """
user story | story | technical story | enabler story | job story | user-story | userstory | histoire utilisateur | histoire
anwendergeschichte | nutzergeschichte | gebruikersverhaal | användarberättelse | storia utente | historyjka użytkownika | historyjka
пользовательская история | история пользователя | история | історія користувача | історія | kullanıcı hikayesi | cerita pengguna
câu chuyện người dùng | ストーリー | 用戶故事 | 故事 | historia de usuario | historia | história de usuário | história do usuário
récit utilisateur | ユーザーストーリー | 用户故事 | 使用者故事 | 사용자 스토리 | 스토리
""",
        "requirement": """
requirement | functional requirement | non-functional requirement | nonfunctional requirement | technical requirement
system requirement | user requirement | business requirement | product requirement | exigence fonctionnelle | requisito funcional
requisito no funcional | requisito não funcional | requerimiento funcional | requerimiento | funktionale anforderung | vereiste
wymaganie | požadavek | функциональное требование | gereksinim | kebutuhan | persyaratan | yêu cầu | 機能要件 | 功能需求 | 요건 | exigence
requisito | anforderung | krav | требование | вимога | 要件 | 要求 | 需求 | 요구사항 | 요구 사항
""",
        "task": """
task | sub-task | subtask | sub-ticket | sub-issue | tâche | tarea | tarefa | aufgabe | задача | завдання | タスク | 任务 | 任務 | 작업 | 태스크
iteration | issue | ticket | work item | work package
""",
        "step": """
step | schritt | étape | шаг | 步骤 | ステップ
""",
        "feature": """
feature | функция | fitur | özellik | tính năng | fonctionnalité | funcionalidad | funcionalidade | 機能 | 功能 | 기능
""",
    }.items()
    for word in split(table)
}
"""Words that make the number behind them the id of a unit, with the kind of unit."""
LABELS = _concepts()
VAGUE_COLUMNS = table(
    "description | name | title | statement | function | 描述 | descripción | beschreibung | deskripsi"
)
"""Headers that any table may have. Alone they do not make its rows requirements."""
STATE_COLUMNS = table(
    "status | state | owner | assignee | assigned to | progress | responsible | estado | statut | статус | 状态 | 状態 | 상태"
)
"""Headers of tables about progress or owners."""
SEVERITY_COLUMNS = table(
    "severity | sev | gravedad | gravidade | gravité | schweregrad | серьезность | 严重程度 | 重要度 | 심각도"
)
"""Headers of tables of bugs."""

STORY_SECTIONS = table(
    """user stories | stories | user story | epics | epics and stories | user stories & acceptance criteria | historias de usuario | histórias de usuário | histórias do usuário
        récits utilisateurs | histoires utilisateurs | user stories utilisateur | nutzergeschichten | gebruikersverhalen | användarberättelser | storie utente | пользовательские истории
        historyjki użytkowników | historyjki użytkownika | historie użytkownika | opowieści użytkowników | uživatelské příběhy | історії користувачів
        kullanıcı hikayeleri | cerita pengguna | ユーザーストーリー | 用户故事 | 使用者故事 | 用戶故事 | 사용자 스토리 | features | core features | requirements | functional requirements
        """
)
"""Headings above a list of stories or requirements. They are no units themselves."""

REQUIREMENT_SECTIONS = table(
    """requirements | functional requirements | non-functional requirements | nonfunctional requirements | product requirements | system requirements | user requirements
        core requirements | key requirements | business requirements | detailed requirements | feature requirements | mvp requirements | anforderungen | funktionale anforderungen
        nichtfunktionale anforderungen | exigences | exigences fonctionnelles | requisitos | requisitos funcionales | requisitos funcionais | requisitos no funcionales | requisiti | requisiti funzionali
        eisen | functionele eisen | krav | funktionella krav | wymagania | wymagania funkcjonalne | требования | функциональные требования | вимоги | 要件 | 機能要件 | 功能需求 | 需求 | 요구사항 | 기능 요구사항
        """
)
"""Headings whose numbered lines are all requirements."""
STEP_SECTIONS = table(
    """build steps | implementation steps | build order | build plan | implementation order | implementation plan | task list | tasks | action plan | development steps | development plan | work plan
        work breakdown | umsetzungsschritte | arbeitsschritte | étapes de réalisation | pasos de implementación | etapas de implementação | план работ | 実装手順 | 开发步骤 | 实施步骤 | 구현 순서 | 개발 순서
        """
)
"""Headings whose numbered lines are all steps of the work."""

_NUMBERED = pattern(r"[\W\d_]+(?=\w)")
NOTE = pattern(r"(?i)[*_]*(?:notes?|nb|n\.b\.|hinweis|nota|remarque|注意?|備考|备注|참고)[*_]*\s*[:：]")
_ENUMERATED = pattern(r"^\(?[a-zA-Z]\)\s+")
_SEPARATORS = pattern(r"\s*[:：(（\[—–]\s*|\s+-\s+|\s*/\s*|\s+&\s+|\s+and\s+")


DONE_SECTIONS = table(
    "completed | complete | done | finished | completed tasks | completed items | completed features | done tasks | recently completed | terminé | terminés | fait | completado | completadas | hecho | concluído | concluídos | feito | erledigt | abgeschlossen | klart | gereed | готово | выполнено | завершено | виконано | tamamlandı | selesai | 完了 | 完了済み | 已完成 | 完成 | 已实现 | 已實現 | 완료 | 완료됨"
)
"""Sections whose boxes are finished work."""
BACKLOG_SECTIONS = table("backlog | product backlog | task backlog | バックログ | 待办 | 待辦 | 백로그 | бэклог")
"""Sections that are the list itself, or hold what was put off if there are other lists."""
OPTIONAL_SECTIONS = table(
    "optional | nice to have | nice-to-have | nice to haves | could have | optional tasks | optionnel | opcional | facultatif | valfritt | optioneel | опционально | 任意 | 可选 | 可選 | 선택 | 선택 사항"
)


CHAPTERS = table("""
overview | introduction | executive summary | summary | purpose | background | context | problem | problem statement | vision | scope | goals | objectives
architecture | system architecture | technical architecture | tech stack | technology stack | timeline | schedule | roadmap | budget | team | risks | testing strategy | deployment | monitoring
概述 | 产品概述 | 产品介绍 | 项目概述 | 项目背景 | 背景 | 目标 | 产品目标 | 目标用户 | 用户画像 | 范围 | 总体架构 | 技术架构 | 里程碑 | 风险 | 附录 | 概要 | 背景と目的 | 対象ユーザー | 用語集 | 개요 | 배경 | 목표 | 대상 사용자
wprowadzenie | przegląd produktu | problem użytkownika | cele | zakres | introducción | visión general | introdução | visão geral | présentation | contexte | einleitung | überblick | введение | обзор | цели
product vision | user persona | persona | target user | target audience | use cases | appendix | conclusion | next steps | requirements | functional requirements | non-functional requirements | user stories | user personas | data model | api | security | performance | open questions | references | glossary
""")
"""Names of chapters. Such headings are no units, even if they are numbered."""


COMPANIONS = """
2 | why | what changes | impact | an OpenSpec proposal; tasks.md and specs/**/spec.md beside it hold the units
2 | technical context | constitution check | project structure | complexity tracking | an implementation plan of spec-kit; tasks.md beside it holds the tasks, spec.md the user stories
3 | architecture | components and interfaces | data models | error handling | testing strategy | correctness properties | high-level design | a design document; tasks.md or requirements.md beside it holds the units
3 | context | decision | consequences | a decision record; the PRD or task list that it belongs to holds the units
2 | core principles | governance | a constitution; a PRD, spec.md or tasks.md holds the units
3 | research | findings | alternatives considered | rationale | a research document; spec.md or tasks.md beside it holds the units
"""
"""Documents that accompany a plan: how many of these headings must be there, the headings, and what such a document is."""


@lru_cache(maxsize=4096)
def normal(text: str) -> str:
    """Return a label in lower case, without emphasis, leading numbers or emoji, and trailing punctuation."""
    # No label is longer. Many functions ask for this, so a heading of a megabyte would be slow.
    bare = text[:300].replace("*", "").replace("`", "").strip()
    if ")" in bare:
        bare = _ENUMERATED.sub("", bare)
    lead = _NUMBERED.match(bare)
    end = len(bare)
    while end and not bare[end - 1].isalnum():
        end -= 1
    return " ".join(bare[lead.end() if lead else 0 : end].split()).lower()


@lru_cache(maxsize=8192)
def concept(text: str) -> str | None:
    """Return the concept that a label stands for. If the label has brackets, the words before or inside them count."""
    label = normal(text)
    found = LABELS.get(label)
    if found is None and ("(" in label or "（" in label):
        before, _, inside = label.replace("（", "(").partition("(")
        found = LABELS.get(before.strip()) or LABELS.get(inside.strip(" )）"))
    return found


def matches(heading: str, table: frozenset[str]) -> bool:
    """Tell whether a heading, or a part of it before or after a bracket, colon or dash, is in the table."""
    return not table.isdisjoint(parts(heading))


@lru_cache(maxsize=4096)
def parts(heading: str) -> tuple[str, ...]:
    label = normal(heading)
    return (label, *(part.strip(" )）]") for part in _SEPARATORS.split(label)))


Fate = tuple[Became, str]
"""What becomes of a section, and why."""

CONTEXT: Fate = ("context", "")

OF_DONE = pattern(
    r"(?i)\bdefinitions? of (?:done|ready)\b|\bdod\b|definition von fertig|critères de finition|definici[oó]n de (?:hecho|terminado)"
    r"|definição de (?:pronto|feito)|完了の定義|完成的?定[义義]|완료의? 정의",
)
_BEYOND = pattern(r"(?!.*\bin[ -]scope\b).*\bout[ -]of[ -]scope\b")
_NOT_FUNCTIONAL = pattern(
    r"\b(?:non[- ]?func|non[- ]?fonct|nicht[- ]?funk|no[- ]func|não[- ]func|non[- ]funz|niet[- ]?func|icke[- ]?funk|niefunk)|нефункц|非功能|非機能|비기능"
)
_CONTEXT = spaced("""
overview introduction intro background context summary abstract preface purpose mission vision motivation rationale why about tldr tl;dr
scope problem problems opportunity opportunities existing baseline findings observations insights history evolution
goal goals objective objectives aim aims outcome outcomes okr okrs hypothesis hypotheses benefits success metric metrics kpi kpis measure measures measurement measurements
non-goals non-functional nonfunctional nfr nfrs performance scalability reliability availability accessibility a11y usability localization i18n quality
security privacy compliance legal gdpr safety observability monitoring logging telemetry analytics threat threats auditing
architecture architectural design designs diagram diagrams component components stack infrastructure technology technologies tech technical platform platforms environment environments hosting
structure structures layout layouts directory directories folder folders codebase repository repo files
database schema schemas entity entities model models type types interface interfaces contract contracts api apis endpoint endpoints protocol protocols format formats storage state states
ui ux wireframe wireframes mockup mockups mock-ups branding typography palette theme themes breakpoints tokens accessibility responsive
audience persona personas stakeholder stakeholders actor actors roles market competitor competitors competition competitive landscape alternative alternatives comparison research
journey journeys flow flows workflow workflows scenario scenarios case cases narrative lifecycle principle principles philosophy values proposition propositions guardrail guardrails algorithm algorithms logic
constraint constraints limitation limitations assumption assumptions dependency dependencies prerequisite prerequisites pre-requisites risk risks mitigation mitigations trade-off trade-offs tradeoffs considerations consideration challenges concerns gotchas pitfalls caveats warnings handling issues invariants
timeline timelines schedule deadline deadlines estimate estimates estimation estimated effort budget cost costs pricing resources resource team teams ownership owner owners responsibilities raci governance communication monetization business
testing test tests qa verification validation acceptance criteria evaluation benchmark benchmarks coverage
deployment release releases rollout launch migration rollback operations maintenance support go-to-market marketing distribution
setup set-up installation configuration usage commands command conventions convention standards standard guidelines guideline guidance instructions instruction rules rule practices practice style naming policies policy patterns pattern tooling tools tool workflow
glossary terms terminology definitions acronyms abbreviations reference references links sources reading bibliography appendix appendices annex attachments related faq faqs documents
question questions clarification clarifications decision decisions adr adrs discussion feedback note notes remarks comments hints tips example examples sample samples snippet snippets legend key status metadata version versions changelog log revision revisions approvals approval sign-off signoff review reviewers author authors contact contacts credits license licence acknowledgements acknowledgments contents toc index
planspec strategy strategies approach methodology analysis traceability matrix mapping conclusion direction recommendations recommendation impact information info parallelization parallel opportunities order
présentation d'ensemble contexte objectif objectifs sécurité risque risques contrainte contraintes glossaire hypothèses calendrier annexe annexes indicateurs conception données enjeux problématique résumé références métriques atténuations jalons équipe tests hypothèse performances but portée périmètre public acteur acteurs utilisateurs principe principes flux scénarios rôles règles critères acceptation réussite succès mesures vérification validation qualité disponibilité accessibilité maintenabilité évolutivité conformité confidentialité déploiement exploitation supervision environnement environnements infrastructure technologies modèle modèles schéma schémas interface interfaces délais planning budget coûts ressources limites notes remarques recommandations conclusion motivation bibliographie définitions historique versions questions décisions exemples considérations
contexto introducción introdução objetivo objetivos visión visão resumen resumo arquitectura arquitetura seguridad segurança riesgos riscos restricciones restrições glosario glossário supuestos premissas cronograma anexo anexos métricas indicadores diseño datos dados problema justificación justificativa rendimiento desempenho referencias referências pruebas testes dependencias dependências propósito alcance escopo actor actores atores interesados interessados principios princípios flujo flujos fluxo fluxos escenarios cenários roles papéis reglas regras criterios critérios aceptación aceitação éxito sucesso medición medição verificación verificação validación validação calidad qualidade disponibilidad disponibilidade usabilidad usabilidade accesibilidad acessibilidade mantenibilidad manutenibilidade escalabilidad escalabilidade cumplimiento conformidade privacidad privacidade despliegue implantação mantenimiento manutenção operación operação monitoreo monitoramento entorno entornos ambiente ambientes infraestructura infraestrutura tecnologías tecnologias modelo modelos esquema interfaces plazos prazos presupuesto orçamento costos costes custos recursos suposiciones suposições limitaciones limitações mitigación mitigação notas observaciones observações recomendaciones recomendações conclusiones conclusões conclusión conclusão antecedentes motivación motivação bibliografía bibliografia definiciones definições historial histórico versiones versões preguntas perguntas decisiones decisões ejemplos exemplos consideraciones considerações questões
einführung zielsetzung ausgangssituation ist-zustand soll-zustand einleitung überblick übersicht hintergrund kontext ziel ziele zielgruppe zweck architektur sicherheit risiken randbedingungen annahmen glossar zeitplan anhang kennzahlen entwurf daten ausgangslage problemstellung zusammenfassung technik hinweise abhängigkeiten produkteinsatz rahmenbedingung schnittstelle schnittstellen akteure beteiligte prinzipien grundsätze abläufe szenarien rollen regeln kriterien abnahme abnahmekriterien erfolg erfolgskriterien messung überprüfung validierung qualität qualitätsanforderungen verfügbarkeit benutzbarkeit barrierefreiheit wartbarkeit skalierbarkeit datenschutz bereitstellung wartung betrieb überwachung umgebung infrastruktur technologien modell modelle schema termine budget kosten ressourcen grenzen einschränkungen notizen empfehlungen fazit motivation literatur definitionen abkürzungen historie versionen fragen entscheidungen beispiele überlegungen
introduzione panoramica obiettivi contesto architettura sicurezza rischi vincoli glossario inleiding doel doelen achtergrond architectuur beveiliging bakgrund mål syfte arkitektur säkerhet wprowadzenie cele cel architektura bezpieczeństwo ryzyka słownik amaç hedefler mimari güvenlik tujuan arsitektur keamanan
обзор введение контекст цель цели архитектура безопасность риски риск метрики глоссарий ограничения допущения приложение приложения тестирование производительность описание стек структура проблема зависимости вопросы соображения
""")
"""Words for what surrounds the work."""
_BESIDE = spaced("""
priority priorities engineering standing compatibility item items domain-specific this that medium low considered frame outstanding resolved classification primary secondary enables last updated reminders dates summary
a an and the of for to in on with by from or our this that these its it's is are what how who when where we at as vs via per
product project system application app software solution service user users customer customers target key main core high-level high level low-level current desired proposed future-proof overall general other additional important initial final
functional requirement requirements technical business document data information file file error errors edge value proposition statement plan plans plan's list table section details detail description specification specifications spec specs
open known frequently asked change further getting started quick start quickstart start development developer dev build run local work works process management control executive scope criteria exit entry external internal third-party
success failure failures complexity common visual look feel color colors colour colours font fonts code source naming non state end-to-end unit integration e2e manual automated mvp v1 v2 phase execution dependency implementation table tables field fields input inputs output outputs request response environment variable variables space model feature
de des du la le les et vue non fonctionnelles fonctionnel techniques technique y e do da dos das no não del los las técnica técnico técnicas sistema producto produto usuarios usuários usuario usuário principal principales principais general generales geral gerais global globales globais operativas operativos und der die das des für produkt projekt nutzer и для проекта проект технический технические открытые успеха dan aberto abertas em abiertas ouvertes techniques offene technische copy
""")
"""Words that may stand beside them in a heading."""
_SIGNS = pattern(
    r"概述|概要|背景|目标|目的|目標|愿景|架构|架構|設計|设计|技术栈|技術|技术|考虑|考量|产品定位|質問|数据|データ|安全|セキュリティ|性能|非功能|非機能|風險|风险|リスク|指标|指標|术语|用語|附录|付録|参考|备注|備考|约束|制約|前提|假设|用户画像|流程|排期|スケジュール|测试|テスト|部署|说明|說明|原则|現状|现状|问题|はじめに|ペルソナ|環境|环境|品質|执行方式"
    r"|개요|배경|목표|리스크|의사결정|목적|비전|아키텍처|설계|기술|데이터|보안|성능|비기능|위험|지표|용어|부록|참고|제약|가정|일정|테스트|배포|구조|원칙|현황|문제|이력|문서 정보|커버리지|추적|세부|사용자|역할|상태|확장성|질문",
)
_WORKS = pattern(
    r"(?<!非)(?:功能|機能)(?!要件以外)|需求|要件|任务|任務|タスク|(?<!비)기능|요구|작업|故事|ストーリー|스토리"
)
_AND = pattern(r"\s*(?:[:：(（\[—–/,&+]|\band\b|\bund\b|\bet\b|\by\b|\be\b)\s*")
_COLON = pattern(r"\s*[:：(（—–]\s*")
_OF = pattern(r"\s(?:for|of|in|with|to|by|-)\s")
_ABOUT_ALL = frozenset({"criteria", "success", "gates", "verify", "files"})
"""Concepts whose sections tell how the whole is judged, or where it stands."""
_BY_TOOLS = frozenset({"global constraints"})
"""Headings of context as tools write them, whose words alone say too little."""
_WORD = pattern(r"[^\W_]+(?:[-'’;][^\W_]+)*")


_BOTH = _CONTEXT | _BESIDE
LEFT_OUT = frozenset({"left out of the plan", "left out", "not planned"})
"""Headings of a section in which an author, or an agent that drafts, names what is not to be planned."""


@lru_cache(maxsize=4096)
def fate(heading: str) -> Fate | None:
    """Return what a section is by its heading; None if the heading may name work."""
    if OF_DONE.search(heading[:300]):
        return "left_out", "a definition of done"
    if is_excluded(heading):
        with_others = any(_is_context(part) for part in _AND.split(normal(heading)) if part not in EXCLUDED_SECTIONS)
        return CONTEXT if with_others else ("left_out", "out of scope")
    if normal(heading) in LEFT_OUT:
        return "left_out", "named as left out"
    if matches(heading, DONE_SECTIONS):
        return "left_out", "done"
    label = normal(heading)
    named = label in _BY_TOOLS or label in NEVER_UNIT_SECTIONS or concept(heading) in _ABOUT_ALL
    told = is_not_functional(heading) or _is_context(label) or _is_context(_COLON.split(label, maxsplit=1)[0])
    return CONTEXT if named or told else None


def is_excluded(heading: str) -> bool:
    """Tell whether a heading puts off its section."""
    return bool(_BEYOND.match(normal(heading))) or matches(heading, EXCLUDED_SECTIONS)


def is_not_functional(heading: str) -> bool:
    return bool(_NOT_FUNCTIONAL.search(normal(heading)))


def heads_context(heading: str) -> bool:
    """Tell whether the last word of a heading's first part says that it surrounds the work: `CQRS Pattern - submissions Table`."""
    found = _WORD.findall(_OF.split(_COLON.split(normal(heading), maxsplit=1)[0], maxsplit=1)[0])
    return bool(found) and found[-1] in _CONTEXT


def _is_context(label: str) -> bool:
    """Tell whether all words of a label name what surrounds the work, or may stand beside such a word."""
    if not label.isascii() and _SIGNS.search(label):
        return not _WORKS.search(label)
    found = _WORD.findall(label[:120])
    said = any(word in _CONTEXT for word in found)
    # `project-type` is joined of such words
    joined = (part for word in found if not word.isdigit() for part in ([word] if word in _BOTH else word.split("-")))
    return said and _BOTH.issuperset(joined)
