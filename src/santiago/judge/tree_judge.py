"""The judge port's adapter: gives the core its verdicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cache, partial
from itertools import chain
from typing import Any

from santiago.contract.checks import commands_of, is_told, lanes, run_commands_of
from santiago.contract.outcomes import DoubtfulLine, Proof, Verdict
from santiago.contract.plan import Plan, Story
from santiago.contract.policy import RunInput
from santiago.contract.ports.judge import Examination, Judged, Lack, SetUpFailedError, Work
from santiago.contract.ports.run import Stop
from santiago.contract.ports.workspace import Workspace
from santiago.contract.reasons import Reason
from santiago.contract.record import lean
from santiago.judge import criteria_shown, excuses, tests_first, verdict, verdict_messages
from santiago.judge.commandline import absent, names_what_is_missing, unwritten
from santiago.judge.comparison import Shown, ends_alike, fallen, of_files, retried, sees
from santiago.judge.doubts import doubts
from santiago.judge.judge_files import JudgeFiles
from santiago.judge.missing import found_no_test, lacked, lacks_package, missing_module, waits_for_tests
from santiago.judge.trees import Trees
from santiago.judge.trials import GARBAGE, Results, StoppedError, Trial, Trials
from santiago.judge.verdict import Check, Tells

ByStory = dict[tuple[str, str], Shown]
"""What checks showed, by their command and the story that they are told, if any."""
Explain = Callable[[str, Sequence[Shown], Sequence[Story], Stop], Lack | None]
_Found = Mapping[Any, Shown]
_LEAST_MS, _TIMES = 60_000, 10
"""Limits for new tests run without the work, where some would never end: a time, and a multiple of their time with it."""
_RANKS = (Proof.REGRESSION, Proof.OWN_TESTS, Proof.PROVED)


@lean(kw_only=True)
class TreeJudge:
    """Judges by running checks on trees: the base, the work, and each with the tests of the other."""

    plan: Plan
    run_input: RunInput
    workspace: Workspace
    trials: Trials
    has_folder: Callable[[str], bool] = lambda _: False
    """Tells whether the repository has a folder that git does not know, such as a virtual environment."""
    explain: Explain = lambda *_: None
    """Finds out whether checks that are red on a base lack something that is not the repository's code."""
    jobs: int = 1
    """How many checks of a base run at the same time."""
    _sight: dict[str, bool] = field(default_factory=dict)
    """Command → whether it notices when the code is broken. Commands that were not tried are missing."""

    # Before any work

    def prepare(self, folder: str, stop: Stop) -> None:
        self.trials.notes.close(forget=True)  # an agent comes next
        self.trials.prepare(folder, stop)

    def examine(self, base: str, stories: Sequence[Story], stop: Stop) -> Examination | None:
        self.trials.notes.open()
        try:
            found = self._examined(base, stories, stop)
        except StoppedError:
            return None
        except SetUpFailedError as error:
            reason = Reason.VERIFICATION_UNRUNNABLE
            found = Examination(record=verdict.document_of_base({}), reason=reason, message=str(error))
        finally:
            self.trials.notes.close()
        if found.reason is not None:
            self.trials.notes.close(forget=True)  # a person changes something, so all of it is looked at anew
        return found

    def _examined(self, base: str, stories: Sequence[Story], stop: Stop) -> Examination:
        groups = lanes(self.plan, stories, self.run_input)
        trials = [Trial(name="base", commit=base, commands=some, story=told, as_base=True) for told, some in groups]
        results = self._side_by_side(trials, stop)
        found = {command: results[command] for command in self._commands(stories)}
        files = self.workspace.files(base)
        ran = [one for one in found.values() if not waits_for_tests(one, files)]
        examination = Examination(
            record=verdict.document_of_base(found),
            red=tuple(chain(*(one.names(one.failing) for one in ran)))[: verdict.MOST_NAMES],
            results=tuple(one.result for one in found.values()),
        )
        red = [one for one in found.values() if not one.is_green]
        if red and (lack := self.explain(base, red, stories, stop)) is not None:
            reason = Reason.VERIFICATION_UNRUNNABLE
            return replace(examination, reason=reason, message=lack.message, hint=lack.hint, proposal=lack.proposal)
        return self._sighted(trials, stories, found, examination, stop)

    def _side_by_side(self, trials: Sequence[Trial], stop: Stop) -> Results:
        one = partial(self.trials.results, stop=stop)
        if self.jobs == 1 or len(trials) < 2:
            found = list(map(one, trials))
        else:
            from concurrent.futures import ThreadPoolExecutor  # takes time to load, and most starts have one job

            with ThreadPoolExecutor(max_workers=self.jobs) as pool:
                found = list(pool.map(one, trials))
        return {command: shown for results in found for command, shown in results.items()}

    def _sighted(
        self, trials: Sequence[Trial], stories: Sequence[Story], found: Results, examination: Examination, stop: Stop
    ) -> Examination:
        """Find out which checks notice broken code. A story whose checks all fail to notice it can never be verified."""
        files = self.workspace.files(trials[0].commit) if trials else ()
        passing = [one for one in found.values() if one.is_green or (one.tests and one.passing)]
        empty = [one.command for one in found.values() if waits_for_tests(one, files)]
        # A check whose files do not exist yet is tried later, on the work.
        tried = [one for one in passing if one.command not in empty and not names_what_is_missing(one.command, files)]
        self._look(trials, tried, stop)
        blinded = {command: None for command in found if self._sight.get(command) is False}
        for story in stories:
            commands = commands_of(story, self.run_input)
            if commands and all(command in blinded for command in commands):
                message = verdict_messages.blind(story, commands[0], self.has_folder)
                return replace(
                    examination, reason=Reason.NOTHING_VERIFIED, message=message, hint=verdict_messages.BLIND_HINT
                )
        notes = (one.note for one in found.values() if one.note)
        return replace(
            examination,
            notes=(*notes, *map(verdict_messages.blind_note, blinded), *map(verdict_messages.empty_note, empty)),
        )

    def _look(self, trials: Sequence[Trial], shown: Sequence[Shown], stop: Stop) -> None:
        """Find out which of these checks fail when all files of the trials' tree except the tests are spoiled."""
        left = [one for one in shown if one.command not in self._sight]
        if not left:
            return
        commit = trials[0].commit
        files, every = self._files((), commit), sorted(self.workspace.files(commit))
        others = tuple(path for path in every if not files.judges(path) and not files.is_mixed(path))
        found: dict[str, bool] = {}  # another thread must not take the first of two answers for the last
        for content in (GARBAGE, None) if others else ():
            wanted = {one.command for one in left}
            blinded = [
                replace(trial, name=f"{trial.name}-blind", commands=some, spoils=others, spoiled_by=content)
                for trial in trials
                if (some := [command for command in trial.commands if command in wanted])
            ]
            spoiled = self._side_by_side(blinded, stop)
            for one in left:
                found[one.command] = sees(one, spoiled[one.command])
            left = [one for one in left if not found[one.command]]
        self._sight.update(found)

    # Work

    def attempt(self, work: Work, stop: Stop) -> Judged | None:
        try:
            return self._written(work, stop) if work.writes_tests else self._attempt(work, stop)
        except StoppedError:
            return None

    def _attempt(self, work: Work, stop: Stop) -> Judged:
        trial, trees = self._trial(work), self._trees(work)
        base = self.trials.results(trial.on("base", work.base, as_base=True), stop)
        before = trial.on("base", work.before_tests, as_base=True) if work.before_tests else None
        earlier = self.trials.results(before, stop) if before else {}
        check = partial(self.trials.results, replace(trial.on("check", trees.work), before=earlier or base), stop)
        shown, flaky = _steadied(check, base, trees.text_changed)
        checks = [self._check(work, base[command], shown[command], earlier.get(command), trees) for command in base]
        found = self._with_causes(verdict.of_work(checks), work, checks)
        if not checks and work.story.role == "scientist":
            found = verdict_messages.package(found)
        found = replace(found, judge_files=trees.judging, beside=tuple(filter(trees.files.beside, trees.paths)))
        if found.passed and trees.judging:
            check = partial(self.trials.results, trial.on("old-tests", trees.with_old_tests()), stop)
            old, more = _steadied(check, base, trees.text_changed)
            files, flaky = self.workspace.files(work.base), flaky + more
            checks = [replace(check, old_tests=of_files(old[check.work.command], files)) for check in checks]
        found = replace(found, flaky=tuple(dict.fromkeys(flaky)))
        if found.passed:
            found = verdict.of_old_tests(found, checks, trees, work.story.speaks_of)
            found = _asking_about_loaded(found, trees)
            found = verdict_messages.of_old_tests(found, self.run_input.policy, trees.difference)
        if found.passed or found.reason is Reason.CHANGED_EXPECTATION:
            if trees.tests and not verdict.is_proved(checks):
                took = max(check.work.result.seconds for check in checks)
                without = replace(
                    trial.on("new-tests", trees.with_new_tests(work.before_story)),
                    patience_ms=max(_LEAST_MS, took * _TIMES),
                )
                new = self.trials.results(without, stop)
                checks = [replace(check, new_tests=new[check.work.command]) for check in checks]
            found = self._weighed(found, checks, trial, trees, stop)
            found = self._doubted(found, work, trees)
            found = self._with_criteria(found, work, checks, trial, stop)
            found = self._held_to_policy(found, work, checks, trees)
        return _judged(found, checks)

    def _written(self, work: Work, stop: Stop) -> Judged:
        """Return whether the tests that an attempt wrote run, and fail because the work is missing. Only the tests are kept."""
        trees = self._trees(work)
        if not trees.tests:
            return _failed(Reason.NOTHING_VERIFIED, tests_first.none(trees.paths))
        commit, trial = trees.with_new_tests(), self._trial(work)
        before = self.trials.results(trial.on("base", work.base, as_base=True), stop)
        after = self.trials.results(trial.on("tests", commit, as_base=True), stop)
        files, read = self.workspace.files(commit), partial(self.workspace.read, commit)
        lacks = partial(missing_module, files=files, read=read, words=work.story.files)
        pairs = [(before[command], after[command]) for command in before]
        found = tests_first.verdict(pairs, files, trees.rewritten, lacks)
        found = replace(found, judge_files=trees.tests)
        if found.passed and (left_out := [path for path in trees.paths if path not in trees.tests]):
            found = replace(found, message=tests_first.left_out(left_out))
        checks = [Check(base=base, work=shown) for base, shown in pairs]
        return _judged(found, checks, commit if found.passed else None)

    def _check(self, work: Work, base: Shown, shown: Shown, earlier: Shown | None, trees: Trees) -> Check:
        # A check that named its tests on the base existed there, whatever files the work adds.
        files = self.workspace.files(work.base)
        there = of_files(base, files)
        came = not there.tests and (
            absent(base.command, files, self.workspace.files(work.snapshot.commit))
            or lacked(there, [path for path in trees.judging if path not in files])
        )
        return Check(
            base=tests_first.joined(earlier, there), work=shown, is_own=base.command in work.story.verify,
            came_with_work=came or found_no_test(there), lacks_file=there is not base, earlier=earlier,
        )  # fmt: skip

    def _with_causes(self, found: Verdict, work: Work, checks: Sequence[Check]) -> Verdict:
        """Return the verdict; where checks fail for a reason that only a person can remove, one that says so."""
        if found.passed:
            return found
        lacks = partial(self.trials.supply.lacking, work.base, work.snapshot.commit, failed=True)
        if any(lacks_package(check.work) for check in checks) and (lacking := lacks()):
            return replace(found, reason=Reason.VERIFICATION_UNRUNNABLE, message=lacking)
        files, red = self.workspace.files(work.snapshot.commit), [one for one in checks if not one.work.is_green]
        absent_tests = [path for one in red if one.is_own for path in unwritten(one.work.command, files)]
        if not absent_tests and found.reason is Reason.NOTHING_VERIFIED and found.as_before:
            return verdict_messages.nothing_shown(found, untouched=True)
        return verdict_messages.without_test_file(found, absent_tests[0]) if absent_tests else found

    def _trial(self, work: Work) -> Trial:
        return Trial(
            name=f"{work.story.id}-{work.attempt}", commit=work.snapshot.commit,
            commands=commands_of(work.story, self.run_input), story=work.story.id, attempt=work.attempt,
        )  # fmt: skip

    def _trees(self, work: Work) -> Trees:
        paths = [change.path for change in work.snapshot.changes]
        files = self._files(commands_of(work.story, self.run_input), work.base, work.story.files)
        return Trees(self.workspace, files, work.base, work.snapshot.commit, paths)

    def _trees_between(self, commands: Sequence[str], base: str, commit: str) -> Trees:
        files, paths = self._files(commands, base), self.workspace.changed(base, commit)
        return Trees(self.workspace, files, base, commit, paths)

    def _files(self, commands: Sequence[str], base: str, own: Sequence[str] = ()) -> JudgeFiles:
        """Return which files judge, by these commands, or by every check of the run if no command is given."""
        protected, known = self.run_input.verification.protected, self.workspace.files(base)
        commands = commands or self._commands(self.plan.stories)
        return JudgeFiles(commands, protected, own, known, partial(self.workspace.read, base))

    def _commands(self, stories: Sequence[Story]) -> tuple[str, ...]:
        """Return every check of these stories, and of the run, once."""
        own = (command for story in stories for command in commands_of(story, self.run_input))
        return tuple(dict.fromkeys((*own, *run_commands_of(self.plan, self.run_input))))

    def _weighed(self, found: Verdict, checks: Sequence[Check], trial: Trial, trees: Trees, stop: Stop) -> Verdict:
        """Return the verdict with its strength, or a refusal if no check can see the work."""
        found = replace(found, proof=verdict.strength(checks, trees.text_changed))
        if not found.passed or found.proof is not Proof.REGRESSION:
            return found  # a person is asked already, or a test shows the work
        # What is red now was red on the base too, or the verdict would be a failure.
        if red := [check for check in checks if not check.work.is_green]:
            if self.run_input.policy.takes_unproven:
                return verdict_messages.nothing_shown(
                    found, untouched=all(ends_alike(one.base, one.work) for one in red)
                )
        elif not self._can_see(checks, trial, stop):
            return verdict_messages.nothing_seen(found)
        return found

    def _held_to_policy(self, found: Verdict, work: Work, checks: Sequence[Check], trees: Trees) -> Verdict:
        """Return the verdict, or say what is missing if it is weaker than the policy asks for and nobody looks at the result."""
        policy, proof = self.run_input.policy, found.proof
        if not found.passed or proof is None or work.needs_no_proof or not policy.wants_proof:
            return found
        if _RANKS.index(proof) >= _RANKS.index(Proof(policy.proof)):
            return found
        if work.story.is_prose and all(check.work.is_green for check in checks):
            return found  # no test can show it; a check of its own that still fails does show that it is not done
        before, after = (partial(self.workspace.read, commit) for commit in (work.base, work.snapshot.commit))
        excuse = excuses.excuse(trees.paths, trees.files.tests, before, after, dict(work.evidence))
        return verdict_messages.unproven(found, policy.proof, checks, excuse)

    def _can_see(self, checks: Sequence[Check], trial: Trial, stop: Stop) -> bool:
        """Tell whether any of the checks notices broken work. Checks that could not be tried on the base are tried here."""
        green = [check.work for check in checks if check.work.is_green]
        if not any(self._sight.get(shown.command) for shown in green):
            self._look([trial], green, stop)
        return any(self._sight.get(shown.command, True) for shown in green)

    def _doubted(self, found: Verdict, work: Work, trees: Trees) -> Verdict:
        before, after = (partial(self.workspace.read, commit) for commit in (work.base, work.snapshot.commit))
        told = found.doubts + doubts(work.snapshot.changes, trees.files.judges, before, after)
        if lacking := self.trials.supply.lacking(work.base, work.snapshot.commit):
            told += (DoubtfulLine(path="", line=0, rule="dependencies", sentence=lacking, text=""),)
        return verdict_messages.with_doubts(found, told, self.run_input.policy.doubts) if told else found

    def _with_criteria(self, found: Verdict, work: Work, checks: Sequence[Check], trial: Trial, stop: Stop) -> Verdict:
        """Return the verdict with the test that shows each criterion. If evidence is required, a criterion without it fails."""

        def alone(command: str) -> tuple[Shown, Shown]:
            own = replace(trial, commands=[command])
            before = self.trials.results(own.on("evidence", work.base, as_base=True), stop)
            return before[command], self.trials.results(own.on("evidence", work.snapshot.commit), stop)[command]

        required = self.run_input.policy.evidence == "required"
        otherwise = "" if required else criteria_shown.from_document(checks)
        rows = criteria_shown.matrix(work.story.criteria, dict(work.evidence), checks, alone, otherwise)
        found = replace(found, criteria=rows)
        lacking = [work.story.name_of(row.id) for row in rows if not row.is_shown]
        return verdict_messages.without_evidence(found, lacking) if required and lacking and found.passed else found

    # Work of several stories together

    def tree(self, story: Story, name: str, commit: str, base: str | None, attempt: int, stop: Stop) -> Judged | None:
        try:
            return self._tree(story, name, commit, base, attempt, stop)
        except StoppedError:
            return None
        except SetUpFailedError as error:
            sound = base and self.trials.is_sound(f"{name}-base", base, stop)
            return _failed(Reason.STORY_VERIFICATION_FAILED if sound else Reason.VERIFICATION_UNRUNNABLE, str(error))

    def _tree(self, story: Story, name: str, commit: str, base: str | None, attempt: int, stop: Stop) -> Judged:
        commands = commands_of(story, self.run_input)
        trial = Trial(name=name, commit=commit, commands=commands, story=story.id, attempt=attempt or None)
        # The tree before is asked only where something fails on the one after it: what is green needs no comparison. Work that is
        # compared with all that came before it is shown by just that comparison.
        first = self.trials.results(trial, stop) if base and attempt else {}
        compared = base and not (first and all(shown.is_green for shown in first.values()))
        before = self.trials.results(trial.on("base", base, as_base=True), stop) if base and compared else None
        check = partial(self.trials.results, replace(trial, before=before), stop)
        trees = cache(
            lambda: self._trees_between(commands, base or commit, commit)
        )  # git is asked only where it matters
        after, flaky = _steadied(check, before or {}, lambda test: trees().text_changed(test), first)
        # Without a base to compare with, every failure is the story's own. Without an attempt, the failures of its own checks are.
        own = commands if not base else story.verify if not attempt else ()
        checks = [Check(base=(before or after)[one], work=after[one], is_own=one in own) for one in commands]
        found = replace(verdict.of_work(checks), flaky=flaky)
        if found.passed and base is not None:
            found = replace(found, proof=self._strength(checks, trial, trees, stop))
        return _judged(found, checks if before else ())

    def _strength(self, checks: Sequence[Check], trial: Trial, trees: Callable[[], Trees], stop: Stop) -> Proof | None:
        """Return how strongly the work of several attempts is shown, compared with the commit before all of it."""
        if verdict.is_proved(checks):
            return Proof.PROVED
        if trial.attempt or not trees().tests:
            return None
        new = self.trials.results(trial.on("new-tests", trees().with_new_tests()), stop)
        checks = [replace(check, new_tests=new[check.work.command]) for check in checks]
        proof = verdict.strength(checks, trees().text_changed)
        return proof if proof is Proof.OWN_TESTS else None

    def run(self, base: str, head: str, stories: Sequence[Story], accepted: Sequence[str], stop: Stop) -> Judged | None:
        try:
            return self._run(base, head, stories, accepted, stop)
        except StoppedError:
            return None
        except SetUpFailedError as error:
            return _failed(Reason.VERIFICATION_UNRUNNABLE, str(error))

    def _run(self, base: str, head: str, stories: Sequence[Story], accepted: Sequence[str], stop: Stop) -> Judged:
        check = partial(self._of_run, head, "run-check", stories, stop)
        now: _Found = check()
        trees = self._trees_between((), base, head)
        if not trees.judging and all(shown.is_green for shown in now.values()):
            return _judged(verdict.of_work([Check(base=shown, work=shown) for shown in now.values()]))
        then = self._of_run(base, "run-base", stories, stop, as_base=True)
        now, flaky = _steadied(check, then, trees.text_changed, now)
        checks = [Check(base=then[key], work=now[key]) for key in now]
        found = replace(verdict.of_work(checks), flaky=flaky)
        if found.passed and trees.judging:
            old = self._of_run(trees.with_old_tests(), "run-old-tests", stories, stop)
            checks = [replace(check, old_tests=old[key]) for check, key in zip(checks, now, strict=True)]
            found = verdict.of_old_tests(found, checks, trees)
            found = replace(_asking_about_loaded(found, trees), doubts=())  # a person was asked about each story
            found = verdict_messages.of_run(found, accepted, self.run_input.policy, trees.difference)
        return _judged(found, checks)

    def _of_run(
        self, commit: str, name: str, stories: Sequence[Story], stop: Stop, *, as_base: bool = False
    ) -> ByStory:
        """Return what the run's checks show on a commit; if it has none, the checks of its stories.

        A check that is not told its story runs once for all.
        """
        own = [("", command) for command in run_commands_of(self.plan, self.run_input)]
        of_stories = [(story.id, command) for story in stories for command in commands_of(story, self.run_input)]
        owned: dict[str, dict[str, None]] = {}
        for story, command in own or of_stories:
            owned.setdefault(story if is_told(command) else "", {})[command] = None
        found: ByStory = {}
        for story, commands in owned.items():
            label = f"{name}-{story}" if story else name
            trial = Trial(name=label, commit=commit, commands=tuple(commands), story=story, as_base=as_base)
            found |= {(story, command): one for command, one in self.trials.results(trial, stop).items()}
        return found


