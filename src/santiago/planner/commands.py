"""Find the commands in a text that can serve as checks.

In prose, only a command of a known tool counts, and only if the sentence asks for it. Under a label for checks the author
has already said that a command follows: there any text alone in back-ticks is a command, whatever its first word.
What looks like a command there but is not used is returned too, so that a warning can name it.
"""

from __future__ import annotations

from itertools import dropwhile
from typing import NamedTuple

from santiago.contract.lazy_regex import pattern
from santiago.planner.draft import Hint
from santiago.planner.hints import TICKED
from santiago.planner.words import spaced

_PROVES = pattern(
    r"(?i)\b(?:pass(?:es|ing|ed)?|verif(?:y|ies|ied)|succeeds?|exits? (?:0|with|code 0|cleanly)|not (?:fail|break|regress)|green|clean(?:ly)?|returns? 0"
    r"|(?:without|no|zero) (?:\w+ )?(?:errors?|warnings?|failures?|issues?)"
    r"|passent?|réussit|réussissent|sans erreurs?|pasan?|sin errores|passam?|sem erros|besteht|bestehen|läuft|laufen|fehlerfrei|erfolgreich"
    r"|slaagt|slagen|zonder fouten|przechodz[ią]|bez błędów|проход[ия]т|успешно|без ошибок|geçer|godkänns?|utan fel)\b"
    r"|通过|通過|成功|パス|합격|통과|성공",
)
"""Words that say that a command proves something."""
_ASKED = pattern(
    r"(?i)^[\W\d_]*run\b|[.:;,(*]\s{0,3}run\b|\b(?:and|then|must|should|to|und|et|y)\s(?:re-?)?run\b|\brunning\b"
    r"|実行|运行|執行|실행|exécuter|ejecutar|ausführen",
)
"""Words that ask somebody to run a command. They suffice only for a command that can be nothing but a check."""
_DENIES = pattern(
    r"(?i)\b(?:not|never|(?:do|does|is|should|must|ca)n['’]t|avoid|instead of|rather than|no longer|nicht|niemals|jamais|ne pas|nunca|niet)\b"
    r"(?!\s(?:fail|break|error|regress))",
)
"""Words that say that a command is not to be run."""
_TAIL = pattern(r"(?i)\s(?:exits?(?: with)?(?: code)? 0|returns? 0|passes|succeeds|is green)[.!]?$")
_ENDS = ("0", "0.", "0!", "passes", "passes.", "succeeds", "succeeds.", "green", "green.")
_ENTERS = pattern(r"\(?cd [^\s;&|]{1,200}\s?(?:&&|;)\s?")
_PIECE = pattern(r"&&|\|\||[;|]")
_PLACEHOLDER = pattern(
    r"<[A-Za-z][\w .:/-]{0,60}>|\{[a-z][\w-]{0,40}\}|…|(?<![./\w])\.\.\.(?!\w)|\[[a-z][\w -]{0,40}\](?!\])"
)
"""A part that somebody has to fill in first, such as `<name>`."""
_TESTS = pattern(r"\s(?:-\w|!?=)")
"""An argument of the program `test`, which tells it from the verb."""
_ARGUMENTS = pattern(r"(?:^|\s)(?:-{1,2}\w|[\w.*-]*/[\w./*-]*|&&|\|)|[\w-]+\.\w{1,4}\b")
_SHELL = pattern(r"\s\|\s|&&|\s--?[A-Za-z]")
"""Signs of a command line that sentences hardly ever contain."""
_JOINED = pattern(r"(?i)[\s,;.、，；]|\b(?:and|then|und|et|y|e)\b")
"""Words and signs that may stand between and behind commands in back-ticks."""
_ASSIGNED = pattern(r"[A-Za-z_]\w*=")
_PROGRAM = pattern(r"(?:[.~]{0,2}/)?\w[\w.+/-]*|\[\[?|!")
_MOST = 4_000
"""A text with more characters is not searched."""
_LONGEST = 400
"""A sentence with more characters is never read as a command without back-ticks."""
_SHELLS = frozenset({"sh", "bash", "zsh", "shell", "console", "shell-session", "terminal"})


