"""What the server answers, and to whom: each guard by itself, links, forms that work once, and answers that count once."""

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from copy import copy
from functools import partial
from hashlib import sha256
from pathlib import Path
from random import sample
from shutil import rmtree
from time import sleep

import pytest
from starlette.responses import Response

from santiago.app import page_address, requests
from santiago.app.loading import load
from santiago.artifacts.lock import Lock
from santiago.contract.errors import SantiagoError
from santiago.web.access import IDLE_S, MOST_LINKS, MOST_SESSIONS, MOST_STEPS, Access
from santiago.web.acting.step import Step
from santiago.web.guard import CSP, LARGEST, Address
from santiago.web.serving import LONGEST_HEAD, MOST_CONNECTIONS
from tests.cli import greeter
from tests.tui import made
from tests.web.served import Served, repository, served

pytestmark = pytest.mark.xdist_group("served")
ASKED = "S3-agent-1"
QUESTION = f"runs/asking/questions/{ASKED}"
ANSWER = {"act": "answer", "run": "asking", "question": ASKED, "word": "adjust", "text": "with 409 <b>"}


def landlocked(out_dir: Path) -> made.Made:
    run = made.asking_run(out_dir)
    fence = "landlock (kernel interface 7; not fenced: UDP)"
    run.add(made.K.RUN_STARTED, epoch=2, pid=1, host="here", agent="claude", jobs=1, sandbox=fence)
    return run


def large(out_dir: Path) -> made.Made:
    return made.Made(
        out_dir, made.document({name: tuple(f"Part {at} of {name}" for at in range(40)) for name in ("One", "Two")})
    )


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served")
    return repository(folder, large=large, failed=made.failed_run, locked=landlocked, asking=made.asking_run)


@pytest.fixture(scope="module")
def site(repo: Path) -> Iterator[Served]:
    with served(repo) as found:
        found.enter()
        yield found


def letters(repo: Path, run: str = "asking") -> list[dict[str, str]]:
    return [json.loads(path.read_text()) for path in sorted((repo / f".santiago/runs/{run}/inbox").glob("*.json"))]


def test_every_guard_refuses_by_itself_what_no_browser_at_the_printed_address_sends(site: Served, repo: Path) -> None:
    token = site.token()
    form = {"token": token, **ANSWER}
    port, base = site.port, site.base
    assert (site.get("").status, site.post("ask", form).status) == (200, 200)
    none: dict[str, str | None] = {}
    refused: list[tuple[str, int, str, dict[str, str | None]]]
    posted: list[tuple[str, int, dict[str, str | None], dict[str, str]]]
    refused = [
        ("another name that leads here", 421, "", {"Host": f"evil.example:{port}"}),
        ("the name that cookies of other ports share", 421, "", {"Host": f"localhost:{port}"}),
        ("another port", 421, "", {"Host": "127.0.0.1"}),
        ("outside of the random path", 404, "/", none),
        ("a path that was guessed", 404, f"{base[:-1]}_/", none),
        ("a worker's script", 403, "static/page.js", {"Service-Worker": "script"}),
        ("no session", 403, "", {"Cookie": None}),
        ("a session of another start", 403, "", {"Cookie": f"santiago-{port}=guessed"}),
        ("what a script asks for without a session", 403, "runs/failed", {"Cookie": None, "Sec-Fetch-Mode": "cors"}),
        ("a stream without a session", 403, "live?of=&since=", {"Cookie": None, "Sec-Fetch-Mode": "cors"}),
        ("no such page", 404, "runs/other", none),
        ("out of the folder of files", 404, "static/../pages.py", none),
    ]  # fmt: skip
    for told, status, path, headers in refused:
        assert site.get(path, **headers).status == status, told
    posted = [
        ("a foreign origin", 403, {"Origin": "https://evil.example"}, form),
        ("another port of this machine", 403, {"Origin": "http://127.0.0.1:1"}, form),
        ("the origin of a page without one", 403, {"Origin": "null"}, form),
        ("no origin", 403, {"Origin": None}, form),
        ("a form of another site", 403, {"Sec-Fetch-Site": "cross-site"}, form),
        ("a form of another port", 403, {"Sec-Fetch-Site": "same-site"}, form),
        ("no word on the site", 403, {"Sec-Fetch-Site": None}, form),
        ("what a script or a worker sends", 403, {"Sec-Fetch-Mode": "same-origin"}, form),
        ("a form without its token", 403, none, ANSWER),
        ("a form with the token of another session", 403, none, {**form, "token": "x" * 43}),
        ("no session", 403, {"Cookie": None}, form),
        ("what is no form", 415, {"Content-Type": "application/json"}, form),
        ("more than fits", 413, none, {**form, "text": "x" * LARGEST}),
        ("too many fields", 400, none, {**form, **{str(at): "" for at in range(99)}}),
        ("a step that was never shown", 409, none, {"token": token, "step": "x" * 43, "path": "send"}),
        ("an act that there is not", 409, none, {**form, "act": "rm"}),
        ("what is not offered now: it rests", 409, none, {"token": token, "act": "stop", "run": "failed"}),
    ]  # fmt: skip
    for told, status, change, sent in posted:
        assert site.post(sent.get("path", "ask"), sent, **change).status == status, told
    assert site.ask("PUT", "ask", "").status == 405
    assert site.ask("POST", f"{base}/static/page.js", "token=x").status in (403, 405)
    assert letters(repo) == [], "none of it reached the run"


