"""File endings and command-line tools that identify a path or a command in a text."""

from __future__ import annotations

from santiago.contract.patterns import pattern
from santiago.planner.words import spaced

EXTENSIONS = spaced("""
py pyi ts tsx js jsx mjs cjs vue svelte go rs java kt kts swift c h cc cpp hpp cs rb php ex exs erl hs scala clj dart
lua r jl sql sh bash zsh ps1 md mdx rst txt json jsonc json5 yaml yml toml ini cfg env xml html htm css scss sass less
proto graphql gql tf hcl prisma feature ipynb lock gradle cmake mk svg csv tsv zig nix sol astro hbs ejs
""")

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
