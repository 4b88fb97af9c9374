"""Programs that judge say whether they come to their end; honest work lets them, whatever it does (promise 2)."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from santiago.contract.outcomes import CheckResult, CheckVerdict, Output
from santiago.contract.units import Seconds
from santiago.verification.provoking import ends, provoke

if TYPE_CHECKING:
    from pathlib import Path

PY = "from work import f\nassert f(2) == 4\nassert f(5) == 25\n"
COUNTS = "import sys\nfrom work import f\nbad = 0\nfor one, want in [(2, 4), (5, 25)]:\n    bad += f(one) != want\nsys.exit(1 if bad else 0)\n"
JS = "const assert = require('node:assert')\nconst { f } = require('./work.js')\nassert.strictEqual(f(2), 4)\n"
SH = '. ./work.sh\n[ "$(f 2)" = 4 ] || { echo no; exit 1; }\necho ok\n'
RIGHT = "def f(x):\n    return x * x\n"
LEAVES = "import sys\ndef f(x):\n    sys.exit(0)\n"
CUT_SHORT = "with it, the check does not reach its end"
OVERRULED = "with it, a check that says no passes"

HONEST = {
    "a script": ("python3 check.py", {"check.py": PY}, RIGHT),
    "a script behind make": ("make test", {"check.py": PY, "Makefile": "test:\n\tpython3 check.py\n"}, RIGHT),
    "a script that exits": ("python3 check.py", {"check.py": COUNTS}, RIGHT),
    "a script with an exit of its own kind": ("python3 check.py", {"check.py": "import os\n" + PY + "os._exit(0)\n"}, RIGHT),
    "a test that runs itself": (
        "python3 test_it.py",
        {"test_it.py": "import unittest\nfrom work import f\nclass T(unittest.TestCase):\n    def test_it(self):\n"
         "        self.assertEqual(f(2), 4)\nif __name__ == '__main__':\n    unittest.main()\n"},
        RIGHT,
    ),
    "a script that expects an exit": (
        "python3 check.py",
        {"check.py": "import work\ntry:\n    work.main()\nexcept SystemExit as left:\n    assert not left.code\n"},
        RIGHT + "import sys\ndef main():\n    sys.exit(0)\n",
    ),
    "a script that hands over": (
        "python3 check.py",
        {"check.py": "import sys\nfrom work import main\nif __name__ == '__main__':\n    sys.exit(main())\n"},
        RIGHT + "def main():\n    raise SystemExit(0)\n",
    ),
    "a failure that nobody minds": ("python3 check.py || true", {"check.py": PY}, "def f(x):\n    return 0\n"),
    "an exit at the end of the process": ("python3 check.py", {"check.py": PY}, RIGHT + "import atexit\natexit.register(print)\n"),
    "an exit that the check asks for": (
        "python3 check.py; test $? = 3", {"check.py": "import work\nwork.f(2)\nassert False\n"}, "def f(x): raise SystemExit(3)\n",
    ),
    "a program that starts itself, and ends that": (
        "python3 check.py",
        {"check.py": "import subprocess, sys, time\nif sys.argv[1:]:\n    print('up', flush=True)\n    time.sleep(60)\n"
         "child = subprocess.Popen([sys.executable, __file__, 'serve'], stdout=subprocess.PIPE)\nchild.stdout.readline()\nchild.kill()\n" + PY},
        RIGHT,
    ),
    "a child that fails": (
        "python3 check.py", {"check.py": "import os\n" + PY + "child = os.fork()\nif not child:\n    raise SystemExit(1)\nos.waitpid(child, 0)\n"}, RIGHT,
    ),
    "a module that is run": (
        "python3 -c 'import runpy; runpy.run_module(\"work\", run_name=\"__main__\")'", {}, RIGHT + "raise SystemExit(0)\n",
    ),
    "a script that is a program": ("chmod +x check.py; ./check.py", {"check.py": "#!/usr/bin/env python3\n" + PY}, RIGHT),
    "a script of any name": ("python3 'check_ü \"a%s\\x.py'", {'check_ü "a%s\\x.py': PY}, RIGHT),
    "a script of a deep expression": ("python3 check.py", {"check.py": PY + "x = " + " + ".join(["1"] * 400) + "\n"}, RIGHT),
    "a command line": ("python3 -c 'from work import f; assert f(2) == 4'", {}, RIGHT),
    "a command line that exits": ("python3 -c 'import sys; from work import f; sys.exit(f(2) != 4)'", {}, RIGHT),
    "a script of node": ("node check.js", {"check.js": JS, "work.js": "exports.f = (x) => x * x\n"}, ""),
    "a script of node that waits and exits": (
        "node check.js",
        {"check.js": JS + "setTimeout(() => process.exit(0), 5)\n", "work.js": "String.prototype.x = () => 1\nexports.f = (x) => x * x\n"},
        "",
    ),
    "a script of node with an exit of its own": (
        "node check.js", {"check.js": "const { exit } = require('process')\n" + JS + "exit(0)\n", "work.js": "exports.f = (x) => x * x\n"}, "",
    ),
    "a failure that a shell script expects": (
        "sh check.sh", {"check.sh": "! python3 check.py 2> err.txt && echo ok\n", "check.py": PY}, "import sys\ndef f(x): raise ValueError\n",
    ),
    "a program in a shell script": ("sh check.sh", {"check.sh": f"set -e\npython3 - <<'END'\n{PY}END\necho ok\n"}, RIGHT),
    "a program in a command": (f"python3 - <<'END' && echo ok\n{PY}END", {}, RIGHT),
    "an error that node's work takes note of": (
        "node check.js",
        {"check.js": JS + "setTimeout(() => { throw Error('x') }, 5)\n", "work.js": "process.on('uncaughtException', () => {})\nexports.f = (x) => x * x\n"},
        "",
    ),
    "a shell script": ("sh check.sh", {"check.sh": SH, "work.sh": "f() { echo $(( $1 * $1 )); }\n"}, ""),
}  # fmt: skip
LYING = {
    "leaves a script": ("python3 check.py", {"check.py": PY}, LEAVES, CUT_SHORT),
    "leaves a script that exits": ("python3 check.py", {"check.py": COUNTS}, LEAVES, CUT_SHORT),
    "leaves behind make": ("make test", {"check.py": PY, "Makefile": "test:\n\tpython3 check.py\n"}, LEAVES, CUT_SHORT),
    "leaves a script that is a program": (
        "chmod +x check.py; ./check.py", {"check.py": "#!/usr/bin/env python3\n" + PY}, LEAVES, CUT_SHORT,
    ),
    "leaves a script of any name": ("python3 'check_ü \"a%s\\x.py'", {'check_ü "a%s\\x.py': PY}, LEAVES, CUT_SHORT),
    "leaves at once": ("python3 check.py", {"check.py": PY}, "import os\nos._exit(0)\n", CUT_SHORT),
    "leaves a command line": ("python3 -c 'from work import f; assert f(2) == 4'", {}, LEAVES, CUT_SHORT),
    "overrules": (
        "python3 check.py", {"check.py": PY}, "import atexit, os\natexit.register(os._exit, 0)\ndef f(x):\n    return 0\n", OVERRULED,
    ),
    "overrules behind make": (
        "make test", {"check.py": PY, "Makefile": "test:\n\tpython3 check.py\n"},
        "import os, sys\nsys.excepthook = lambda *_: os._exit(0)\ndef f(x):\n    return 0\n", OVERRULED,
    ),
    "overrules node": (
        "cd . && node check.js", {"check.js": JS, "work.js": "process.on('uncaughtException', () => {})\nexports.f = () => 0\n"}, "", OVERRULED,
    ),
    "runs the check again without assertions": (
        "python3 check.py", {"check.py": PY},
        "import os, sys\nif __debug__:\n    os.execv(sys.executable, [sys.executable, '-O', *sys.orig_argv[1:]])\ndef f(x):\n    return 0\n", CUT_SHORT,
    ),
    "runs the check in a child without assertions": (
        "python3 check.py", {"check.py": PY},
        "import subprocess, sys\nif __debug__:\n    sys.exit(subprocess.call([sys.executable, '-O', *sys.orig_argv[1:]]))\ndef f(x): return 0\n", CUT_SHORT,
    ),
    "leaves a program in a shell script": ("sh check.sh", {"check.sh": f"set -e\npython3 - <<'END'\n{PY}END\necho ok\n"}, LEAVES, CUT_SHORT),
    "leaves a program in a command": (f"python3 <<'END'\n{PY}END", {}, LEAVES, CUT_SHORT),
    "equals anything": (
        "python3 check.py", {"check.py": PY}, "class X:\n    def __eq__(self, o): return True\ndef f(x): return X()\n", "equals anything",
    ),
    "leaves node": ("node check.js", {"check.js": JS, "work.js": "exports.f = () => process.exit(0)\n"}, "", CUT_SHORT),
    "leaves a program of node of any name": (
        "node 'check_ü \"a%s\\x.js'", {'check_ü "a%s\\x.js': JS, "work.js": "exports.f = () => process.exit(0)\n"}, "", CUT_SHORT,
    ),
    "silences node": (
        "node check.js", {"check.js": JS, "work.js": "require('assert').strictEqual = () => {}\nexports.f = () => 0\n"}, "",
        "assert strictEqual was replaced by another",
    ),
    "leaves a shell script": ("sh check.sh", {"check.sh": SH, "work.sh": "exit 0\n"}, "", CUT_SHORT),
    "leaves a shell script of any name": (
        "sh 'check_ü \"a%s\\x.sh'", {'check_ü "a%s\\x.sh': SH, "work.sh": "exit 0\n"}, "", CUT_SHORT,
    ),
    "overrules a shell script": ("sh check.sh", {"check.sh": SH, "work.sh": "f() { :; }\ntrap 'exit 0' EXIT\n"}, "", OVERRULED),
}  # fmt: skip


def _refused(folder: Path, command: str, files: dict[str, str], work: str) -> str:
    for name, text in {**files, "work.py": work}.items():
        (folder / name).write_text(text)
    if "node" in command and shutil.which("node") is None:
        pytest.skip("node is not installed")
    assert _run(folder, command).exit_code == 0, "it passes as it is"
    judges = [name for name in files if not name.startswith("work")]
    tests = [name for name in judges if name.startswith("test")]
    word, commands = provoke.harden(str(folder), tests, [command], judges, ["work.py", "work.js", "work.sh"])
    ran = _run(folder, commands[0])
    found = ends.refused(word, ran) if word else ""
    assert found or ran.exit_code == 0, ran.output.tail
    return found


def _run(folder: Path, command: str) -> CheckResult:
    ran = subprocess.run(
        ["/bin/sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )
    output = Output(head="", tail=ran.stdout + ran.stderr, dropped=0, total=0)
    verdict = CheckVerdict.PASS if ran.returncode == 0 else CheckVerdict.FAIL
    return CheckResult(
        command=command, exit_code=ran.returncode, seconds=Seconds(0), timed_out=False, output=output, checks=None, verdict=verdict
    )  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_a_marked_program_finds_nothing_wrong_with_honest_work(name: str, tmp_path: Path) -> None:
    assert _refused(tmp_path, *HONEST[name]) == ""


@pytest.mark.parametrize("name", LYING)
def test_a_marked_program_says_what_keeps_it_from_judging(name: str, tmp_path: Path) -> None:
    *how, why = LYING[name]
    assert _refused(tmp_path, *how) == why  # type: ignore[arg-type]
