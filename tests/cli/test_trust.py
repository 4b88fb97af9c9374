"""Settings that come with a repository start and loosen nothing before a person's word, and a link leads none of our files away."""

import json
import os
from pathlib import Path
from unittest.mock import patch

import pytest

import tests.cli.inside
from tests.cli.greeter import committed, git, place
from tests.cli.inside import inside
from tests.cli.santiago import santiago
from tests.tui.terminal import Terminal
from tests.util.restored import restored

PRD = "# PRD: Greeter\n\n### R1: Say hello\n\n**Files:** `hello.txt`\n\n- [ ] hello.txt says hello\n"
CHECK = "grep hello hello.txt"
EVERYTHING = {"agent", "setup", "check", "notify"}


class Clone:
    """A stranger's repository, whose every setting leaves a sign when it takes effect."""

    def __init__(self, folder: Path) -> None:
        self.signs = folder / "signs"
        self.signs.mkdir(parents=True)
        self.repo = committed(folder / "repo", {"prd.md": PRD, "santiago.toml": self.settings()})
        self.env = place(self.repo)

    def settings(self, **more: str) -> str:
        agent = f"touch {self.signs}/agent; echo hello > hello.txt"
        return (
            f'[agent]\ncommand = ["sh", "-c", "{agent}"]\n[policy]\nsandbox = "off"\n'
            f'[workspace]\nsetup = ["touch {self.signs}/setup"]\n'
            f'[verification]\nstory_commands = ["touch {self.signs}/check; {CHECK}"]\n'
            f'[notify]\ncommand = "touch {self.signs}/notify"\n' + "".join(more.values())
        )

    def write(self, settings: str) -> None:
        (self.repo / "santiago.toml").write_text(settings)

    def do(self, *words: str) -> tuple[int, str]:
        done = santiago(*words, cwd=self.repo, env=self.env, trusting=False)
        return done.returncode, done.stderr + done.stdout

    def ask(self, *words: str) -> tuple[int, str]:
        """Do what begins no run, and is told or refused in this process."""
        with patch.object(tests.cli.inside, "trusted", lambda *given: list(map(str, given))):
            done = inside(*words, cwd=self.repo, env=self.env)
        return done.returncode, " ".join((done.stderr + done.stdout).split())

    @property
    def doubted(self) -> bool:
        return "are not trusted yet" in self.ask("doctor")[1]

    def do_on_a_terminal(self, answer: str, *words: str) -> tuple[int, str]:
        """Type an answer to whatever is asked first; return the exit code and what the terminal showed."""
        terminal = Terminal("-m", "santiago", *words, cwd=self.repo, env=self.env)
        os.write(terminal.ours, f"{answer}\n".encode())
        code = terminal.ends()
        terminal.close()
        return code, terminal.shown.decode(errors="replace")

    @property
    def happened(self) -> set[str]:
        return {path.name for path in self.signs.iterdir()}


pytestmark = pytest.mark.xdist_group("trust")


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Clone:
    clone = Clone(tmp_path_factory.mktemp("trusted"))
    assert clone.do("run", "prd.md", "--trust-project")[0] == 0
    assert clone.happened == EVERYTHING
    return clone


@pytest.fixture
def trusted(once: Clone) -> Clone:
    restored(once, once.repo.parent)
    for sign in once.signs.iterdir():
        sign.unlink()
    return once


def test_without_a_terminal_nothing_of_a_strangers_settings_runs(clone: Clone) -> None:
    code, said = clone.ask("run", "prd.md")
    assert (code, clone.happened) == (10, set())
    assert "--trust-project" in said
    for name in ("agent.command", "policy.sandbox", "workspace.setup", "verification.story_commands", "notify.command"):
        assert name in said
    done = santiago("run", "prd.md", "--json", cwd=clone.repo, env=clone.env, trusting=False)
    assert (done.returncode, json.loads(done.stdout.splitlines()[-1])["error"]["reason"]) == (10, "untrusted_project")


def test_what_is_trusted_is_not_asked_again_in_any_worktree_but_in_every_clone(trusted: Clone, tmp_path: Path) -> None:
    assert not trusted.doubted
    git(trusted.repo, "worktree", "add", "-q", str(tmp_path / "tree"), "main~0")
    done = santiago("run", "prd.md", cwd=tmp_path / "tree", env=trusted.env, trusting=False)
    assert (done.returncode, trusted.happened) == (0, EVERYTHING), done.stderr
    git(trusted.repo, "clone", "-q", str(trusted.repo), str(tmp_path / "other"))
    done = santiago("run", "prd.md", cwd=tmp_path / "other", env=trusted.env, trusting=False, code=10)


