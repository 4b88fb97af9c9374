"""Which texts are commands; under a label for checks nothing that looks like one is dropped without a word."""

from textwrap import dedent

from santiago.contract.plan import Plan
from santiago.planner import commands
from santiago.planner.compile import compile_plan
from santiago.planner.source import Source
from tests.util.each import each


def compiled(text: str, name: str = "prd.md") -> Plan:
    plan = compile_plan(Source(dedent(text).lstrip("\n"), path=name)).plan
    assert plan is not None
    return plan


def unread(plan: Plan) -> list[int]:
    """Return the lines of what was not taken."""
    return [finding.line for finding in plan.findings if finding.code == "check_not_read"]


def story(field: str) -> str:
    return f"# PRD: X\n\n### R1: One\n\n**Acceptance Criteria:**\n\n- [ ] it works\n\n{field}\n"


@each(
    "command",
    [
        "cat a | cmp - b", "sleep 0.4; grep x y", "! grep -q x y", "[ -f a.txt ]", "(cd web && npm test)", "CI=1 pytest -q",
        "./check", "scripts/check.sh", "../tools/check a", "Rscript check.R", "cd web && npm test", "make", "python3 -m unittest",
    ],
)  # fmt: skip
@each("form", ["Verify: `{}`", "**Verification:** `{}`", "- **Verify**: `{}`.", "**Verify:**\n\n- `{}`"])
def test_alone_in_back_ticks_under_a_label_it_is_a_command_whatever_its_first_word(form: str, command: str) -> None:
    plan = compiled(story(form.format(command)))
    assert plan.stories[0].verify == (command,)
    assert unread(plan) == []


def test_several_commands_may_stand_behind_one_label() -> None:
    plan = compiled(story("Verify: `cmp a b`, `wc -l a` and `pytest -q`"))
    assert plan.stories[0].verify == ("cmp a b", "wc -l a", "pytest -q")


@each(
    "field",
    [
        "Verify: cat a | cmp - b",
        "Verify: the output of `frob --all` is empty",
        "Verify: run `frob data`",
        "Verify: `src/a.py`",
        "Verify: `GET /health`",
        "Verify: `status == 200`",
        "Verify: `git push origin`",
        "Verify: `frobnicate`",
    ],
)
def test_what_is_not_taken_and_looks_like_a_command_is_named_with_its_line(field: str) -> None:
    plan = compiled(story(field))
    assert plan.stories[0].verify == ()
    assert unread(plan) == [9]


def test_items_and_fences_under_a_label_are_named_too() -> None:
    plan = compiled(story("**Verification:**\n\n- frob --all\n- `pytest -q`\n\n```bash\ncd web\nnpm test\n```"))
    assert plan.stories[0].verify == ("pytest -q", "npm test")
    assert unread(plan) == [11, 15]


@each(
    "field", ["Verify: make sure it works", "Verify: test the login by hand", "Verify: the page shows `no results`", "Verify: yes"]
)  # fmt: skip
def test_sentences_are_neither_run_nor_named(field: str) -> None:
    plan = compiled(story(field))
    assert plan.stories[0].verify == ()
    assert unread(plan) == []


def test_what_stands_outside_the_stories_is_read_alike() -> None:
    plan = compiled(story("") + "\n## Quality Gates\n\n- `cmp a b`\n- run `frob data`\n")
    assert plan.run_verify == ("cmp a b",)
    assert len(unread(plan)) == 1


def test_a_record_is_read_alike() -> None:
    plan = compiled(
        """
        stories:
          - id: A-1
            title: One
            acceptance_criteria: [it works]
            verify: "`cmp a b`"
          - id: A-2
            title: Two
            acceptance_criteria: [it works]
            verify: cat a | cmp - b
        """,
        "stories.yaml",
    )
    assert [story.verify for story in plan.stories] == [("cmp a b",), ()]
    assert unread(plan) == [9]


def test_a_shell_fence_gives_one_command_per_line_and_its_output_is_not_named() -> None:
    fence = ["", "$ npm ci", "# a comment", "npm run build \\", "  --prod", "done", "```"]
    (found,) = commands.in_fence(fence, 10, "field").taken
    assert (found.value, found.line) == ("npm run build --prod", 13)
    assert commands.in_fence(["", "$ cmp a b", "a b differ", "```"], 1, "field", "console").left[0].value == "cmp a b"
    assert commands.in_fence(["", "all is well here", "```"], 1, "field", "text").left == []
    enters = commands.in_fence(["```sh", "cd api && go test ./...", "npm run dev", "```"], 1, "field", "sh")
    assert [hint.value for hint in enters.taken] == ["cd api && go test ./..."]
    assert [hint.value for hint in enters.left] == ["npm run dev"]


@each(
    "text",
    [
        "The `npm test` script",
        "Run `frob x` first",
        "the server starts via `npm run dev`",
        "`npm install` runs without errors",
        "run `npx create-react-app shop` to begin",
        "deploying with `kubectl apply -f k8s.yaml` passes",
        "`pytest tests/<name>` passes for each",
        "do not run `npm test` here",
        "the job runs `make lint` at night",
        "users log in via `docker compose up -d`",
        "`make deploy` succeeds",
        "`uv run uvicorn app:app` passes",
        "`npm test -- ...` passes",
    ],
)
def test_servers_installers_deployments_gaps_denials_and_mentions_are_no_checks(text: str) -> None:
    assert commands.commands_in(text, 1) == []


@each(
    ("text", "command"),
    [
        ("Run `npm test` first", "npm test"),
        ("Tests pass: uv run pytest tests/test_a.py exits 0.", "uv run pytest tests/test_a.py"),
        ("La commande `npm run lint` passe sans erreur", "npm run lint"),
        ("`pytest -q` läuft fehlerfrei durch", "pytest -q"),
        ("`npm run build` 通过", "npm run build"),
        ("los tests pasan con `cargo test`", "cargo test"),
        ("6.2 Run the full suite (`pnpm test`)", "pnpm test"),
        ("`make check` does not fail", "make check"),
        ("`npm ci && npm test` passes", "npm ci && npm test"),
    ],
)
def test_a_sentence_that_says_what_proves_it_is_a_check_in_any_language(text: str, command: str) -> None:
    assert [hint.value for hint in commands.commands_in(text, 1)] == [command]


def test_a_server_behind_a_label_for_checks_is_said_and_not_run() -> None:
    found = commands.behind_label("`npm start`", 3, "field")
    assert (found.taken, [hint.value for hint in found.left]) == ([], ["npm start"])
