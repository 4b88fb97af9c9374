"""Which files a program is steered by: its own, those that options name, those that variables carry, those in settings."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from santiago.verification.commandline.steps import Step

OWN: dict[str, tuple[str, ...]] = {
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    "rake": ("Rakefile",), "tox": ("tox.ini",), "nox": ("noxfile.py",), "gradlew": ("gradlew", "gradle/wrapper/gradle-wrapper.properties"),
    "mvnw": ("mvnw", ".mvn/wrapper/maven-wrapper.properties"), "ant": ("build.xml",), "invoke": ("tasks.py",), "inv": ("tasks.py",),
    "grunt": ("Gruntfile.js",), "gulp": ("gulpfile.js",), "mage": ("magefile.go",),
}  # fmt: skip
OPTIONAL: dict[str, tuple[str, ...]] = {
    "prove": (".proverc",), "bazel": (".bazelrc",), "ava": ("ava.config.js", "ava.config.cjs", "ava.config.mjs"), "tap": (".taprc",),
    "jasmine": ("spec/support/jasmine.json", "spec/support/jasmine.mjs"), "cucumber-js": ("cucumber.js", "cucumber.json", "cucumber.yaml"),
    "behave": ("behave.ini", ".behaverc"), "nose2": ("nose2.cfg", "unittest.cfg"), "busted": (".busted",), "nyc": (".nycrc", ".nycrc.json"),
}  # fmt: skip
"""Files that a program is steered by if they are there."""
_OPTIONS = (
    "-c -f --config --rootdir --file --require --import --loader --experimental-loader --env-file --env-file-if-exists --bootstrap"
    " --rcfile --setup --setupFiles --setupFilesAfterEnv --globalSetup --testEnvironment --resolver"
    " --reporter --reporters --test-reporter --test-global-setup"
)
_STEERED_BY = frozenset(_OPTIONS.split())
"""Options that are followed by a file, in one program or another."""
_REQUIRES = frozenset({"node", "mocha", "_mocha", "ruby", "rspec", "ts-node", "tsx", "nyc"})
"""Programs whose `-r` names a file that they load first."""
_PLAIN = "test [ [[ rm cp mv ln wc cut head tail ls find sort uniq tar stat readlink realpath touch grep egrep fgrep zgrep od dd cc gcc g++ clang echo"
_ORDINARY = frozenset(_PLAIN.split())
"""Programs whose `-c` and `-f` mean something else."""
_PROGRAM_FILES = frozenset({"awk", "gawk", "mawk", "sed", "jq", "bc"})
"""Programs whose `-f` names what they run: that may be the work."""
_CARRIES_OPTIONS = frozenset({"NODE_OPTIONS", "RUBYOPT", "PYTEST_ADDOPTS", "MAKEFLAGS"})
_NAMES_FILE = frozenset({"BASH_ENV", "ENV", "PYTHONSTARTUP", "MAKEFILES"})
ENDINGS = ("", ".js", ".mjs", ".cjs", ".ts", ".rb", "/index.js")
"""What interpreters add to a name."""
SETTINGS = re.compile(
    r"package\.json|(?:jest|vitest|vite|karma|playwright|cypress)\.(?:config|conf|workspace)\.\w+|\.mocharc(?:\.\w+)?|phpunit\.xml(?:\.dist)?"
    r"|conftest\.py|pytest\.ini|tox\.ini|setup\.cfg|pyproject\.toml"
)
"""Files in which runners are told what to load first."""
_LOADED_FIRST = re.compile(
    r"\b(?:setupFiles\w{0,20}|globalSetup|globalTeardown|testEnvironment|testRunner|testSequencer|snapshotSerializers|resolver|reporters?"
    r"|require|bootstrap|pytest_plugins)[\"']?[ \t]*[:=][ \t]*(\[[^\]]{0,1000}|\([^)]{0,1000}|[\"'][^\"'\n]{1,200})"
)
_STRING = re.compile(r"[\"'](?:<rootDir>/)?([^\"'\n]{1,200})")
_PLUGIN = re.compile(r"(?<!\S)[\"']?-p[ \t]{1,9}([\w.]{1,200})")
_RUNNER_KEYS = ("jest", "mocha", "ava", "vitest", "nyc", "c8", "tap")


def named_in_settings(name: str, raw: bytes) -> list[str]:
    """Return the files and modules that settings have a runner load before any test."""
    text = raw[:200_000].decode("utf-8", "replace")
    if name == "package.json":
        text = _of_runners(text)
    found = [path for value in _LOADED_FIRST.findall(text) for path in _STRING.findall(value)]
    modules = [path for path in (*found, *_PLUGIN.findall(text)) if re.fullmatch(r"[\w.]+", path)]
    return [*found, *(f"{module.replace('.', '/')}.py" for module in modules)]


def _of_runners(text: str) -> str:
    try:
        package = json.loads(text)
        return json.dumps({key: package[key] for key in _RUNNER_KEYS if key in package})
    except (ValueError, TypeError, RecursionError):
        return ""


def given(step: Step) -> list[str]:
    """Return the files that a step is told to be steered by: `-c FILE`, `--config=FILE`, `--require FILE`, `. FILE`."""
    if step.name in {".", "source"}:
        return [*step.argv[1:2]]
    options = [*step.argv[1:]]
    found = []
    for name, _, value in (word.partition("=") for word in step.assigned):
        if name in _CARRIES_OPTIONS:
            options += value.split()
        elif name in _NAMES_FILE:
            found.append(value)
    if step.name in _ORDINARY or (step.name in _PROGRAM_FILES and step.heard):
        return found
    wanted = _STEERED_BY | ({"-r"} if step.name in _REQUIRES else set())
    found += [after for option, after in pairwise(options) if option in wanted]
    found += [word.partition("=")[2] for word in options if word.partition("=")[0] in wanted and "=" in word]
    if step.name in {"pytest", "py.test"}:
        found += [after.replace(".", "/") + ".py" for option, after in pairwise(options) if option == "-p"]
    return [path for path in found if path]
