"""Secrets in environment, prompt and output appear nowhere under the out-dir, in no encoding, however they are cut (P19)."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from santiago.contract import codec
from santiago.contract.codec import sealed
from santiago.contract.plan import Plan
from santiago.process.redact import SHORTEST, fold
from tests.cli.santiago import santiago
from tests.process.writing import WRITTEN
from tests.web.served import served

ROOT = str(Path(__file__).parents[2])
SECRETS = {"ACME_API_KEY": "acme-7Qz!w0rd/x+Y9&\"pl'ün==", "DEPLOY_TOKEN": "xk93jd02mfkq81lsvbn4"}
PRD = """\
# PRD: Leaks

### R1: Write what the check wants

**Files:** `work.txt`

- [ ] work.txt is there

### R2: Ask

Depends on: R1

**Files:** `more.txt`

- [ ] more.txt is there
"""

AGENT = """\
import os, random, subprocess, sys, zlib
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.process.writing import WRITTEN

story, attempt = os.environ["SANTIAGO_STORY"], os.environ["SANTIAGO_ATTEMPT"]
chance = random.Random(f"{sys.argv[2]}/{story}/{attempt}")
secrets = {name: os.environb[name.encode()] for name in sys.argv[3:]}
prompt = sys.stdin.buffer.read()
output = prompt.replace(b"SANTIAGO_QUESTION", b"") + Path(os.environ["SANTIAGO_PROMPT_FILE"]).read_bytes()[:500]
for name, secret in secrets.items():
    for encoding, write in WRITTEN.items():
        written = write(secret)
        output += b"--header 'X: " + written + b"' sent " + encoding.encode() + b"\\n"
        if (story, attempt) == ("S1", "1"):
            Path(f"leak {name} {encoding}.txt").write_bytes(b"leak: " + written + b"\\n")
            Path(f"together {chance.random()}.txt").write_bytes(written)
            Path(secret.decode().replace("/", "_")).touch()
while output:  # each piece is a write of its own
    size = chance.choice([1, 2, 7, 40, 500, 5000])
    os.write(chance.choice([1, 2]), output[:size])
    output = output[size:]
plain = secrets["DEPLOY_TOKEN"].decode()
if story == "S2" and not Path("more.txt").exists() and "use the other one" not in prompt.decode():
    print(f"SANTIAGO_QUESTION: is {plain} right, or {secrets['ACME_API_KEY'].hex()}?", flush=True)
    sys.exit()
Path("more.txt" if story == "S2" else "work.txt").write_text(attempt)
Path("sealed").write_bytes(zlib.compress(b"\\n".join(secrets.values())))  # where nobody finds them, for the check to tell
subprocess.run(["git", "add", "-A"]); subprocess.run(["git", "commit", "-qm", f"With {plain}"])
print(f"done, the key is {plain}")
"""
CHECK = """\
import os, sys, zlib
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.process.writing import WRITTEN
for secret in zlib.decompress(Path("sealed").read_bytes()).split(b"\\n") if Path("sealed").exists() else ():
    for write in WRITTEN.values():
        sys.stdout.buffer.write(b"FAILED " + write(secret) + b"\\n")
