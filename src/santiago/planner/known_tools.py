"""File endings and command-line tools by which a path or a command is recognised in a text."""

from __future__ import annotations


def _names(table: str) -> frozenset[str]:
    return frozenset(table.split())


EXTENSIONS = _names("""
py pyi ts tsx js jsx mjs cjs vue svelte go rs java kt kts swift c h cc cpp hpp cs rb php ex exs erl hs scala clj dart
lua r jl sql sh bash zsh ps1 md mdx rst txt json jsonc json5 yaml yml toml ini cfg env xml html htm css scss sass less
proto graphql gql tf hcl prisma feature ipynb lock gradle cmake mk svg csv tsv zig nix sol astro hbs ejs
""")

TOOLS = _names("""
pytest python python3 tox nox uv uvx poetry pipenv hatch ruff mypy pyright black flake8 pylint coverage npm npx pnpm
yarn bun bunx deno node tsc vitest jest mocha eslint prettier biome playwright cypress turbo nx go gofmt golangci-lint
cargo rustc make just task cmake ctest ninja bazel gradle ./gradlew mvn ./mvnw dotnet rake bundle rspec rubocop mix
swift xcodebuild flutter dart php composer phpunit phpstan pest artisan docker docker-compose terraform tofu helm
kubectl bats shellcheck sh bash grep test curl git openspec buf protoc sbt lein stack cabal zig forge hardhat sqlx
alembic prisma
""")

ALONE = _names("pytest tox nox vitest jest mypy rspec phpunit ctest eslint tsc")
"""Tools that are a command without any argument."""

NO_CHECK = _names("true :")
"""Commands that pass whatever was done."""

CHECKS_OF_GIT = _names("diff grep ls-files fsck check-ignore rev-parse")
"""What git can check; its other commands change something, and verify nothing."""

PROSE = _names("a all an and are each every for if in is it must on returns should sure that the this to with")
"""What stands second in a sentence that begins like a command: `make sure`."""

OPERATORS = _names("= == === != -> => >= <= :")
"""What stands second in a formula that begins like a command: `status == 200`."""