def test_on_a_terminal_enter_means_no_and_yes_is_remembered(clone: Clone) -> None:
    code, shown = clone.do_on_a_terminal("", "run", "prd.md")
    assert (code, clone.happened) == (10, set())
    assert 'policy.sandbox = "off"' in shown
    assert "outside the sandbox" in shown
    assert clone.doubted
    assert clone.do_on_a_terminal("y", "run", "prd.md")[0] == 0
    assert not clone.doubted


def test_a_change_is_asked_about_with_what_it_was(trusted: Clone) -> None:
    trusted.write(trusted.settings().replace("/notify", "/other"))
    assert trusted.ask("run", "prd.md")[0] == 10
    shown = " ".join(trusted.do_on_a_terminal("n", "run", "prd.md", "--new")[1].split())
    assert f'notify.command = "touch {trusted.signs}/other"' in shown
    assert f'was "touch {trusted.signs}/notify"' in shown
    assert trusted.happened == set()


def test_comments_order_and_the_file_do_not_matter_to_the_digest(clone: Clone) -> None:
    clone.write('[agent]\nmodel_hint = "m"\n[limits]\nstory_max_attempts = 1\nrun_timeout_minutes = 60\n')
    words = ("run", "prd.md", "--agent", "true", "--verify", CHECK)
    assert "not trusted" in clone.ask(*words)[1]
    clone.do(*words, "--trust-project")
    (clone.repo / "santiago.toml").unlink()
    (clone.repo / "pyproject.toml").write_text(
        "# the same\n[tool.santiago]\nlimits = { run_timeout_minutes = 60.0, story_max_attempts = 1 }\n"
        'agent.model_hint = "m"\n'
    )
    assert not clone.doubted


def test_settings_that_only_tighten_need_no_word_and_those_that_loosen_wait(clone: Clone) -> None:
    wrong = []
    for settings in (
        '[policy]\nsandbox = "required"\ndoubts = "refuse"\nchanged_tests = "refuse"\nproof = "own_tests"\ngate = "chunk"\n',
        "[limits]\nstory_max_attempts = 1\nrun_max_cost_usd = 1\n",
        '[workspace]\ncopy = []\nprovide = ["node_modules"]\n[verification]\nprotected = ["@tests", "ci/**"]\n',
        "",
    ):
        clone.write(settings)
        if "trusted" in clone.ask("run", "prd.md", "--dry-run", "--agent", "true", "--verify", CHECK)[1]:
            wrong.append(settings)
    for settings in (
        '[agent]\nprofile = "claude"\n', '[policy]\ntests_first = "./evil"\n', '[policy]\ndoubts = "accept"\n',
        '[policy]\nchanged_tests = "accept"\n', "[limits]\nstory_max_attempts = 99\n", '[workspace]\ncopy = ["id_rsa"]\n',
        '[workspace]\nprovide = ["secrets"]\n', '[workspace]\nenv = ["AWS_SECRET"]\n', "[verification]\nprotected = []\n",
        "[policy]\njobs = 64\n", '[policy]\nunknown_usage = "allow"\n',
    ):  # fmt: skip
        clone.write(settings)
        code, said = clone.ask("run", "prd.md", "--verify", CHECK)
        if (code, "are not trusted yet" in said) != (10, True):
            wrong.append(settings)
    assert wrong == []


def test_flags_in_place_of_every_setting_need_no_word(clone: Clone) -> None:
    clone.write('[agent]\ncommand = ["false"]\n[policy]\nsandbox = "off"\n[verification]\nstory_commands = ["false"]\n')
    words = ("--agent", "sh -c 'echo hello > hello.txt'", "--verify", CHECK, "--sandbox", "off")
    code, said = clone.do("run", "prd.md", *words)
    assert code == 0, said


def test_a_setting_below_one_of_the_users_own_is_measured_by_that(clone: Clone) -> None:
    clone.write('[policy]\ndoubts = "ask"\n')
    clone.env["XDG_CONFIG_HOME"] = str(clone.signs.parent / "config")
    own = Path(clone.env["XDG_CONFIG_HOME"]) / "santiago" / "santiago.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[policy]\ndoubts = "refuse"\n')
    code, said = clone.ask("run", "prd.md", "--agent", "true", "--verify", CHECK)
    assert (code, "policy.doubts" in said) == (10, True)


