"""`santiago report`: one file that says what a run's log and files say, shows nothing of this machine, and does nothing."""

import base64
import hashlib
import os
import random
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from unittest.mock import patch

import pytest

from santiago.app.loading import load
from santiago.report import handout
from santiago.report.handout import LARGEST, document
from santiago.report.matrix import NO_TEST
from santiago.report.outward import fitted
from santiago.report.timeline import timeline
from santiago.web import drawing
from tests.cli.inside import inside
from tests.tui.made import PATCH, Made, running_run
from tests.web import browser, reports

TAGS = {
    "a", "blockquote", "body", "caption", "code", "dd", "details", "div", "dl", "dt", "footer", "g", "h1", "h2", "h3", "h4", "h5", "head",
    "header", "html", "li", "line", "main", "meta", "nav", "p", "path", "pre", "rect", "section", "small", "span", "strong", "style",
    "summary", "svg", "table", "tbody", "td", "text", "tfoot", "th", "thead", "title", "tr", "ul",
}  # fmt: skip
ATTRIBUTES = {
    "aria-hidden", "aria-label", "aria-labelledby", "charset", "class", "colspan", "content", "d", "data-sign", "height", "href",
    "http-equiv", "id", "lang", "name", "open", "role", "rx", "scope", "tabindex", "title", "transform", "viewbox",
    "width", "x", "x1", "x2", "y", "y1", "y2",
}  # fmt: skip