class Found(NamedTuple):
    """The commands in a text."""

    taken: list[Hint]
    left: list[Hint]
    """Texts that look like a command but were not taken."""

    def add(self, other: Found) -> None:
        self.taken.extend(other.taken)
        self.left.extend(other.left)


def is_command(text: str) -> bool:
    """Tell whether a text is a command line of a known tool that can serve as a check."""
    parts = _words(_ENTERS.sub("", text, count=1))
    first = parts[0] if parts else ""
    named = first in TOOLS or first.startswith("./") or first.endswith(".sh")
    return (named if len(parts) > 1 else first in ALONE) and not proves_nothing(text)


def proves_nothing(text: str) -> bool:
    """Tell whether a command cannot be a check.

    Such a command has placeholders, or does not end by itself, or only installs or publishes something.
    """
    if len(text) > _MOST or _PLACEHOLDER.search(text):
        return True
    pieces = [" ".join(_words(piece)) for piece in _PIECE.split(text) if piece.strip()]
    return any(map(SERVES.search, pieces)) or all(map(BRINGS.match, pieces))


def is_plain_command(text: str) -> bool:
    """Tell a command without back-ticks from a sentence that begins with a tool's name: `make lint`, not `make sure that …`."""
    parts = text.split()
    if not is_command(text) or "\n" in text.strip():
        return False
    if len(parts) > 1 and (parts[1].lower() in PROSE or (parts[0] == "test" and not _TESTS.search(text))):
        return False
    return len(parts) <= 3 or bool(_ARGUMENTS.search(text))


def commands_in(text: str, line: int) -> list[Hint]:
    """Return the commands in a sentence that says that they pass, or asks to run them."""
    if "`" not in text:  # as in `Tests pass: uv run pytest exits 0.`
        likely = text.endswith(_ENDS) and len(text) <= _LONGEST
        tail = _TAIL.search(text, max(len(text) - 40, 0)) if likely else None
        head = text[: tail.start()].strip() if tail else ""
        spoken = next((part for part in (head, head.partition(": ")[2].strip()) if part and is_plain_command(part)), "")
        return [Hint(value=spoken, line=line, carrier="text")] if spoken else []
    said = TICKED.sub(" ", text)
    proves = bool(_PROVES.search(said))
    if _DENIES.search(said) or not (proves or _ASKED.search(said)):
        return []
    return [
        Hint(value=token.strip(), line=line, carrier="text")
        for token in TICKED.findall(text)
        if is_command(token) and (proves or JUDGES.search(token))
    ]


def behind_label(text: str, line: int, carrier: str) -> Found:
    """Return the commands in a text on the same line as its label. Here they need no back-ticks."""
    bare = text.strip()
    if ("`" not in text and is_plain_command(text)) or (bare := bare.strip("` ")) in NO_CHECK:
        return Found([Hint(value=bare, line=line, carrier=carrier)], [])
    return under_label(text, line, carrier)


def in_prose_field(text: str, line: int, carrier: str) -> Found:
    """Return the command in a field that often holds prose. A sentence with some words in back-ticks is prose."""
    return behind_label(text, line, carrier) if _is_ticked(text) or "`" not in text else Found([], [])


def under_label(text: str, line: int, carrier: str) -> Found:
    hints = [Hint(value=token.strip(), line=line, carrier=carrier) for token in TICKED.findall(text)]
    if not hints:
        second = text.split()[1:2]
        is_prose = bool(second) and len(second[0]) > 1 and second[0].lower() in PROSE
        likely = is_plain_command(text) or (_looks_like_one(text) and not is_prose)
        return Found([], [Hint(value=text.strip(), line=line, carrier=carrier)] if likely else [])
    if all(is_command(hint.value) for hint in hints):
        return Found(hints, [])
    return _chosen(hints, TICKED.sub(" ", text), alone=_is_ticked(text))


