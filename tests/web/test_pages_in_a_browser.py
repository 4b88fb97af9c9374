"""The pages in a real browser: how they look, that they stay up to date, and that nobody else gets hold of them."""

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from santiago.app.loading import load, working
from santiago.contract.phases import RunPhase
from tests.cli import greeter, words
from tests.cli.inside import inside
from tests.tui.driving import waited
from tests.web.browser import PHONE, SECONDS, WIDE, chromium, violations
from tests.web.served import Served, served
from tests.web.world import SCREENS, whole

pytestmark = pytest.mark.xdist_group("browser")
LOST = "#lost:not([hidden])"


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return whole(tmp_path_factory.mktemp("browser"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def site(repo: Path, browser: Any) -> Iterator[Served]:
    with served(repo) as found:
        yield found


class Person:
    """A browser of one person; `wrong` has what its console complained about."""

    def __init__(self, browser: Any, link: str, **settings: Any) -> None:
        self.context = browser.new_context(**{"viewport": WIDE, **settings})
        self.context.set_default_timeout(SECONDS)
        self.wrong: list[str] = []
        self.page = self.new_page()
        self.page.goto(link)
        self.page.get_by_role("button", name="Open the pages").click()
        self.page.wait_for_selector("#needs")
        self.home = self.page.url

    def new_page(self) -> Any:
        page = self.context.new_page()
        page.on("console", lambda said: self.wrong.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        return page


@pytest.fixture
def person(browser: Any, site: Served) -> Iterator[Person]:
    found = Person(browser, site.another_link())
    yield found
    found.context.close()


@pytest.mark.parametrize("settings", [{}, {"viewport": PHONE, "color_scheme": "dark"}])
def test_every_screen_is_accessible_fits_and_has_nothing_to_complain_about(
    browser: Any, site: Served, settings: Any
) -> None:
    ann = Person(browser, site.another_link(), **settings)
    for screen in SCREENS:
        ann.page.goto(ann.home + screen)
        ann.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert violations(ann.page) == [], screen
        assert ann.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), screen
    ann.page.set_viewport_size({"width": 320, "height": 600})
    assert ann.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "400 % zoom"
    assert ann.wrong == []
    ann.context.close()


def test_hostile_titles_patches_and_output_are_inert(person: Person, site: Served) -> None:
    asked: list[str] = []
    person.page.on("request", lambda request: asked.append(request.url))
    person.page.on("dialog", lambda dialog: asked.append(dialog.message))
    for screen in (
        "",
        "runs/hostile",
        "runs/hostile/stories/S1",
        "runs/hostile/stories/S1/2",
        "runs/hostile/stories/S1/1/log",
        "runs/hostile/questions/S2-agent-1",
    ):
        person.page.goto(person.home + screen)
        person.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert "owned" not in person.page.title().replace("document.title='owned'", "")
        unseen = re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", person.page.content())
        assert unseen is None, f"a sign that turns what follows around, or that nobody sees: {screen}"
        assert (
            person.page.locator(
                "main iframe, main script, main img, main base, main meta, [onclick], main [style]"
            ).count()
            == 0
        )
    assert {one.split("/")[2] for one in asked} == {f"127.0.0.1:{site.port}"}
    assert person.wrong == []


def test_what_somebody_types_focus_and_folds_survive_a_hundred_updates(person: Person) -> None:
    page = person.page
    page.goto(f"{person.home}runs/failed/stories/S3")
    page.locator("#hint > summary").click()
    page.locator("#attempt-1 > summary").click()
    page.locator("#hint-text").fill("half an ans")
    result = page.evaluate(
        """async () => {
          const main = document.getElementById("main"), box = document.getElementById("hint-text");
          const parts = [...main.children].filter((one) => one.id).map((one) => one.id);
          const html = Object.fromEntries(parts.map((id) => [id, document.getElementById(id).outerHTML.replaceAll(" open=\\"\\"", "")]));
          let closed = 0;
          class Stream extends EventTarget { close() { closed += 1; } }
          let last; window.EventSource = class extends Stream { constructor(url) { super(); last = this; } };
          document.dispatchEvent(new Event("visibilitychange"));
          for (let at = 0; at < 100; at += 1) {
            const replaced = (id) => html[id].replace("Leave a hint", `Leave a hint ${at}`);
            const data = { cursor: `x-${at}`, all: parts, parts: parts.map((id) => ({ id, after: "", html: replaced(id) })) };
            last.dispatchEvent(new MessageEvent("news", { data: JSON.stringify(data) }));
          }
          return { text: box.value, same: box === document.getElementById("hint-text"), focus: document.activeElement === box,
            open: document.getElementById("attempt-1").open && document.getElementById("hint").open,
            news: document.querySelector("#hint > summary").textContent, cursor: main.dataset.cursor };
        }"""
    )
    assert result == {
        "text": "half an ans", "same": True, "focus": True, "open": True, "news": "Leave a hint 99", "cursor": "x-99"
    }  # fmt: skip


def test_what_is_recorded_is_seen_at_once_and_by_keys_a_question_is_answered_in_two_steps(
    person: Person, repo: Path
) -> None:
    page = person.page
    page.goto(f"{person.home}runs/asking")
    page.keyboard.press("a")
    page.wait_for_url("**/questions/S3-agent-1")
    page.locator("#answer-text").fill("a and s are letters here")
    page.get_by_role("button", name="adjust").click()
    page.get_by_text("tell the agent, in your own words").wait_for()
    page.get_by_role("link", name="Back, send nothing").click()
    assert page.locator("#answer-text").input_value() == "a and s are letters here"
    other = person.new_page()
    other.goto(page.url.partition("?")[0])
    other.get_by_text("The run is at rest").wait_for()
    page.get_by_role("button", name="adjust").click()
    page.get_by_role("button", name="Send this answer").click()
    page.get_by_text("S3-agent-1 is answered").first.wait_for()
    other.get_by_text("An answer was left").wait_for()
    assert load(repo / ".santiago/runs/asking").state.open_questions(), "only the run itself records it"
    assert person.wrong == []


def test_twenty_pages_at_once_load_and_are_told_what_changes(person: Person, repo: Path) -> None:
    pages = [person.new_page() for _ in range(20)]
    for page in pages:
        page.goto(f"{person.home}runs/failed/stories/S3/3/log")
    with (repo / ".santiago/runs/failed/attempts/S3/3/agent.log").open("a") as log:
        log.write("one more line\n")
    for page in pages:
        page.get_by_text("one more line").wait_for()
    for page in pages:
        page.close()


def test_without_javascript_a_question_is_answered_all_the_same(browser: Any, site: Served, repo: Path) -> None:
    ann = Person(browser, site.another_link(), java_script_enabled=False)
    ann.page.goto(f"{ann.home}runs/failed/stories/S4")
    ann.page.locator("#hint > summary").click()
    ann.page.locator("#hint-text").fill("retry with a delay")
    ann.page.locator("#hint").get_by_role("button", name="Show").click()
    ann.page.get_by_role("button", name="Send it").click()
    assert "the next attempt of S4 will see it" in ann.page.locator(".notice.good").inner_text()
    assert len(list((repo / ".santiago/runs/failed/inbox").glob("hint-S4-*"))) == 1
    ann.context.close()


def test_a_ticket_is_accepted_one_is_sent_back_and_one_is_decided_on(person: Person) -> None:
    page = person.page

    def opened(name: str) -> None:
        page.goto(f"{person.home}board")
        page.locator(f"#queues a[href$='/{name}']").click()
        page.wait_for_url(f"**/{name}")

    opened("T1")
    page.get_by_role("button", name="Accept").click()
    page.locator("#typed").fill("accept")
    page.get_by_role("button", name="Accept").click()
    page.get_by_text("T1 is done, and in the archive").wait_for()
    opened("AUTH.S0")
    page.locator("#ticket-move > summary").click()
    page.get_by_role("button", name="developer-todo").click()
    page.get_by_role("button", name="Move").click()
    page.get_by_text("AUTH.S0 is in developer-todo now").wait_for()
    opened("PAY-1")
    page.locator("#ticket-decide > summary").click()
    page.get_by_role("button", name="stop").click()
    page.get_by_role("button", name="Decide").click()
    page.get_by_text("PAY-1 is closed: stop").wait_for()
    assert person.wrong == []


def test_a_killed_server_is_told_what_was_typed_stays_the_run_goes_on_and_a_new_start_shows_all_of_it(
    browser: Any, tmp_path: Path
) -> None:
    repo, hold = words.make(tmp_path), tmp_path / "hold"
    hold.touch()
    (tmp_path / "agent.sh").write_text(f"while [ -e {hold} ]; do sleep 0.05; done\n{words.WRITES}")
    settings = f'[agent]\ncommand = ["sh", "{tmp_path}/agent.sh"]\n[policy]\nsandbox = "off"\nunproven = "accept"\n'
    (repo / "santiago.toml").write_text(f"{settings}[verification]\nstory_commands = ['{words.THERE}']\n")
    greeter.git(repo, "commit", "-qam", "An agent")
    assert inside("plan", "prd.md", cwd=repo, env=greeter.place(repo)).returncode == 0
    out_dir = greeter.out_dir(repo)
    with served(repo) as site:
        ann = Person(browser, site.link)
        ann.page.goto(f"{ann.home}runs/{out_dir.name}")
        ann.page.get_by_role("button", name="Begin").click()
        ann.page.locator("#typed").fill("agree")
        ann.page.get_by_role("button", name="Begin").click()
        ann.page.locator("#row-S1 .mark", has_text="running").wait_for()
        ann.page.goto(f"{ann.home}runs/{out_dir.name}/stories/S1")
        ann.page.locator("#change > summary").click()
        ann.page.locator("#change-text").fill("not lost")
        site.process.kill()
        ann.page.wait_for_selector(LOST, timeout=10_000)
        ann.page.locator("#change").get_by_role("button", name="Show").click()  # nothing is sent into the void
        assert ann.page.locator("#change-text").input_value() == "not lost"
    ann.context.close()
    hold.unlink()
    waited(lambda: load(out_dir).state.phase is RunPhase.SUCCESS and working(out_dir) is None)
    with served(repo) as site:
        bob = Person(browser, site.link)
        bob.page.goto(f"{bob.home}runs/{out_dir.name}")
        assert "success" in bob.page.locator("#head").inner_text()
        assert bob.page.locator(".stories .mark", has_text="done").count() == 3
        bob.context.close()


class Hostile(BaseHTTPRequestHandler):
    """An agent's server: it keeps the cookies that it gets, and leaves a worker that wants to act in the pages."""

    cookies: list[str]
    WORKER = """
      self.addEventListener("install", () => self.skipWaiting());
      self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
      self.addEventListener("fetch", (event) => {
        if (event.request.mode !== "navigate") return;
        event.respondWith(fetch(event.request).then(async (answer) => {
          const token = /name="token" value="([^"]*)"/.exec(await answer.clone().text());
          const body = new URLSearchParams({ token: token ? token[1] : "", act: "answer", run: "asking", question: "S3-agent-1", word: "defer" });
          const base = new URL(event.request.url).pathname.split("/")[1];
          const said = await fetch(`/${base}/ask`, { method: "POST", body, credentials: "include" });
          return new Response(`stolen ${said.status}`, { headers: { "content-type": "text/html" } });
        }));
      });"""

    def do_GET(self) -> None:
        self.cookies.append(self.headers.get("Cookie", ""))
        body, kind = b"<p>agent", "text/html"
        if self.path == "/worker.js":
            body, kind = self.WORKER.encode(), "text/javascript"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def test_an_agents_server_gets_no_cookie_and_a_worker_that_it_left_on_the_port_does_nothing(
    browser: Any, repo: Path
) -> None:
    Hostile.cookies = []
    agent = ThreadingHTTPServer(("127.0.0.1", 0), Hostile)
    threading.Thread(target=agent.serve_forever).start()
    port = agent.server_address[1]
    context = browser.new_context()
    context.set_default_timeout(SECONDS)
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{port}/")
    page.evaluate("navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready)")
    page.wait_for_function("navigator.serviceWorker.controller !== null")
    page.goto("about:blank")
    agent.shutdown()
    agent.server_close()
    with served(repo, port=port) as site:
        assert site.port == port
        page.goto(site.link)
        page.goto(site.link)  # the first answer has ended the worker
        page.get_by_role("button", name="Open the pages").click()
        page.wait_for_selector("#needs")
        page.reload()
        assert "stolen" not in page.content()
        other = ThreadingHTTPServer(("127.0.0.1", 0), Hostile)
        threading.Thread(target=other.serve_forever).start()
        page.goto(f"http://127.0.0.1:{other.server_address[1]}/")
        other.shutdown()
        other.server_close()
        assert set(Hostile.cookies) == {""}
    context.close()
