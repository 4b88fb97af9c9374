"""`santiago init`: find the repository's test command, try it, and write commands that run into santiago.toml."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from santiago.app.agents_md import put, remove
from santiago.app.candidates import Candidates, Found, detect, environments, scripts
from santiago.app.config import run_input_defaults
from santiago.app.paths import typed
from santiago.app.settings_file import Written, settings
from santiago.app.trying import NO_TEST_YET, Tried, bench
from santiago.artifacts import run_locations
from santiago.artifacts.files import write_whole
from santiago.cli.consent import trust_own
from santiago.cli.view.terminal import paint, say, show_data
from santiago.contract.errors import Kind, SantiagoError
from santiago.contract.reasons import Reason
from santiago.process.server import ProcessServer
from santiago.report.measures import of_checks, span
from santiago.util.text import harmless

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from santiago.app.candidates import Script
    from santiago.app.trying import Bench
    from santiago.contract.policy import RunInput
    from santiago.contract.ports.judge import Proposal
    from santiago.report.page import Tone

_TONES: dict[str, Tone] = {"runs": "good", "red": "warn", "cannot_run": "bad", "blind": "bad"}


def init(commands: tuple[str, ...], untried: bool, force: bool, agents_md: bool | None, as_json: bool) -> None:
    """Write santiago.toml with checks that were seen to run here, or the block for coding agents."""
    root = run_locations.find_root(Path.cwd()) or Path.cwd()
    if agents_md is not None:
        told = (put if agents_md else remove)(root)
        show_data({"message": told}) if as_json else say(told)
        return
    target = root / "santiago.toml"
    run_locations.refuse_linked(root / ".santiago")
    if target.exists() and not force:
        raise SantiagoError(
            Kind.USAGE,
            "santiago.toml is already there",
            where=str(target),
            hint="Edit it, or use --force to replace it; `santiago doctor --checks` tries the checks that it has.",
        )
    given = [[Found(test, "--verify")] for test in commands]
    candidates = Candidates(parts=given) if given else detect(root)
    beside = [] if given else [one for one in scripts(root) if one.kind != "build"]
    run_input = _run_input(root)
    seen = None if untried else _seen(candidates, beside, run_input, is_given=bool(given), quiet=as_json)
    written = seen or Written(checks=candidates.likely, untried=True)
    written = replace(written, provide=run_input.workspace.provide)
    run_locations.keep_out_of_git(root / ".santiago")
    write_whole(target, settings(written).encode())
    trust_own(root)
    if as_json:
        show_data(_data(target, written))
    else:
        _show(root, written)


def _run_input(root: Path) -> RunInput:
    """Return the settings without the new file, with the folders of dependencies that exist here."""
    found = run_input_defaults(root, project=False)
    folders = dict.fromkeys((*found.workspace.provide, *environments(root)))
    return replace(found, workspace=replace(found.workspace, provide=tuple(folders)))


def _seen(
    candidates: Candidates, beside: Sequence[Script], run_input: RunInput, *, is_given: bool, quiet: bool
) -> Written:
    """Try the candidates; raise if a check that the user named cannot judge work."""
    if not candidates.likely and not beside:
        return Written()
    server = ProcessServer()  # forked before there are threads
    try:
        with bench(run_input, server) as place:
            search = _Search(place, is_given=is_given, quiet=quiet)
            found = search.chosen(candidates)
            found += search.green(beside, found)
    except SantiagoError as error:
        if error.reason is Reason.INVALID_INPUT:  # there is no commit to make a checkout of
            error.hint = f"{error.hint} `santiago init --no-try` writes a check without running it.".strip()
        raise
    finally:
        server.close()
    return Written(checks=found, tried=search.tried, in_vain=search.in_vain)


class _Search:
    """Tries the candidates until one of each part runs."""

    def __init__(self, place: Bench, *, is_given: bool, quiet: bool) -> None:
        self.tried: list[Tried] = []
        self.in_vain: list[Tried] = []
        """Commands that were tried for parts that no check tests now."""
        self._place, self._is_given, self._quiet = place, is_given, quiet

    def chosen(self, candidates: Candidates) -> list[Found]:
        self._say(f"trying {self._place.place}")
        if self._place.unseen:
            self._say(f"  note: there are uncommitted changes, such as {self._place.unseen}, which no checkout has")
        for gap in self._place.gaps:
            self._say(f"  note: {harmless(gap)}")
        whole = self._first(candidates.whole)
        if whole is not None:
            return [whole]
        return [found for ways in candidates.parts if (found := self._first(ways))]

    def green(self, beside: Sequence[Script], tests: Sequence[Found]) -> list[Found]:
        """Return the lint and typecheck commands that pass now. One that already fails could not judge any story."""
        like = next((one for one in tests if one.setup or one.lent), Found("", ""))
        ways = [like._replace(test=one.command, because=one.because) for one in beside]
        return [way for way in ways if self._try(way).state == "runs"]

    def _first(self, ways: Sequence[Found]) -> Found | None:
        """Return the first way that runs. Proposals for ways that do not run are tried after them."""
        left, known, before = deque(ways), {way._replace(because="") for way in ways}, len(self.tried)
        failing = None
        while left:
            way = left.popleft()
            tried = self._try(way)
            if tried.is_hopeful:
                return way
            failing = failing or (way if tried.is_usable else None)
            further = self._further(way, tried.proposal)
            if further and (new := further._replace(because="")) not in known:
                known.add(new)
                # What was lent has been seen to help. A set-up may take long, and other ways need none.
                (left.appendleft if further.lent else left.append)(further)
        if failing is not None:
            return failing
        if self._is_given and ways:
            raise _unusable(self.tried[-1])
        self.in_vain += self.tried[before:]
        return None

    def _further(self, way: Found, proposal: Proposal | None) -> Found | None:
        """Return a proposal as a way to try; None if it would replace a check that the user named."""
        if proposal is None or (self._is_given and proposal.check != way.test):
            return None
        return Found(
            proposal.check, way.because, proposal.setup or way.setup,
            (*way.copy, *proposal.copy), (*way.provide, *proposal.provide), (*way.env, *proposal.env),
        )  # fmt: skip

    def _try(self, way: Found) -> Tried:
        self._say(f"  {harmless(way.test)}")
        if way.setup:
            self._say(f"      after set-up, with the network: {harmless(way.setup)}")
        for key, names in way.lent.items():
            self._say(f"      with {key} under [workspace]: {harmless(', '.join(names))}")
        tried = self._place.tried(way.test, [way.setup] if way.setup else [], way.lent)
        self.tried.append(tried)
        self._say(f"      {paint(harmless(tried.text), _TONES[tried.state])}   {span(tried.ms)}")
        return tried

    def _say(self, text: str) -> None:
        if not self._quiet:
            say(text, err=True)


def _unusable(tried: Tried) -> SantiagoError:
    return SantiagoError(
        Kind.BLOCKED,
        f"`{tried.command}` {tried.text}, so nothing was written",
        hint=f"{tried.fix} `--no-try` writes it nevertheless.".strip(),
        reason=Reason.NOTHING_VERIFIED if tried.state == "blind" else Reason.VERIFICATION_UNRUNNABLE,
    )


def _data(target: Path, written: Written) -> dict[str, Any]:
    return {
        "wrote": str(target),
        "checks": [found._asdict() for found in written.checks],
        "untried": written.untried,
        "tried": [tried.to_data() for tried in written.tried],
    }


def _show(root: Path, written: Written) -> None:
    for one in written.checks:
        say(f"{paint('Found', 'good', stderr=False)}  {one.test}   (because of {one.because})")
    for tried in written.usable:
        if tried.state == "red":
            mild = "; failures from before a story do not count against it" if tried.is_hopeful else ""
            say(f"  note: `{tried.command}` {harmless(tried.text)}{mild}")
    if chosen := [tried.once_ms for tried in written.usable]:
        say(f"Takes  {of_checks(sum(chosen))}")
    if any(tried.text == NO_TEST_YET for tried in written.usable):
        say(
            "  note: there are no tests yet: each story brings its own, and --tests-first has them written before the work"
        )
    if not written.checks:
        _show_nothing(written)
    say("Wrote  santiago.toml, .santiago/.gitignore")
    begin = (
        "git init && git add -A"
        if run_locations.find_root(root) is None
        else f"git add {typed(root / 'santiago.toml')}"
    )
    say(f'next:  {begin} && git commit -m "Set santiago up"', verbatim=True)
    document = likely_document(root)
    check = "" if written.checks else ' --verify "CMD"'
    say(f"       santiago run {'YOUR-PRD.md' if document is None else typed(document)}{check}", verbatim=True)


def _show_nothing(written: Written) -> None:
    what = "No test command could be made to run." if written.tried else "No test command was found."
    say(paint(what, "warn", stderr=False))
    ways = {(tried.command, tried.setup) for tried in written.in_vain}
    fixes = dict.fromkeys(tried.fix for tried in written.in_vain if tried.fix and not _was_tried(tried, ways))
    for fix in fixes:
        say(f"  fix: {harmless(fix)}")
    again = (
        f"{'' if fixes else 'install what it needs, '}then: santiago init --force, or name one"
        if written.tried
        else "name the command that will run your tests (there may be none yet)"
    )
    say(f"  fix: {again}: santiago init --force --verify 'CMD'")


def _was_tried(tried: Tried, ways: Collection[tuple[str, tuple[str, ...]]]) -> bool:
    """Tell whether what was proposed for a command was tried, too, and so is no remedy."""
    way = tried.proposal
    if way is None or (way.check == tried.command and not way.setup):
        return False
    return (way.check, (way.setup,) if way.setup else tried.setup) in ways


_TELLING = ("prd", "requirements", "user-stories", "user_stories", "stories", "spec", "tasks")
"""Parts of names of requirements documents, the most certain first."""


def likely_document(root: Path) -> Path | None:
    """Return the document that a run would most likely use; None if no name tells."""
    found = [path for place in ("docs", ".") for path in sorted((root / place).glob("*.md"))[:500]]
    named = [(word, path) for word in _TELLING for path in found if word in path.stem.lower()]
    return named[0][1] if named else None
