"""A row more in the table of derived values appears in every output. $WEFT is `weft_with_row`, whose table has
`written_per_request` (tests/measures/with_row.cpp)."""

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import weft

NAME = "written_per_request"
EXPERIMENTS = Path(__file__).parents[2] / "experiments"


class ARowMore(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="weft-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.run_ = weft.run(
            "bfs", config="harp-fermi", size="small", sample=500, out=cls.folder / "run"
        )
        counted = cls.run_.statistics
        cls.written = sum(counted.filter(regex=r"^sm\d+\.memory\.write_bytes$"))
        cls.requests = sum(counted.filter(regex=r"^sm\d+\.memory\.data_requests$"))

    def test_statistics(self) -> None:
        self.assertGreater(self.written, 0)
        self.assertEqual(self.run_.stats[NAME], self.written / self.requests)

    def test_summary(self) -> None:
        line = f"bytes written per request {self.written / self.requests:.3f}"
        self.assertIn(line, re.sub(" +", " ", self.run_.summary))

    def test_tables(self) -> None:
        for table in (self.run_.launches, self.run_.samples):
            expected = (table["write_bytes"] / table["data_requests"]).fillna(0)
            self.assertLess((table[NAME] - expected).abs().max(), 1e-4)  # six digits
            self.assertEqual(table["write_bytes"].sum(), self.written)

    def test_comparison(self) -> None:
        both = weft.compare(
            "bfs", "harp", config="harp-fermi", size="small", out=self.folder / "comparison"
        )
        self.assertEqual(both.rows[NAME][0], both.runs["bfs", "harp"].stats[NAME])
        self.assertRegex(both.output, r"(?m)^workload .* written")
        self.assertIn("bytes of writes per data request", both.output)

    def test_report(self) -> None:
        page = self.folder / "page.html"
        command = [os.environ["WEFT"], "report", "--without-charts", "--out", page]
        subprocess.run([*command, self.run_.folder], check=True, stdout=subprocess.DEVNULL)
        found = re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', page.read_text(), re.S)
        model = json.loads(found.group(1))
        self.assertEqual(model["runs"][0]["numbers"][NAME], self.written / self.requests)
        row = next(row for row in model["measures"] if row["name"] == NAME)
        self.assertEqual(row["heading"], "bytes written per request")

    def test_reproduce(self) -> None:
        library = self.folder / "library"
        experiment = library / "p" / "mine"
        experiment.mkdir(parents=True)
        papers = json.loads((EXPERIMENTS / "library.json").read_text())
        papers["papers"] = [{"name": "P", "folder": "p", "title": "a paper"}]
        (library / "library.json").write_text(json.dumps(papers))
        mine = {
            "title": "An experiment",
            "place": "1",
            "config": "harp-fermi",
            "programs": [{"abbr": "BFS", "workload": "bfs", "size": "small"}],
            "variants": [{"name": "harp"}],
            "measures": [NAME],
        }
        (experiment / "experiment.json").write_text(json.dumps(mine))
        command = [os.environ["WEFT"], "reproduce", "mine"]
        environment = os.environ | {"WEFT_EXPERIMENTS": str(library)}
        out, again = self.folder / "out", self.folder / "again"
        for words in (["--out", out], [f"--from-results={out}", "--out", again]):
            subprocess.run([*command, *words], check=True, capture_output=True, env=environment)
        runs = json.loads((out / "mine.json").read_text())["runs"]
        self.assertEqual(runs[0]["measures"][NAME], self.written / self.requests)
        page = (out / "mine.md").read_text()
        self.assertIn("## bytes written per request", page)
        self.assertEqual((again / "mine.md").read_text(), page)

    def test_list(self) -> None:
        row = weft.measures().loc[NAME]
        self.assertEqual(row["unit"], "bytes per request")
        self.assertEqual(row["formula"], "sm*.memory.write_bytes / sm*.memory.data_requests")


if __name__ == "__main__":
    unittest.main()