def test_every_answer_forbids_what_a_page_does_not_need_and_no_answer_is_kept(site: Served) -> None:
    for answer in (
        site.get(""),
        site.get("static/page.js"),
        site.get("/"),
        site.get("", Cookie=None),
        site.get("", Host="x"),
    ):
        assert answer.headers["content-security-policy"] == CSP
        assert (answer.headers["cache-control"], answer.headers["referrer-policy"]) == ("no-store", "same-origin")
        assert "server" not in answer.headers


def test_the_library_in_the_pages_is_the_published_one_with_its_licence(site: Served) -> None:
    digest = (
        "4cbd535caf7663a51eda9bce6595371c384fc430d54b8d414e29a61167f19f96"  # dist/idiomorph.min.js of idiomorph 0.8.0
    )
    assert sha256(site.get("static/idiomorph/idiomorph.min.js").text.encode()).hexdigest() == digest
    assert "Zero-Clause BSD" in site.get("static/idiomorph/LICENSE").text


def test_a_link_works_once_and_its_second_use_is_refused_and_told_on_the_terminal(site: Served) -> None:
    link, before = site.another_link(), site.cookie
    path = link.partition(f":{site.port}")[2]
    for _ in range(2):  # looking does not use it up, as a program would that fetches a preview
        door = site.get(path, Cookie=None)
        assert (door.status, door.headers["clear-site-data"]) == (200, '"cache", "storage"')
    assert site.ask("POST", path, "", {"Origin": "null"}).status == 403
    assert site.get(path.removeprefix(site.base), Cookie=None).status == 404, "a link is only good below its path"
    cookie = site.enter(link)
    assert (cookie.status, cookie.headers["location"]) == (303, f"{site.base}/")
    set_by = cookie.headers["set-cookie"].lower()
    assert all(
        one in set_by for one in (f"path={site.base.lower()}", "httponly", "samesite=strict", f"santiago-{site.port}=")
    )
    again = site.ask("POST", path, "")
    assert (again.status, "used before" in again.text, "set-cookie" in again.headers) == (403, True, False)
    assert "was used before was opened again" in site.told()
    assert site.get(f"enter/{'x' * 43}").status == 404
    site.cookie = before


def test_a_browser_that_comes_from_another_site_gets_a_link_to_the_same_address(site: Served) -> None:
    came = site.get(f"{QUESTION}?x=%22%3E", Cookie=None, Sec_Fetch_Site="cross-site")
    assert (came.status, f'href="{site.base}/{QUESTION}?x=%22%3E"' in came.text) == (403, True)
    assert "not known here" in site.get(QUESTION, Cookie=None, Sec_Fetch_Site="none").text


