"""What a line of text tells: dependencies, ranges, files; and what only looks like them."""

from santiago.planner import hints
from santiago.planner.hints import behind_files, listed_files
from santiago.planner.markdown.labels import clean
from santiago.planner.markdown.outline import scan
from tests.util.each import each


def sure(text: str) -> list[str]:
    return [name for name, certain in hints.named(text) if certain]


def inline(text: str) -> list[str]:
    (block,) = scan(text).blocks
    return [dep.target for dep in hints.inline_deps(block) if dep.carrier == "inline"]


@each(
    ("text", "expected"),
    [
        ("T001, T002", ["T001", "T002"]),
        ("A-1, B-2 & C-3", ["A-1", "B-2", "C-3"]),
        ("Stories M1.1 and M1.2.", ["M1.1", "M1.2"]),
        ("Task 3", ["3"]),
        ("Tasks 3.2, 3.3, 3.4", ["3.2", "3.3", "3.4"]),
        ("タスク 4、タスク 5", ["4", "5"]),
        ("#12, #13", ["12", "13"]),
        ("[003, 004]", ["003", "004"]),
        ("T-001 must be complete", ["T-001"]),
        ("Phase 2", ["Phase 2"]),
        ("T006..T008", ["T006", "T007", "T008"]),
        ("T013–T015", ["T013", "T014", "T015"]),
        ("T-010–T-012 complete", ["T-010", "T-011", "T-012"]),
        ("(20-22)", ["20", "21", "22"]),
        ("US-1 to US-3", ["US-1", "US-2", "US-3"]),
    ],
)
def test_a_field_names_its_ids_and_ranges_are_spelled_out(text: str, expected: list[str]) -> None:
    assert sure(text) == expected


@each("text", ["none", "None.", "-", "N/A", "なし", "aucune", "[]", "None. T005 may run beside it", "None required"])  # fmt: skip
def test_a_field_may_say_that_there_are_none(text: str) -> None:
    assert hints.named(text) == ()
    assert hints.field_deps(text, 1, "field") == []


@each("text", ["T009..T005", "T1..T99999", "A1..B3"])
def test_what_is_no_range_is_left_alone(text: str) -> None:
    assert len(hints.named(text)) <= 2


def test_words_beside_an_id_make_it_a_mention_and_standards_and_versions_are_none() -> None:
    assert hints.named("T004 complete, database configured") == (("T004", True),)
    assert hints.named("T001, the schema that T002 needs") == (("T001", True), ("T002", False))
    assert sure("database schema (T004)") == ["T004"], "a bracket of ids explains the words before it"
    assert hints.named("SHA-256, UTF-8, Q1") == ()
    assert sure("Node 18, Python 3.11") == []


@each(
    ("text", "expected"),
    [
        ("Build it (depends on T003, T004)", ["T003", "T004"]),
        ("Build it [blocked by #7]", ["7"]),
        ("Vy. Beroende: T008, T013.", ["T008", "T013"]),
        ("構築（依存: 1.2）", ["1.2"]),
        ("**Title** `depends:[S01,S02]`", ["S01", "S02"]),
        ("Later {depends: #3}", ["3"]),
        ("This depends on T003 in a way.", []),
        ("Blocks T004", []),
        ("after T001", []),
        ("(see T003)", []),
    ],
)
def test_dependencies_inside_a_sentence_are_no_prose(text: str, expected: list[str]) -> None:
    assert inline(text) == expected


def test_covered_requirements_drop_the_word_for_all_of_them() -> None:
    assert hints.covered("7.1, 10全体") == ["7.1", "10"]
    assert hints.covered("All") == []


@each(
    ("text", "expected"),
    [
        ("Change `src/a.py:96-108` and `README.md`", ["src/a.py", "README.md"]),
        ("Create src/models/user.ts for it", ["src/models/user.ts"]),
        ("All of `src/**/*.ts`", ["src/**/*.ts"]),
        ("The `Dockerfile`", ["Dockerfile"]),
        ("`GET /api/users`", []),
        ("`/api/users`", []),
        ("`@scope/package`", []),
        ("https://a.example/x.html", []),
        ("`../../etc/passwd.txt`", []),
        ("`User.name`", []),
        ("and/or", []),
    ],
)
def test_files_in_a_sentence_are_no_routes_packages_and_addresses(text: str, expected: list[str]) -> None:
    assert hints.files_in(text) == expected


def test_bare_names_count_only_under_a_files_label() -> None:
    assert hints.files_in("main.go") == []
    assert listed_files("Modify: main.go, util.go") == ["main.go", "util.go"]
    assert listed_files("unit, integration/end-to-end") == []


@each(
    ("text", "paths", "left"),
    [
        ("app.py, t/one.sh", ["app.py", "t/one.sh"], []),
        ("`t/one.sh`, app.py and Makefile", ["t/one.sh", "app.py", "Makefile"], []),
        ("Gemfile; bin/run；`pkg/config`", ["Gemfile", "bin/run", "pkg/config"], []),
        ("app.py, gradlew, data.parquet (new)", ["app.py", "gradlew", "data.parquet"], []),
        ("src/{a,b}.ts, app/(auth)/page.tsx", ["src/{a,b}.ts", "app/(auth)/page.tsx"], []),
        ("main.go util.go", ["main.go", "util.go"], []),
        ("src/cli.ts: the parser, the lexer, splash", ["src/cli.ts"], []),
        ("app.py, the parser", ["app.py"], ["the parser"]),
        ("various", [], ["various"]),
        ("All 11 agents (AGENT.md frontmatter)", [], ["All 11 agents"]),
        ("/etc/passwd, ../up.py, https://a.example/x.html", [], ["/etc/passwd", "../up.py", "https://a.example/x.html"]),
        ("None", [], []),
        ("n/a (docs only)", [], []),
    ],
)  # fmt: skip
def test_every_entry_of_a_list_of_files_is_a_path_or_is_left(text: str, paths: list[str], left: list[str]) -> None:
    assert behind_files(text) == (paths, left)


def test_code_keeps_its_underscores_and_stars_where_emphasis_goes() -> None:
    assert clean("**Remove** `__pycache__` and `**/*.o`, __now__") == "Remove `__pycache__` and `**/*.o`, now"
