"""The keys of the review: what each does, and the command that does the same; help, buttons and documentation read this."""

from __future__ import annotations

from santiago.tui.keys import Key

REVIEW = (
    Key("c", "c", "continue", "Continue planning", "plan on: a turn of all agents, with a line of what you say", "santiago review SESSION --continue TEXT"),
    Key("e", "e", "edit", "Quick edit", "a turn of one agent, with a line of what you say", "santiago review SESSION --edit TEXT"),
    Key("f", "f", "finalize", "Finalize + execute", "make it final, and carry it out or not yet", "santiago review SESSION --finalize --revision N"),
    Key("x", "x", "cancel", "Cancel", "end the review without a run, after asking; it can be taken up again", "santiago review SESSION --cancel"),
    Key("t", "t", "take_up", "Take up", "go on with a turn that was interrupted, or a review that was cancelled", "santiago review SESSION --take-up"),
    Key("m", "m", "more_turns", "More turns", "allow more turns, where all are used", "santiago review SESSION --add-turns N"),
    Key("a", "a", "answer", "Answer", "answer what an agent asks", "santiago answer SESSION QUESTION ANSWER"),
    Key("r", "r", "begin", "Begin the run", "begin the run that the plan became, where it has not begun", "santiago resume RUN"),
    Key("w", "w", "run", "Watch the run", "go to the run that the plan became; b comes back", "santiago watch RUN"),
    Key("slash", "/", "filter", "filter", "only stories with these words in them", "santiago review SESSION --plain"),
    Key("left_square_bracket,right_square_bracket", "[, ]", "", "revisions", "the revision before, or the next one", "santiago review SESSION --revision N"),
    Key("1", "1", "page('story')", "", "page: the story, with criteria, files, checks, and what changed in it", "santiago review SESSION --json"),
    Key("2", "2", "page('changes')", "", "page: everything that the revision changed", "santiago review SESSION --plain"),
    Key("3", "3", "page('turns')", "", "page: turns, what was said, and what each agent does", "santiago review SESSION --plain"),
    Key("4", "4", "page('findings')", "", "page: findings of the plan, requirements that no story covers", "santiago review SESSION --plain"),
    Key("left,right", "left, right", "", "", "fold and unfold a chunk", "santiago review SESSION --plain"),
    Key("enter", "enter, click", "enter", "", "unfold a chunk, or read a story; decides nothing", "santiago review SESSION --json"),
    Key("tab", "tab", "", "", "go between the list and the page", "santiago review SESSION --plain"),
    Key("escape", "esc", "back", "", "end the filter, go back to the list and to the latest revision", "santiago review SESSION"),
    Key("o", "o", "sessions", "open", "choose another session, or a run", "santiago review SESSION, santiago watch RUN"),
    Key("question_mark", "?", "keys", "keys", "this list", "santiago review --help"),
    Key("q,ctrl+c", "q", "leave", "quit", "leave; the review stays open, and what runs goes on", "santiago status"),
)  # fmt: skip
CONTROLS = frozenset({"continue", "edit", "finalize", "cancel", "take_up", "answer", "run", "begin", "more_turns"})
"""Actions that are shown only while the session allows them. Hidden actions have no key."""