def test_looking_at_every_page_changes_nothing(site: Served, repo: Path) -> None:
    def held() -> dict[str, str]:
        files = (path for path in (repo / ".santiago").rglob("*") if path.is_file())
        return {str(path): sha256(path.read_bytes()).hexdigest() for path in files}

    before = held()
    story = "runs/failed/stories/S3"
    for page in (
        "",
        "runs/failed",
        "runs/failed?filter=refund",
        QUESTION,
        story,
        f"{story}/3",
        f"{story}/3/log?find=pytest",
    ):
        assert site.get(page).status == 200, page
    assert held() == before


def test_an_answer_is_shown_as_it_was_understood_then_sent_once_and_a_second_one_is_told_who_was_first(
    repo: Path,
) -> None:
    with served(repo) as site:
        site.enter()
        token = site.token()
        step = site.post("ask", {"token": token, **ANSWER})
        assert "adjust &#34;with 409 &lt;b&gt;&#34;" in step.text
        assert "santiago answer" in step.text
        assert letters(repo) == [], "a first press does nothing"
        draft = site.get(f"{QUESTION}?draft={step.hidden('step')}")
        assert "with 409 &lt;b&gt;</textarea>" in draft.text, "going back loses nothing"
        other = site.post("ask", {"token": token, **ANSWER, "word": "defer", "text": ""})
        sent = {"token": token, "step": step.hidden("step")}
        assert site.post("send", sent).status == 303
        (letter,) = letters(repo)
        assert (letter["answer"], letter["text"], letter["via"], letter["actor"]) == (
            "adjust",
            "with 409 <b>",
            "page",
            "ann",
        )
        assert "S3-agent-1 is answered" in site.get("").text
        again = site.post("send", sent)
        assert (again.status, "was sent before" in again.text) == (409, True)
        late = site.post("send", {"token": token, "step": other.hidden("step")})
        assert (late.status, "was answered before, by ann at" in late.text) == (409, True)
        page = site.get(QUESTION).text
        assert "An answer was left" in page
        assert page.count('<button name="word"') == page.count(" disabled aria-describedby")
        assert len(letters(repo)) == 1
    rmtree(repo / ".santiago/runs/asking/inbox")


def one_of_three_counts(repo: Path, rounds: int) -> None:
    """Let two browsers and a terminal answer the same question at the same moment, so often; whoever is first is told so, the others by whom."""
    run = load(repo / ".santiago/runs/asking")

    def of_browser(browser: Served, token: str, step: str) -> tuple[str, str]:
        sent = browser.post("send", {"token": token, "step": step})
        assert sent.status in (303, 409), sent.text
        return browser.cookie if sent.status == 303 else "", sent.text

    def of_terminal() -> tuple[str, str]:
        try:
            return requests.answer(run, ASKED, "adjust", "terminal", text="terminal", via="terminal").letter.actor, ""
        except SantiagoError as error:
            return "", error.message

    with served(repo) as site, ThreadPoolExecutor(3) as pool:
        browsers = [site, copy(site)]
        for browser, link in zip(browsers, (site.link, site.another_link()), strict=True):
            browser.enter(link)
        tokens = [browser.token("asking") for browser in browsers]
        for _ in range(rounds):
            sides = list(zip(browsers, tokens, strict=True))
            steps = [
                browser.post("ask", {"token": token, **ANSWER, "text": browser.cookie}).hidden("step")
                for browser, token in sides
            ]
            answers: list[Callable[[], tuple[str, str]]] = [of_terminal]
            answers += [partial(of_browser, *side, step) for side, step in zip(sides, steps, strict=True)]
            sent = [pool.submit(answer) for answer in sample(answers, 3)]
            heard = [one.result() for one in sent]
            (first,) = filter(None, (who for who, _ in heard))
            assert [letter["text"] for letter in letters(repo)] == [first]
            assert all(who or "answered before, by" in words for who, words in heard), heard
            rmtree(run.out_dir / "inbox")


