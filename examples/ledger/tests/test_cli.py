import os
import subprocess
import sys
import tempfile
import unittest
from datetime import date


class CommandLine(unittest.TestCase):
    def test_adds_and_reports(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            env = {**os.environ, "LEDGER": f"{folder}/book.tsv"}

            def ledger(*arguments: str) -> str:
                command = [sys.executable, "-m", "ledger", *arguments]
                return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout

            ledger("add", "12.50", "food", "lunch", "with", "Ann")
            self.assertIn("12.50", ledger("report", f"{date.today()}"[:7]))