def _chosen(hints: list[Hint], said: str, *, alone: bool) -> Found:
    """Choose the commands among texts in back-ticks. `alone` says that there are no words around them."""
    found = Found([], [])
    asked = bool(_PROVES.search(said) or _ASKED.search(said))
    for hint in hints:
        if is_command(hint.value) or (alone and has_the_form(hint.value) and not proves_nothing(hint.value)):
            found.taken.append(hint)
        elif alone or _looks_like_one(hint.value, asked=asked):
            found.left.append(hint)
    return found


def in_fence(lines: list[str], line: int, carrier: str, info: str = "") -> Found:
    """Return the commands in a code fence, one per line, without prompts and comments. Continued lines are joined."""
    found = Found([], [])
    shell = info.lower().partition(" ")[0] in _SHELLS
    prompted = any(raw.lstrip().startswith("$ ") for raw in lines)
    for start, text in _joined(lines, line):
        command = text.removeprefix("$ ").split("  #")[0].strip()
        hint = Hint(value=command, line=start, carrier=carrier)
        if is_command(command) and "\n" not in command and not command.count('"') % 2:
            found.taken.append(hint)
        elif text.startswith("$ ") or (shell and not prompted and has_the_form(command)):
            found.left.append(hint)
    return found


def _joined(lines: list[str], line: int) -> list[tuple[int, str]]:
    """Return the lines of a fence that are neither empty nor comments, each with the line number where it begins."""
    found: list[tuple[int, str]] = []
    joined, start = "", 0
    for offset, raw in enumerate(lines[1:], 1):
        text = raw.strip()
        if text.startswith(("```", "~~~")) or (not joined and (not text or text.startswith("#"))):
            continue
        joined, start = (f"{joined} {text}", start) if joined else (text, line + offset)
        if joined.endswith("\\"):
            joined = joined[:-1].rstrip()
            continue
        if joined.count('"') % 2 and offset < len(lines) - 2:
            joined += "\n"  # an open quote: the text goes on in the next line
            continue
        found.append((start, joined))
        joined = ""
    return found


def _is_ticked(text: str) -> bool:
    """Tell whether the whole text is in back-ticks."""
    return "`" in text and not _JOINED.sub("", TICKED.sub(" ", text))


def _words(text: str) -> list[str]:
    """Return the words of a command line, without variable assignments in front of the program."""
    return list(dropwhile(_ASSIGNED.match, text.split()))


def has_the_form(text: str) -> bool:
    """Tell whether a text has the form of a command line: a program and its arguments."""
    parts = _words(text.lstrip("( "))
    if not parts or not _PROGRAM.fullmatch(first := parts[0].rstrip(";")) or first.isdecimal() or first.isupper():
        return False
    if len(parts) == 1:
        return first in TOOLS or first.startswith("./") or first.endswith(".sh")
    return parts[1] not in OPERATORS and not (first == "git" and proves_nothing(text))


def _looks_like_one(text: str, *, asked: bool = False) -> bool:
    """Tell whether a text is probably a command line. `asked` says that the words around it ask to run it."""
    return has_the_form(text) and (asked or bool(_SHELL.search(text)))


TOOLS = spaced("""
pytest python python3 tox nox uv uvx poetry pipenv hatch ruff mypy pyright black flake8 pylint coverage npm npx pnpm
yarn bun bunx deno node tsc vitest jest mocha eslint prettier biome playwright cypress turbo nx go gofmt golangci-lint
cargo rustc make just task cmake ctest ninja bazel gradle ./gradlew mvn ./mvnw dotnet rake bundle rspec rubocop mix
swift xcodebuild flutter dart php composer phpunit phpstan pest artisan docker docker-compose terraform tofu helm
kubectl bats shellcheck sh bash grep test curl git openspec buf protoc sbt lein stack cabal zig forge hardhat sqlx
alembic prisma
""")

ALONE = spaced("pytest tox nox vitest jest mypy rspec phpunit ctest eslint tsc")
"""Tools that are a command even without arguments."""