def _asking_about_loaded(found: Verdict, trees: Trees) -> Verdict:
    """Return the verdict with a doubt for tests that pass only with what the work has their runner load. It may be honest."""
    every = (found.eased, found.broken, found.changed)
    tests = list(filter(trees.steered, chain(*every)))
    if not tests:
        return found
    eased, broken, changed = (tuple(test for test in kind if test not in tests) for kind in every)
    loaded = ", ".join([path for path in trees.judging if path not in trees.tests][:3])
    more = f" and {len(tests) - 1} more fail" if len(tests) > 1 else " fails"
    sentence = f"the runner loads {loaded} before the tests; without this change {tests[0]}{more}"
    doubt = DoubtfulLine(path="", line=0, rule="loaded", sentence=sentence, text="")
    return replace(found, eased=eased, broken=broken, changed=changed, doubts=(doubt,))


def _steadied(
    run: Callable[[], _Found], base: _Found, changed: Tells, shown: _Found | None = None
) -> tuple[_Found, tuple[str, ...]]:
    """Return what checks show, after a second run if tests fail that pass on the base; and which of these are flaky.

    A test that is new or changed gets no second chance: only the work can be to blame.
    """
    shown = shown or run()
    unsure = {key: [test for test in fallen(base[key], shown[key]) if not changed(test)] for key in base}
    if not any(unsure.values()):
        return shown, ()
    again = run()
    found = {key: retried(one, again[key], unsure[key]) for key, one in shown.items()}
    return found, tuple(test for key, tests in unsure.items() for test in tests if test in again[key].passing)


def _judged(found: Verdict, checks: Sequence[Check] = (), tests: str | None = None) -> Judged:
    return Judged(verdict=found, record=verdict.document(found, checks), tests=tests)


def _failed(reason: Reason, message: str) -> Judged:
    """Return a failed verdict without checks, as for a tree whose set-up failed."""
    return _judged(Verdict(passed=False, proof=None, reason=reason, results=(), message=message))