def test_two_browsers_and_a_terminal_answer_at_once_and_one_counts(repo: Path) -> None:
    one_of_three_counts(repo, 40)


def test_a_real_run_asks_on_the_page_hears_the_answer_from_there_and_stops_from_there(tmp_path: Path) -> None:
    prd = (
        "# PRD\n\n### R1: Say hello\n\n**Files:** `hello.txt`\n\n- [ ] hello\n\n**Verification:** `test -f hello.txt`\n"
    )
    repo = greeter.committed(
        tmp_path / "shop", {"prd.md": prd, "playbook.yaml": "stories: {}\n", ".gitignore": ".santiago/\n"}
    )
    words = (
        "run",
        "prd.md",
        "--agent",
        "scripted",
        "--playbook",
        "playbook.yaml",
        "--gate",
        "step",
        "--attended",
        "--trust-commands",
    )
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SANTIAGO_")}
    environment = {**clean, **greeter.place(repo)}
    with (tmp_path / "out").open("w") as out:
        run = subprocess.Popen(
            [sys.executable, "-m", "santiago", *words, "--sandbox", "off", "--no-input"],
            cwd=repo, env=environment, stdout=out, stderr=out,
        )  # fmt: skip
    with served(repo) as site:
        site.enter()
        while not (found := re.search(r'href="[^"]*/runs/([^/"]+)/questions/([^"]+)"', site.get("").text)):
            assert run.poll() is None, (tmp_path / "out").read_text()
            sleep(0.05)
        name, question = found.groups()
        form = {"act": "answer", "run": name, "question": question, "word": "adjust", "text": "as a file"}
        answer = site.act(form).text
        assert f"{question} is answered" in answer, re.findall("alert.*", answer)
        log = repo / ".santiago/runs" / name / "progress.ndjson"
        while '"via":"page"' not in log.read_text():
            assert run.poll() is None, (tmp_path / "out").read_text()
            sleep(0.05)
        assert "asked to stop at once" in site.act({"act": "stop", "run": name, "word": "now"}).text
        assert run.wait(60) == 130
        assert "Go on" in site.get(f"runs/{name}").text
        skip = {"act": "skip", "run": name, "story": "S1", "text": "no longer wanted"}
        assert "santiago skip began" in site.act(skip).text
        while not load(log.parent).state.stories["S1"].skipped or load(log.parent).worker:
            sleep(0.05)
        page = site.get(f"runs/{name}/stories/S1").text
        assert ("left out" in page, "What you can do" in page) == (True, False)
        assert "this cannot be done now" in site.act(skip).text


def test_a_large_plan_is_folded_and_each_chunk_has_an_address_that_unfolds_it(site: Served) -> None:
    assert "Part 7 of" not in site.get("runs/large").text
    page = site.get("runs/large?open=2").text
    assert ("Part 7 of Two" in page, "Part 7 of One" in page) == (True, False)
    assert "Part 7 of One" in site.get("runs/large?filter=part+7").text


def test_a_consent_shows_everything_needs_a_typed_word_and_a_refused_start_is_told(site: Served) -> None:
    token = site.token()
    form = {"token": token, "act": "go-on", "run": "failed", "attempts": "2", "minutes": "", "usd": "1.5"}
    step = site.post("ask", form)
    for shown in (
        "pytest -q tests/test_3.py",
        "2 more attempts",
        "$1.5 more",
        "--add-attempts 2 --add-cost 1.5",
        "<strong>agree</strong>",
    ):
        assert shown in step.text
    refused = site.post("send", {"token": token, "step": step.hidden("step"), "typed": ""})
    assert (refused.status, "needs the word" in refused.text) == (409, True)
    assert "began for failed" in site.act(form, "agree").text
    while "It did not start" not in (page := site.get("runs/failed").text):
        assert "Traceback" not in page
    for wrong in ({"attempts": "-1"}, {"attempts": "1.5"}, {"minutes": "nan"}, {"usd": "1e99"}, {"usd": "ten"}):
        assert site.post("ask", {**form, **wrong}).status == 404, wrong


