"""How a person is asked while the board works: on a terminal, or not at all."""

from __future__ import annotations

import sys

from santiago.app.board.ticket_context import Consents
from santiago.cli.consent import ask_consent, ask_unfenced, confirm_units
from santiago.cli.view.terminal import say


def consents(*, trusted: bool = False, unfenced: bool = False, units: bool = False, no_input: bool = False) -> Consents:
    asked = not no_input and sys.stdin.isatty()
    return Consents(
        commands=lambda commands: ask_consent(commands, "the document", asked=asked, trusted=trusted),
        units=lambda plan: confirm_units(plan, asked=asked, said=units),
        unfenced=lambda: None if unfenced else ask_unfenced(asked=asked),
        tell=lambda text: say(f"note: {text}", err=True),
    )
