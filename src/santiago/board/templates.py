"""The files that a new board lays out: a README, policies, and forms for plans and evidence."""

from __future__ import annotations

README = """\
# The board

Work stands in queues: planner-inbox, scientist-todo, developer-todo, planner-review, blocked, done. A ticket is claimed,
worked on and handed over with evidence; only the planner's review leads to done.

- `santiago queue list` shows what stands where, `santiago queue --help` every command.
- The files below `orchestration/` are copies for reading. Change tickets with `santiago queue`, not in the files.
- `policies/` says how the work goes and how it is reported; these files are yours to change.
- `templates/` holds forms for plans and evidence.
"""

LOOP = """\
# How work goes round

1. A request comes to planner-inbox. The planner turns it into tickets for developers and scientists.
2. A worker claims a ticket (one claim is one attempt), works, and hands it to planner-review with its evidence.
3. The planner accepts it on evidence, which archives it, or sends it back with what is missing.
4. A ticket that has used its attempts goes to blocked, and the planner decides: replan, bypass or stop.
5. The round ends when nothing is left to do, when a person must decide, or when nothing moves any more.
"""

RENDERING = """\
# How results are told to people

language: en
prompt heading: Next prompt
why sentence: Why this now:

1. What changed for the people who use the product.
2. How sure we are of it, and by which kind of check.
3. What could still be wrong.
4. One block with the next prompt: what is wanted, without commands, paths, queues or ids.
"""

PLAN = """\
# PlanSpec v2

id: short-name
owner: planner
risk: low
mode: strict
verify_commands:
  - the command that tests everything
done_definition:
  - what is true when this is done

## Objective

## Scope

## Delivery Waves

- [ ] What is to be done
  - Targets: files
  - Expected behavior: what one can see afterwards
  - Execute: the command that does it
  - Verification: the command that shows it

## Final Verification

## Rollout and Rollback
"""

EVIDENCE = """\
# Evidence of a ticket

- Ticket and attempt:
- What was done:
- Commands that were run, and what they said:
- Files that show it (relative to the project):
- What is still open:
"""

FILES = {
    "README.md": README,
    "policies/orchestration-loop.md": LOOP,
    "policies/response-rendering-contract.md": RENDERING,
    "templates/plan.md": PLAN,
    "templates/evidence.md": EVIDENCE,
}
"""Path below `.sigee` or `.santiago` → content."""