def test_work_of_one_story_is_accepted_with_a_reason_and_a_typed_word(site: Served) -> None:
    form = {"act": "accept", "run": "failed", "story": "S3", "text": "tried it by hand"}
    step = site.post("ask", {"token": site.token(), **form}).text
    for shown in ("tried it by hand", "<strong>accept</strong>", "santiago accept .santiago/runs/failed S3 --why"):
        assert shown in step, shown
    assert "needs the word" in site.act(form).text
    assert "say why" in site.act({**form, "text": ""}).text
    assert "santiago accept began for failed" in site.act(form, "accept").text
    while "It did not start" not in (page := site.get("runs/failed/stories/S3").text):
        assert "Traceback" not in page


def test_a_run_whose_agents_can_read_the_browsers_files_gets_its_answers_by_command(site: Served) -> None:
    page = site.get(f"runs/locked/questions/{ASKED}").text
    assert ('name="word"' in page, "santiago answer .santiago/runs/locked" in page, "Landlock" in page) == (
        False,
        True,
        True,
    )
    answer = site.post("ask", {"token": site.token(), **ANSWER, "run": "locked"})
    assert answer.status == 403


def test_while_agents_work_that_can_read_the_browsers_files_nothing_else_is_answered_on_a_page_either(
    site: Served, repo: Path
) -> None:
    """A session of a browser is one for all runs: agents that read it could answer for others and move tickets."""
    form, ticket = {"token": site.token(), **ANSWER}, {"token": site.token(), "act": "ticket-move", "ticket": "T1"}
    step = site.post("ask", form).hidden("step")  # understood before, and sent too late
    with Lock(repo / ".santiago/runs/locked", since="2026-11-19T10:00:00Z"):
        refused = [site.post("ask", one) for one in (form, ticket)]
        refused.append(site.post("send", {"token": form["token"], "step": step}))
        page = site.get(QUESTION).text
    assert [(one.status, "while locked works" in one.text) for one in refused] == [(403, True)] * 3
    assert letters(repo) == []
    assert ('name="word"' in page, "santiago answer .santiago/runs/asking" in page) == (False, True)
    assert (site.post("ask", form).status, 'name="word"' in site.get(QUESTION).text) == (200, True)


def test_one_damaged_run_is_named_closes_no_other_page_and_is_shown_again_when_it_is_repaired(
    site: Served, repo: Path
) -> None:
    log = repo / ".santiago/runs/failed/progress.ndjson"
    whole = log.read_bytes()
    assert site.get("runs/failed").status == 200
    log.write_bytes(whole + b"{}\n" * 2)
    try:
        first, question, broken = (site.get(path) for path in ("", QUESTION, "runs/failed"))
    finally:
        log.write_bytes(whole)
    assert (first.status, "santiago audit failed" in first.text) == (200, True)
    assert (question.status, 'name="word"' in question.text) == (200, True)
    for shown in ("This cannot be shown", "runs/failed/progress.ndjson", "is damaged", "Restore the file from a copy"):
        assert shown in broken.text, shown
    assert site.get("runs/failed").status == 200


