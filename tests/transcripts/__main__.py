"""`python -m tests.transcripts [--write] [COMMAND…]` says where commands print something else than their transcripts show.

`--write` puts what is printed now into them; `--record [WORLD…]` makes the recorded worlds anew.
"""

import sys
import tempfile
from pathlib import Path

from tests.docs.renewing import renew
from tests.transcripts.playing import play, transcripts
from tests.transcripts.recording import MADE, record

options, names = ({word for word in sys.argv[1:] if word.startswith("--") is is_option} for is_option in (True, False))
if "--record" in options:
    for world in sorted(names) or MADE:
        record(world)
        print(f"recorded {world}", flush=True)
else:
    for transcript in (one for one in transcripts() if not names or one.stem in names):
        with tempfile.TemporaryDirectory() as folder:
            found = list(play(transcript, Path(folder)))
        for wrong in (one for one in found if not one.is_right):
            print(wrong)
        if "--write" in options:
            renew(transcript, found)