SERVES = pattern(
    r"(?:^|\s)(?:dev|serve|start|watch|runserver|uvicorn|gunicorn|hypercorn|nodemon|storybook|http\.server|live-server|--watch)(?=\s|$|:)"
    r"|(?:docker[ -]compose|podman-compose) (?:\S+ )*?up(?=\s|$)"
    r"|^(?:flask|streamlit|mix phx\.server|rails s(?:erver)?|bin/rails s|hugo server|air|next|vite)(?: run| dev| start)?$"
    r"|^(?:flask|streamlit) run|^kubectl (?:port-forward|logs)|^tail -f"
)
"""Programs that do not end by themselves."""

BRINGS = pattern(
    r"(?:npm|pnpm|yarn|bun) (?:install|i|ci|add|create|init|publish|link|upgrade|update)(?:\s|$)|yarn$"
    r"|(?:npx|bunx|pnpm dlx|yarn dlx|npm exec) (?:\S+ )*?(?:create-|init|shadcn|degit)"
    r"|(?:uv )?pip3? (?:install|download)|python3? -m (?:pip|venv|ensurepip)"
    r"|(?:poetry|uv|pipenv|hatch|pdm) (?:install|add|sync|lock|new|init|publish|venv|env)(?:\s|$)"
    r"|cargo (?:install|add|new|init|publish|update)|go (?:get|install|mod|work)(?:\s|$)"
    r"|bundle (?:install|add|update)|gem |composer (?:install|require|update|create-project)"
    r"|dotnet (?:new|add|restore|publish)|flutter (?:create|pub)|mix (?:new|deps)|(?:brew|apt|apt-get|yum|dnf|apk|pacman|choco|winget|snap|sudo) "
    r"|django-admin |rails new|(?:mkdir|touch|cp|mv|rm|ln|chmod|echo|export|source|cd|cat|open|code|nano|vim)(?:\s|$)"
    r"|(?:docker|podman) (?:push|pull|login|run|start|stop|rm|exec|logs|ps)(?:\s|$)|docker[ -]compose (?:down|pull|stop|logs|ps|restart)"
    r"|(?:terraform|tofu) (?:apply|destroy|init|import)|helm (?:install|upgrade|uninstall|repo)|kubectl (?:apply|create|delete|rollout|scale|set|edit|exec|cp)"
    r"|(?:npx )?(?:vercel|netlify|wrangler|firebase|fly|flyctl|serverless|sls|heroku|railway|gcloud|aws|az|gh|twine|cdk|pulumi|eas|supabase)(?:\s|$)"
    r"|\S*deploy\S*(?:\s|$)|(?:npm|pnpm|yarn|bun)(?: run)? \S*(?:deploy|release|publish|seed|migrate)\S*"
    r"|make \S*(?:deploy|release|install|clean|publish|up|run|help)(?:\s|$)"
    r"|openspec (?!validate)|(?:specify|task-master|bd|backlog|kiro|claude|codex|gemini)(?:\s|$)"
    r"|git (?!grep|fsck|check-ignore|ls-files .*--error-unmatch|rev-parse .*--verify|diff .*--(?:exit-code|quiet|check))"
    r"|(?:ls|pwd|which|tree|head|tail|date|whoami|env|printenv|history|clear|sleep)(?:\s|$)|\S+ (?:--version|-v|-V|version|--help|help)$"
)
"""Commands that fetch, create, remove, ship or only show something. They prove nothing."""

JUDGES = pattern(
    r"(?i)test|spec|lint|check|pytest|tox|nox|mypy|pyright|ruff|tsc|vitest|jest|mocha|eslint|clippy|vet|verify|validate|audit|coverage|fmt|format"
)
"""Words that make a command line a check."""

NO_CHECK = spaced("true :")
"""Commands that always pass."""

PROSE = spaced("a all an and are each every for if in is it must on returns should sure that the this to with")
"""Second words that make a sentence of what begins like a command: `make sure`."""

OPERATORS = spaced("= == === != -> => >= <= :")
"""Second words that make a formula of what begins like a command: `status == 200`."""