sys.stdout.flush()
assert not [value for name, value in os.environ.items() if name in ("ACME_API_KEY", "DEPLOY_TOKEN")], "a check sees secrets"
sys.exit(not Path("work.txt").exists() or Path("work.txt").read_text() < "3")
"""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "prd.md").write_text(PRD)
    (repo / "check.py").write_text(CHECK)
    (tmp_path / "agent.py").write_text(AGENT)
    command = [sys.executable, str(tmp_path / "agent.py"), ROOT, "seed", *SECRETS]
    settings = f'[agent]\ncommand = {json.dumps(command)}\n[policy]\nsandbox = "off"\n'
    settings += f"[workspace]\nenv = {json.dumps(list(SECRETS))}\n"
    settings += f'[verification]\nstory_commands = ["{sys.executable} check.py {ROOT}"]\nprotected = ["check.py"]\n'
    (repo / "santiago.toml").write_text(settings)
    git(repo, "init", "-q", "-b", "main", ".")
    git(repo, "config", "user.name", "Ann")
    git(repo, "config", "user.email", "ann@example.org")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "Start")
    return repo


def git(repo: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=repo, check=True, capture_output=True)


def call(repo: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return santiago(*words, cwd=repo, env={**SECRETS, "XDG_CACHE_HOME": str(repo.parent / "cache"), "CI": ""})


def leaks(folder: Path) -> list[str]:
    """Return each file that shows a secret in any encoding, as it stands or with other letters and signs around it."""
    found = []
    for path in sorted(folder.rglob("*")):
        data = path.read_bytes() if path.is_file() else b""
        loose, name = fold(data), str(path.relative_to(folder))
        for variable, secret in SECRETS.items():
            found += [f"{name}: name" for _ in [0] if secret.replace("/", "_") in name]
            for encoding, write in WRITTEN.items():
                written = write(secret.encode()).strip()
                core = fold(written)[8:-12] if "base64" in encoding else fold(written)
                if written in data or (len(core) >= SHORTEST and core in loose):
                    found.append(f"{name}: {variable} as {encoding}")
    return found


def test_no_secret_of_the_environment_is_anywhere_in_the_out_dir(repo: Path) -> None:
    assert len(WRITTEN) >= 17
    ran = call(repo, "run", "prd.md", "--out-dir", "../out")
    out = repo.parent / "out"
    assert ran.returncode == 10, ran.stderr  # a question is open
    (asked,) = [event["context"] for event in events(out) if event["event"] == "question_asked"]
    assert asked["text"] == "is [redacted] right, or [redacted]?"
    plain = SECRETS["DEPLOY_TOKEN"]
    assert (
        call(
            repo, "answer", str(out), asked["question"], "adjust", "--text", f"use the other one, not {plain}"
        ).returncode
        == 0
    )
    assert call(repo, "resume", str(out), "--hint", "S2", f"or {SECRETS['ACME_API_KEY']}").returncode == 0
    # The first attempt leaks into the work, which is refused; the second only into what its check prints, which fails.
    for file in ("prompt.md", "agent.log", "changes.patch", "critique.md", "verification.json", "outcome.json"):
        assert (out / "attempts/S1/2" / file).stat().st_size > 0
    reasons = [event["context"].get("reason") for event in events(out) if event["status"] == "failed"]
    assert reasons == ["secret_in_work", "story_verification_failed"]
    assert (out / "attempts/S1/1/agent.log").read_bytes().count(b"[redacted]") >= len(WRITTEN) * len(SECRETS)
    assert b"[redacted]" in (out / "attempts/S1/3/prompt.md").read_bytes()
    assert b"[redacted]" in (out / "attempts/S1/1/changes.patch").read_bytes()
    assert any((out / "inbox/done").iterdir())
    told = call(repo, "report", str(out)).stdout
    assert ("of output" in told, (out / "report.html").read_bytes().count(b"[redacted]") > 10) == (True, True), told
    assert leaks(out) == []
    assert call(repo, "audit", str(out)).returncode == 0
    # What came into the folder by another hand is redacted on the way out, too.
    planted = b"\n".join(write(secret.encode()) for secret in SECRETS.values() for write in WRITTEN.values())
    (out / "attempts/S1/3/critique.md").write_bytes(planted)
    assert call(repo, "report", str(out), "-o", str(repo.parent / "sent" / "report.html")).returncode == 0
    pages = repo.parent / "sent" / "pages"
    with served(repo, env=SECRETS) as site:
        site.enter()
        run, asked_at = out.name, asked["question"]
        story = f"runs/{run}/stories/S1"
        shown = [f"{story}{more}" for number in (1, 2, 3) for more in ("", f"/{number}", f"/{number}/log")]
        for name in ("", f"runs/{run}", f"runs/{run}/questions/{asked_at}", f"runs/{run}/stories/S2", *shown):
            page = site.get(name)
            assert page.status == 200, name
            pages.mkdir(exist_ok=True)
            (pages / f"{name.replace('/', ' ')}.html").write_text(page.text)
    assert sum(path.read_text().count("[redacted]") for path in pages.iterdir()) > 100
    assert leaks(repo.parent / "sent") == []


def events(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "progress.ndjson").read_bytes().splitlines()]


@pytest.mark.parametrize(("command", "encoding"), [("run", "plain"), ("plan", "HEX with colons")])
def test_a_document_that_holds_a_secret_is_refused_by_name_and_line(repo: Path, command: str, encoding: str) -> None:
    written = WRITTEN[encoding](SECRETS["DEPLOY_TOKEN"].encode()).decode()
    (repo / "prd.md").write_text(PRD.replace("more.txt is there", f"more.txt has {written}"))
    ran = call(repo, command, "prd.md", "--out-dir", "../out")
    assert ran.returncode == 30
    assert "prd.md:15: this holds the value of the variable DEPLOY_TOKEN" in ran.stderr
    assert not (repo.parent / "out").exists() or leaks(repo.parent / "out") == []
    assert written not in ran.stdout + ran.stderr


def test_a_run_input_or_a_plan_that_holds_a_secret_is_refused_too(repo: Path) -> None:
    assert call(repo, "plan", "prd.md", "--out-dir", "../out").returncode == 0
    out = repo.parent / "out"
    for name in ("run-input.json", "plan.json"):
        old = (out / name).read_text()
        told = old.replace(f'"{sys.executable}",', f'"{sys.executable}", "{SECRETS["DEPLOY_TOKEN"]}",', 1)
        told = told.replace("more.txt is there", SECRETS["DEPLOY_TOKEN"])
        assert told != old
        (out / name).write_text(told)
        if name == "plan.json":
            plan = sealed(codec.decode(Plan, told.encode(), name))
            (out / name).write_bytes(codec.canonical(plan))
        words = ("execute", "--input", str(out / "run-input.json"), "--plan", str(out / "plan.json"))
        ran = call(repo, *words, "--out-dir", "../other")
        assert (ran.returncode, "this holds the value of the variable" in ran.stderr) == (30, True), ran.stderr
        assert leaks(repo.parent / "other") == []
        (out / name).write_text(old)


def test_the_record_of_a_check_that_looks_like_a_credential_is_still_whole_for_the_audit(repo: Path) -> None:
    (repo / "prd.md").write_text(PRD.split("### R2")[0])
    settings = '[agent]\ncommand = ["touch", "work.txt"]\n[policy]\nsandbox = "off"\n'
    settings += '[verification]\nstory_commands = ["test -e work.txt # Bearer abcdefghijklmnopqrstuv"]\n'
    (repo / "santiago.toml").write_text(settings)
    assert call(repo, "run", "prd.md", "--out-dir", "../out").returncode == 0
    assert b"Bearer [redacted]" in (repo.parent / "out/attempts/S1/1/verification.json").read_bytes()
    audit = call(repo, "audit", "../out")
    assert audit.returncode == 0, audit.stdout
