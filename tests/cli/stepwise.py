"""A real run that goes step by step, in which the first story is carried out in two substeps."""

import subprocess
from pathlib import Path

from santiago.app.loading import Run, load
from santiago.artifacts.inbox import Inbox
from santiago.contract.answers import Letter
from tests.cli import greeter
from tests.cli.santiago import santiago

PLAYBOOK = """\
stories:
  S1.1:
    - write: {hello.txt: "helo\\n"}
    - write: {hello.txt: "hello\\n"}
  S1.2:
    - write: {world.txt: "world\\n"}
  R2:
    - write: {bye.txt: "goodbye\\n"}
  R3:
    - write: {both.txt: "both\\n"}
proposals:
  R1:
    - detail:
        objective: hello.txt says hello
        modify: [hello.txt]
        actions: ["say it"]
    - detail:
        objective: hello.txt says hello
        create: [hello.txt, world.txt]
        actions: ["say it in two parts"]
        checks: ["grep hello hello.txt"]
        substeps:
          - {title: The word, actions: ["write hello.txt"], files: [hello.txt], checks: ["grep hello hello.txt"]}
          - {title: The world, actions: ["write world.txt"], files: [world.txt], checks: ["grep world world.txt"]}
  R2:
    - detail:
        objective: bye.txt says goodbye
        create: [bye.txt]
        actions: ["say goodbye"]
"""
ANSWERS = {"detail": "approve", "result": "validate", "continue": "continue"}


def begin(folder: Path) -> Path:
    """Begin a run; nobody is there, so that it stops at its first question. Return its out-dir."""
    repo = greeter.make(folder, PLAYBOOK, limits='gate = "step"\n')
    ran = santiago("run", "prd.md", "--trust-commands", cwd=repo, env=greeter.place(repo))
    assert ran.returncode == 10, ran.stderr
    return greeter.out_dir(repo)


def answer(out_dir: Path, word: str = "", *, text: str = "") -> subprocess.CompletedProcess[str]:
    """Answer what is asked, with consent where no word is given, and let the run go on to its next question."""
    (question,) = load(out_dir).state.open_questions()
    letter = Letter(kind="answer", subject=question.id, answer=word or ANSWERS[question.kind], text=text, actor="ann")
    assert Inbox(out_dir).drop(letter)
    repo = out_dir.parents[2]
    return santiago("resume", out_dir, "--trust-commands", cwd=repo, env=greeter.place(repo))


def answer_until(out_dir: Path, question: str) -> Run:
    for _ in range(20):
        run = load(out_dir)
        if [one.id for one in run.state.open_questions()] == [question]:
            return run
        answer(out_dir)
    raise AssertionError([one.id for one in load(out_dir).state.questions.values()])