class Parts(HTMLParser):
    """What a page consists of."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags, self.attributes, self.links, self.inside = Counter[str](), set[str](), set[str](), ""
        self.texts = dict[str, str]()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag
        self.tags[tag] += 1
        self.attributes |= {name for name, _ in attrs}
        self.links |= {value or "" for name, value in attrs if name in ("href", "src", "action")}

    def handle_data(self, data: str) -> None:
        self.texts[self.inside] = self.texts.get(self.inside, "") + data


def made(make: object, tmp_path: Path, *words: str) -> Path:
    assert callable(make)
    make(tmp_path / "run", *words)
    return tmp_path / "run"


def written(run: Path, *words: str, cwd: Path | None = None, **env: str) -> str:
    inside("report", run, "-o", run.parent / "out.html", *words, cwd=cwd or run.parent, env=env, code=0)
    return (run.parent / "out.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("seed", range(3))
def test_no_text_of_anybody_becomes_a_part_of_the_page(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    more = "".join(
        chance.choice([*reports.HOSTILE, "<", ">", '"', "'", "&", "]]>", "<!--", "-->", "\\"]) for _ in range(seed * 4)
    )
    page = written(made(reports.hostile, tmp_path, more.replace("\n", " ")))
    parts = Parts(page)
    assert (set(parts.tags) - TAGS, parts.attributes - ATTRIBUTES) == (set(), set())
    assert {link for link in parts.links if not re.fullmatch(r"#[\w.-]+", link)} == set()
    assert [parts.tags[tag] for tag in ("title", "style", "head", "body", "main", "h1")] == [1] * 6
    assert "<script>document.title='owned'</script>" in parts.texts["h1"]
    assert "{{ 7 * 7 }}" in page
    assert re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page) is None
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert policy
    assert style
    assert policy.start() < style.start()
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert (
        policy[1].replace("&#39;", "'")
        == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def test_it_is_the_same_wherever_it_is_made_and_names_no_place_of_this_machine(tmp_path: Path) -> None:
    home, name = tmp_path / "home", os.uname().nodename
    run = home / "shop" / "run"
    run.parent.mkdir(parents=True)
    world = reports.eventful(run)
    told = f"File {run}/x.py\nFile file://{run.parent}/y.py\n{home}/.ssh/id\n{home}er\nat {name}:22, {name.upper()}\n/root-like\n"
    world.files("S1", 1, critique_md=told, changes_patch=PATCH.replace("return 409", f'return "{home}"'))
    page = written(run, HOME=str(home), TZ="UTC")
    assert page == written(run, HOME=str(home), TZ="Asia/Tokyo", cwd=home)
    both = page + inside("report", run, "--json", cwd=home, env={"HOME": str(home)}, code=0).stdout
    assert [place for place in (f"{home}/", f'{home}"', str(run)) if place in both] == []
    assert re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", both, re.IGNORECASE) is None
    for shown in ("File &lt;run&gt;/x.py", "~/.ssh/id", "at &lt;host&gt;:22, &lt;host&gt;", f"{home}er"):
        assert shown in page, shown


def test_it_shows_every_wait_every_attempt_and_what_shows_each_criterion(tmp_path: Path) -> None:
    run = load(made(reports.eventful, tmp_path))
    assert [(one.kind, one.reason, bool(one.until)) for one in run.history.rests] == [
        ("wait", "agent_rate_limited", True), ("stop", "agent_asked", True), ("crash", "", True), ("stop", "attempt_budget_exhausted", False),
    ]  # fmt: skip
    rows = timeline(run)
    assert [row["why"] for row in rows if row["kind"] == "rest"] == [
        "rate limit",
        "stopped: agent_asked",
        "interrupted: nobody worked on it",
    ]
    assert [f"{row['story']}/{row['attempt']}" for row in rows if row["kind"] == "attempt"] == [
        "S1/1", "S1/2", "S2/1", "S2/2", "S3/1", "S3/2", "S3/3", "S4/1", "S4/2", "S4/3",
    ]  # fmt: skip
    bars = [bar for row in drawing.timeline(rows) for bar in row["bars"]]
    assert all(bar["x"] >= 0 and bar["x"] + bar["width"] <= drawing.LONG + 0.2 for bar in bars)
    assert max(bar["width"] for bar in bars if bar["kind"] == "wait") < 10  # folded: they took most of the time
    told = document(run)
    assert [(row["criterion"], row["mark"]["word"]) for row in told["evidence"]] == [
        ("R1#1", "shown"), ("R1#2", "shows nothing"), ("R2#1", "shown"), ("R3#1", "not proven"), ("R4#1", "failed"), ("R5#1", "ready"),
    ]  # fmt: skip
    page = written(run.out_dir)
    for shown in (
        "4 h 50 min: rate limit",
        NO_TEST,
        "AssertionError: 28 != 29",
        "as the tests say",
        run.log_hash,
        "santiago audit r_20261115_0117",
    ):
        assert shown in page, shown
    (answer,) = told["answers"]
    assert (answer["answer"], answer["who"], answer["story"]) == ("409", "ann", "S3")
    assert told["left"]["stories"] == ["S4", "S5"]
    assert [part["title"] for part in told["left"]["parts"]] == ["Later"]


def test_what_is_left_out_is_absent_and_what_it_holds_is_said_before_it_is_sent(tmp_path: Path) -> None:
    run = made(reports.eventful, tmp_path)
    said = inside("report", run, cwd=tmp_path, code=0).stdout
    assert "5 stories, 10 attempts; source of 1 file in 3 patches; 2 pieces of output; 1 answer of people" in said
    assert (run / "report.html").read_text().count("return 409") == 3
    page = written(run, "--without", "patches,output,answers")
    assert [
        word for word in ("return 409", "28 != 29", "as the tests say", "1 failed, 3 passed in", "ann,") if word in page
    ] == []
    assert "Left out: patches, output, answers." in page
    assert "src/refund/api.py" in page  # which files an attempt changed is no source
    refused = inside("report", run, "--without", "patch", cwd=tmp_path, code=2).stderr
    assert "--without takes patches, output, answers" in refused


def test_a_run_that_is_not_finished_says_so_also_one_that_has_not_begun(tmp_path: Path) -> None:
    page = written(made(running_run, tmp_path))
    assert ("This run is not finished." in page, "under way" in page) == (True, True)
    planned = tmp_path / "planned"
    Made(planned / "run")
    page = written(planned / "run")
    assert ("This run is not finished." in page, "Nothing was attempted." in page) == (True, True)
    assert "This run is not finished." not in written(made(reports.eventful, tmp_path / "ended"))


def test_a_large_run_stays_small_and_says_what_was_cut(tmp_path: Path) -> None:
    """`python -m benchmarks report` makes one of 500 stories, and opens it."""
    run = made(lambda out_dir: reports.large(out_dir, 80), tmp_path)
    with patch.multiple(handout, LARGEST=450_000, SMALLEST=100_000):
        page = written(run)
    parts = Parts(page)
    assert (parts.tags["h5"], len(page.encode()) <= 450_000) == (100, True), len(page.encode())
    cuts = re.findall(r"(\d+) lines? more, cut here", page)
    assert len(cuts) > 0
    assert f"{len(cuts)} long texts were cut" in page
    assert parts.tags["rect"] - 2 * 100 == 4  # the plan is drawn by its chunks


def test_long_texts_share_the_room_and_short_ones_stay_whole() -> None:
    texts = [{"text": "line\n" * lines, "cut": 0} for lines in (2, 500, 1000, 3)]
    assert fitted(texts, 2000, len) == 2
    assert [text["cut"] for text in texts] == [0, 303, 803, 0]
    assert sum(len(str(text["text"])) for text in texts) <= 2000
    assert LARGEST < 3_000_000


def test_a_browser_opens_it_with_one_request_and_no_complaint_and_nothing_hostile_happens(tmp_path: Path) -> None:
    pages = [
        made(make, tmp_path / name) for name, make in (("hostile", reports.hostile), ("eventful", reports.eventful))
    ]
    for run in pages:
        written(run)
    with browser.chromium() as chromium:
        for run, size, scheme in (
            (pages[0], browser.WIDE, "light"), (pages[1], browser.PHONE, "dark"), (pages[1], {"width": 320, "height": 640}, "light"),
        ):  # fmt: skip
            context = chromium.new_context(viewport=size, color_scheme=scheme)
            page, asked, said = context.new_page(), list[str](), list[str]()
            page.set_default_timeout(browser.SECONDS)
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.on("console", lambda message, said=said: said.append(message.text))
            page.on("dialog", lambda dialog, said=said: said.append(dialog.message))
            page.goto((run.parent / "out.html").as_uri())
            assert (len(asked), said, len(context.pages)) == (1, [], 1)
            assert page.title() != "owned"
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
            page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            if size["width"] > 320:
                assert browser.violations(page) == []
            context.close()
