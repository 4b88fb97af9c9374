"""Keeps internals out of texts for users: commands, paths, flags, queues and ids are cut out; the rest stays."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from santiago.contract.lazy_regex import pattern

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST = 2000
"""Characters of a text that are used; the rest is dropped."""
_QUEUES = r"planner-inbox|scientist-todo|developer-todo|planner-review|blocked-user-confirmation"
_KEYS = (
    r"(?:LOOP|NEXT_PROMPT|CLAIM|AUTOLOOP|ENTRY_GUARD|SIGEE|SANTIAGO)_[A-Z_]+(?:[:=]\S*)?"
    r"|(?:error_class|attempt_count|retry_budget|evidence_links|next_action|updated_at)(?:[:=]\S*)?"
    r"|(?:phase|lease|status|worker|source|queue|profile)=\S+|(?:held|released|plan):[\w.:@+-]+|\$tech-[\w-]+|done-gate"
)
_COMMANDS = (
    r"santiago (?:queue|loop|archive|board|plan|run|step|execute|resume|stop|answer|status|log|show|truth|scenario)(?: [a-z-]+\b)?"
    r"|git (?:add|commit|push|pull|merge|rebase|checkout|switch|reset|clone|fetch|stash|tag)\b"
    r"|(?:npm|pnpm|yarn|bun) (?:run |ci\b|install\b|test\b|build\b)(?:[\w:-]+)?|npx [\w@/-]+|pip3? install(?: [\w.=-]+)?"
    r"|cargo (?:test|build|run|check)\b|docker (?:run|build|compose|exec)\b|kubectl [a-z]+|python3? -m [\w.]+|uv (?:run|sync)\b"
    r"|(?:bash|sh) -l?c\b"
)
_FILE = r"(?:py|pyi|ts|tsx|jsx|mjs|cjs|sh|bash|rs|rb|java|kt|cs|cpp|hpp|md|toml|ya?ml|json|ndjson|tsv|csv|sql|cfg|ini|lock|log|txt|html|css)"
_PART = r"[\w.@+-]{1,120}"
_FOLDERS = "src|lib|tests?|scripts|packages|node_modules|internal|cmd|orchestration|queues|evidence|plans"
_PATHS = (
    rf"(?:~|\.{{1,2}})?/{_PART}(?:/{_PART}){{0,40}}/?"  # absolute, below the home folder, or relative with dots
    rf"|(?:{_FOLDERS})(?:/{_PART}){{1,40}}/?"
    rf"|{_PART}(?:/{_PART}){{0,40}}/(?:{_PART}\.{_FILE}(?!\w|\.\w)|(?=[\s,;:)\]]|$))"
    rf"|\.(?:sigee|santiago|runtime|git|github)\b(?:/{_PART}){{0,40}}/?"
    rf"|<runtime-root>|runtime-root"
    rf"|\w[\w-]{{0,80}}\.{_FILE}(?!\w|\.\w)"
)
_FLAGS = r"--[A-Za-z][\w-]*(?:=\S+)?|-[A-Za-z](?![\w-])"
_STANDARDS = (
    "UTF|UCS|ISO|IEC|IEEE|RFC|GPT|SHA|MD|AES|RSA|DES|TLS|SSL|HTTP|HTML|CSS|ES|ECMA|COVID|CVE|CWE|USB|WPA|IPV|PEP|DIN|EN|ANSI|WCAG|"
    "CP|LATIN|WINDOWS|MPEG|MP|VP|AV|PM|CO|F|H|X|A|B|C|T|P|Q|K|V"
)
_IDS = rf"(?!(?:{_STANDARDS})-\d)[A-Z][A-Z0-9]*-\d+(?:\.S\d+)*(?![\w-])|(?:VIS|PIL|OBJ|OUT|CAP)-[A-Z0-9][\w-]*|PLAN-[\w-]+|bootstrap_foundation_\w*"
_LEAK = pattern(rf"(?<![\w./:@$<-])(?:{_COMMANDS}|{_KEYS}|{_QUEUES}|{_FLAGS}|{_PATHS}|{_IDS})", re.ASCII)
_ADDRESS = pattern(r"[a-z][a-z0-9+.-]{1,20}://\S+", re.IGNORECASE)
_WORD = pattern(r"[A-Za-z0-9_][A-Za-z0-9_.@+:-]{1,119}")
_LEADING = r"(?:(?:in|into|to|at|from|for|of|by|with|via|see|on|as|and|or)\s+)"
_CUT = "\x00"
_PARTICLE = "(?:으로|에서|까지|부터|에게|을|를|이|가|은|는|의|에|로|와|과|도)"
"""Korean particles, which are written onto the end of the word before."""
_DANGLING = pattern(
    rf"(?:(?<!\w){_LEADING})?{_CUT}(?:[\s,;/]{{1,4}}(?:and |or )?{_CUT}){{0,50}}(?:{_PARTICLE}(?!\w))?", re.IGNORECASE
)
_EMPTY = pattern(r"\(\s*\)|\[\s*\]|\{\s*\}|<\s*>|\"\s*\"|'\s*'")


def clean(text: str, is_id: Callable[[str], bool] = lambda _: False) -> str:
    """Return a text on one line without internals; empty where no letter is left.

    `is_id` recognises the ids of this board.
    """
    flat = " ".join(text[:LONGEST].replace(_CUT, "").replace("`", "").split())
    addresses: list[str] = []
    kept = _ADDRESS.sub(lambda found: _put_aside(found[0], addresses), flat)
    kept = _WORD.sub(lambda found: _without_id(found[0], is_id), kept)
    kept = _LEAK.sub(_CUT, kept)
    kept = _tidy(kept) if _CUT in kept else kept
    for number, address in enumerate(addresses):
        kept = kept.replace(f"\x01{number}\x01", address)
    return kept if any(letter.isalpha() for letter in kept) else ""


def leaks(text: str) -> list[str]:
    """Return the parts of a text that would be cut, not counting ids of a board."""
    return [found[0] for found in _LEAK.finditer(_ADDRESS.sub("", text[:LONGEST]))]


def _put_aside(address: str, addresses: list[str]) -> str:
    addresses.append(address)
    return f"\x01{len(addresses) - 1}\x01"


def _without_id(word: str, is_id: Callable[[str], bool]) -> str:
    """Cut an id of the board. An id that is an ordinary word stays, since it reveals nothing."""
    bare = word.rstrip(".:-+@")
    coded = any(sign in "_:@+." or sign.isdigit() for sign in bare) or ("-" in bare and bare != bare.lower())
    if coded and any(sign.isalpha() for sign in bare) and is_id(bare):
        return _CUT + word[len(bare) :]
    return word


def _tidy(text: str) -> str:
    """Close the gaps that the cuts left."""
    text = _DANGLING.sub("", text)
    text = _EMPTY.sub("", text)
    text = re.sub(r"\s+([,;:.!?)\]])", r"\1", " ".join(text.split()))
    return text.strip(" ,;:-–—/|.").strip()