def test_pages_that_can_only_be_read_need_the_link_take_nothing_and_are_named_in_messages_while_they_are_there(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", greeter.place(repo)["XDG_STATE_HOME"])
    with served(repo, "--read-only") as site:
        assert site.get("").status == 403
        assert page_address.address(repo, "asking", ASKED) == f"{site.origin}{site.base}/{QUESTION}"
        site.enter()
        page = site.get(QUESTION)
        assert ('method="post"' in page.text, "santiago answer" in page.text) == (False, True)
        assert "can only be read" in site.post("ask", {"token": "x", **ANSWER}).text
    assert page_address.address(repo, "asking", ASKED) == "", "a server that ended has no pages"


def test_a_cookie_that_a_program_on_another_port_set_locks_nobody_out(site: Served) -> None:
    for tossed in (f"santiago-{site.port}=forged", "a[b=1", "=", "x" * 900):
        for cookies in (f"{site.cookie}; {tossed}", f"{tossed}; {site.cookie}"):
            assert site.get("", Cookie=cookies).status == 200, cookies


def test_a_connection_that_stops_asking_is_closed_and_a_page_that_is_told_what_changes_is_not(repo: Path) -> None:
    with served(repo, silent=1) as site, ExitStack() as open_ones:
        site.enter()
        head = f" HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\n"
        stream, silent, slow, endless = (
            open_ones.enter_context(socket.create_connection(("127.0.0.1", site.port), 60)) for _ in range(4)
        )
        stream.sendall(f"GET {site.base}/live?of=&since={head}Cookie: {site.cookie}\r\n\r\n".encode())
        slow.sendall(f"GET /{head}\r\n".encode())
        endless.sendall(f"GET /{head}X: {'x' * LONGEST_HEAD}".encode())
        assert b"404" in slow.recv(9999)
        slow.sendall(f"GET /{head}".encode())  # the beginning of another one
        assert b"400" in endless.recv(9999)
        while slow.recv(9999):
            pass
        assert silent.recv(1) == b""
        while b"event: alive" not in (heard := stream.recv(99999)):
            assert heard, "it was closed"


def test_more_connections_than_fit_are_refused(repo: Path) -> None:
    with served(repo) as site, ExitStack() as open_ones:
        site.enter()
        for _ in range(MOST_CONNECTIONS):
            open_ones.enter_context(socket.create_connection(("127.0.0.1", site.port), 60))
        assert site.get("").status == 503


def test_links_sessions_and_unsent_answers_end_when_they_rest_or_where_there_are_too_many() -> None:
    now = [0.0]
    access = Access(lambda: now[0])
    sessions = []
    for at in range(MOST_SESSIONS):
        now[0] = at
        sessions.append(access.enter(access.link()))
    names = [one.id for one in sessions]
    now[0] = IDLE_S
    assert access.session(names[0]), "a day has not passed"
    access.enter(access.link())
    assert (access.session(names[1]), bool(access.session(names[2]))) == (None, True), "the one that rested the longest"
    now[0] += IDLE_S + 1
    assert [name for name in names if access.session(name)] == []
    session, step = access.enter(access.link()), Step(title="", lines=(), command="", do=str, form={})
    tokens = [session.hold(step) for _ in range(MOST_STEPS + 1)]
    assert session.take(tokens[-1], "") is step
    with pytest.raises(SantiagoError, match="too old"):
        session.take(tokens[0], "")
    old = access.link()
    links = [access.link() for _ in range(MOST_LINKS)]
    assert (access.was_used(old), access.was_used(links[0])) == (None, False)


def test_no_pages_are_served_from_a_shell_of_a_run(repo: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SANTIAGO_")}
    started = subprocess.run(
        [sys.executable, "-m", "santiago", "serve"], cwd=repo, env={**clean, **greeter.place(repo), "SANTIAGO_RUN": "asking"},
        input="", capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (started.returncode != 0, "/enter/" in started.stdout) == (True, False)


@pytest.mark.parametrize("name", ["", "page.example.org"])
def test_a_cookie_of_a_tunnel_travels_over_https_alone(name: str) -> None:
    response, access = Response(), Access()
    found = access.enter(access.link())
    Address(port=1, path="/x", host_name=name).set_cookie(response, found)
    assert ("secure" in response.headers["set-cookie"].lower()) == bool(name)


def test_a_tunnel_has_its_own_name(repo: Path) -> None:
    with served(repo, "--host-name", "page.example.org") as site:
        assert site.link.startswith("https://page.example.org/")