def test_looking_never_asks_and_planning_does_not_carry_settings_past_the_question(clone: Clone) -> None:
    looks = (
        ("plan", "prd.md"), ("run", "prd.md", "--dry-run"), ("status",), ("config", "show"), ("show", "S1"), ("log",),
        ("clean",),
    )  # fmt: skip
    assert [words for words in looks if clone.ask(*words)[0] != 0] == []
    assert (clone.doubted, clone.happened) == (True, set())
    assert clone.ask("plan", "prd.md")[0] == 0
    (planned,) = (clone.repo / ".santiago" / "runs").iterdir()
    execute = ("execute", "--input", f"{planned}/run-input.json", "--plan", f"{planned}/plan.json", "--out-dir")
    (clone.repo / "santiago.toml").unlink()
    for words in (("resume", str(planned)), (*execute, str(planned)), (*execute, "../elsewhere")):
        code, said = clone.ask(*words)
        assert (code, "run-input.json of r_" in said, clone.happened) == (10, True, set()), said
    assert clone.do("resume", str(planned), "--trust-project")[0] == 0
    assert "agent" in clone.happened


def test_going_on_with_a_run_is_held_to_the_settings_as_they_are_now(clone: Clone) -> None:
    clone.write(clone.settings(limits="[limits]\nstory_max_attempts = 1\n").replace("echo hello", "echo helo"))
    assert clone.do("run", "prd.md", "--trust-project")[0] in (10, 30)
    clone.write(clone.settings().replace("/notify", "/other"))
    code, said = clone.ask("resume", "--add-attempts", "1")
    assert (code, "notify.command" in said) == (10, True)
    git(clone.repo, "branch", "mine")
    assert clone.ask("verify", "S1", "--from", "mine")[0] == 10
    assert clone.ask("accept", "S1", "--why", "x")[0] == 10
    assert "other" not in clone.happened
    clone.do("accept", "S1", "--why", "x", "--trust-project")
    assert "other" in clone.happened


def test_what_init_wrote_is_trusted(clone: Clone) -> None:
    assert clone.ask("init", "--force", "--no-try", "--verify", CHECK)[0] == 0
    code, said = clone.do("run", "prd.md", "--agent", "sh -c 'echo hello > hello.txt'", "--sandbox", "off")
    assert code == 0, said


def test_the_doctor_runs_no_checks_that_nobody_trusts(clone: Clone) -> None:
    code, said = clone.ask("doctor", "--checks")
    assert (code, "--trust-project" in said, clone.happened) == (10, True, set())
    clone.ask("doctor", "--checks", "--trust-project")
    assert {"setup", "check"} <= clone.happened


def test_what_is_shown_does_nothing_to_the_terminal_and_hides_nothing(clone: Clone) -> None:
    clone.write('[notify]\ncommand = "evil\\u001b[2K\\u202e\\nharmless"\n')
    shown = clone.do_on_a_terminal("n", "run", "prd.md", "--agent", "true", "--verify", CHECK)[1]
    assert "evil\\u001b[2K\\u202e\\nharmless" in shown
    assert "\u202e" not in shown


def test_where_the_word_cannot_be_written_down_it_holds_for_this_start(clone: Clone) -> None:
    Path(clone.env["XDG_STATE_HOME"]).write_text("no folder")
    code, said = clone.do("run", "prd.md", "--trust-project")
    assert (code, "could not be noted" in said, clone.happened) == (0, True, EVERYTHING), said
    assert clone.ask("run", "prd.md")[0] == 10


def test_a_link_where_runs_are_kept_is_refused_before_anything_is_written(clone: Clone, tmp_path: Path) -> None:
    target = tmp_path / "target"
    git(tmp_path, "init", "-q", "target")
    for linked in (".santiago", ".santiago/runs"):
        (clone.repo / linked).parent.mkdir(exist_ok=True)
        (clone.repo / linked).symlink_to(target)
        for words in (("run", "prd.md", "--trust-project"), ("plan", "prd.md"), ("init", "--force", "--no-try")):
            code, said = clone.ask(*words)
            if words[0] != "init" or linked == ".santiago":
                assert (code, said.count("error:"), "symbolic link" in said) == (30, 1, True), (linked, words, said)
        (clone.repo / linked).unlink()
    assert [path.name for path in target.iterdir()] == [".git"]
    assert clone.happened == set()


def test_links_of_the_repository_are_not_written_through(clone: Clone, tmp_path: Path) -> None:
    (clone.repo / ".santiago").mkdir()
    (clone.repo / ".santiago" / ".gitignore").symlink_to(tmp_path / "planted")
    assert clone.ask("plan", "prd.md")[0] == 0
    assert not (tmp_path / "planted").exists()
    (tmp_path / "target").mkdir()
    (clone.repo / "build").symlink_to(tmp_path / "target")
    code, said = clone.ask("run", "prd.md", "--trust-project", "--out-dir", "build/out")
    assert (code, "symbolic link" in said) == (30, True)
    assert list((tmp_path / "target").iterdir()) == []
