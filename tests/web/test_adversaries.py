"""An agent in its sandbox reaches the port of the pages, and gets nowhere."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from santiago.process import sandbox
from tests.cli import greeter
from tests.cli.greeter import git
from tests.web.served import served

PRD = "# PRD\n\n## User Stories\n\n### US-1: Look around\n\n- [ ] the file result.json exists\n"
ATTACK = r"""
import glob, http.client, json, socket, sys
port, said = int(sys.argv[1]), {}
own = f"http://127.0.0.1:{port}"
forged = {"Host": f"127.0.0.1:{port}", "Origin": own, "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-User": "?1",
          "Cookie": f"santiago-{port}=guessed", "Content-Type": "application/x-www-form-urlencoded", "Referer": own + "/"}
for name, method, path, body in [("root", "GET", "/", None), ("link", "POST", "/" + "x" * 22 + "/enter/" + "x" * 43, ""),
                                 ("answer", "POST", "/" + "x" * 22 + "/ask", "act=answer&token=guessed"), ("proxy", "GET", own + "/enter/x", None)]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path, body, forged)
    said[name] = connection.getresponse().status
squat = socket.socket()
squat.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
squat.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
try:
    squat.bind(("127.0.0.1", port))
except OSError as error:
    said["squat"] = error.strerror
seen = ""
for path in glob.glob("/proc/[0-9]*/cmdline") + glob.glob("/proc/[0-9]*/environ"):
    try:
        seen += open(path, errors="replace").read()
    except OSError:
        pass
said["processes"] = "santiago\0serve" in seen
json.dump(said, open("result.json", "w"))
"""


@pytest.mark.parametrize("kind", ["bubblewrap", "namespaces"])
def test_an_agent_with_a_guessed_link_forged_headers_or_a_squatted_port_is_refused(kind: str, tmp_path: Path) -> None:
    if sandbox.detect("auto").kind != "bubblewrap":
        pytest.skip("no bubblewrap works here")
    repo = greeter.committed(tmp_path / "shop", {"prd.md": PRD, "attack.py": ATTACK, ".gitignore": ".santiago/\n"})
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SANTIAGO_")}
    with served(repo) as site:
        site.enter()
        fenced = [sys.executable, "-m", "tests.cli.fenced", kind]
        words = ["run", "prd.md", "--agent", f"python3 attack.py {site.port}", "--verify", "test -f result.json"]
        ran = subprocess.run(
            [*fenced, *words, "--unproven", "accept", "--no-input", "--yes"],
            cwd=repo, env={**clean, **greeter.place(repo), "PYTHONPATH": str(Path(__file__).parents[2])},
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        branch = git(repo, "for-each-ref", "--format=%(refname)", "refs/heads/santiago").strip()
        assert branch, ran.stderr
        assert f"sandbox {kind}" in ran.stderr + ran.stdout
        said = json.loads(git(repo, "show", f"{branch}:result.json"))
        assert said == {
            "root": 404,
            "link": 404,
            "answer": 404,
            "proxy": 404,
            "squat": "Address already in use",
            "processes": False,
        }
        assert "was opened again" not in site.told()
