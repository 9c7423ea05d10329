"""Reading folders of results."""

import json
import math
import unittest
from pathlib import Path

import weft
from fakes import FolderTest
from weft.results import numbers_of


class Statistics(unittest.TestCase):
    def test_numbers_have_dotted_paths(self) -> None:
        tree = {"a": 1, "b": {"c": 2.5, "text": "x", "none": None, "list": [3, {"d": 4}]}}
        numbers = dict(numbers_of(tree))
        self.assertTrue(math.isnan(numbers.pop("b.none")))
        self.assertEqual(numbers, {"a": 1.0, "b.c": 2.5, "b.list.0": 3.0, "b.list.1.d": 4.0})


class Read(FolderTest):
    def write(self, stats: dict, **files: str) -> Path:
        folder = self.folder / "run"
        folder.mkdir()
        (folder / "stats.json").write_text(json.dumps(stats))
        for name, text in files.items():
            (folder / name.replace("_", ".")).write_text(text)
        return folder

    def test_a_run(self) -> None:
        stats = {"workload": "bfs", "config": "c", "scheme": "s", "cycles": 7, "verified": True}
        stats.update(message="right", fault=None, statistics={"sm0": {"hits": 3}})
        folder = self.write(
            stats,
            launches_csv='launch,kernel,ipc\n0,"null",1.5\n1,"NA",\n',
            instructions_csv="kernel,pc,target_pc,reconvergence_pc,ptx_line,source_line,issues\n"
            '"k",0,5,,12,3,10\n"k",,,,,,2\n',
            config_json='{"name": "c"}',
            summary_txt="page",
        )
        run = weft.read(folder)
        assert isinstance(run, weft.Run)
        self.assertEqual((run.verified, run.exit_code, run.cycles), (True, None, 7))
        self.assertEqual(run.statistics["sm0.hits"], 3.0)
        self.assertEqual(run.config, {"name": "c"})
        self.assertEqual(run.summary, "page")
        self.assertEqual(list(run.launches["kernel"]), ["null", "NA"])
        self.assertTrue(math.isnan(run.launches["ipc"][1]))
        self.assertEqual(run.instructions["target_pc"][0], 5)
        self.assertEqual(str(run.instructions["target_pc"].dtype), "Int64")
        self.assertEqual(list(run.instructions["pc"].isna()), [False, True])
        self.assertEqual(repr(run), "<weft.Run bfs on c with s in 7 cycles - verified>")

    def test_what_is_not_there_says_what_makes_it(self) -> None:
        run = weft.read(self.write({"mode": "functional", "verified": None}))
        assert isinstance(run, weft.Run)
        self.assertIsNone(run.verified)
        self.assertIsNone(run.cycles)
        self.assertTrue(run.statistics.empty)
        for table, needs in (
            ("samples", "sample=N"),
            ("instructions", "instructions=True"),
            ("power", "sm.observe.events"),
            ("launches", "timing"),
        ):
            with self.assertRaisesRegex(weft.MissingResult, needs):
                getattr(run, table)

    def test_another_folder_is_refused(self) -> None:
        with self.assertRaisesRegex(weft.MissingResult, "no results here; allowed: a folder of"):
            weft.read(self.folder)
        with self.assertRaisesRegex(weft.MissingResult, "comparison.csv"):
            weft.Comparison(self.folder)


if __name__ == "__main__":
    unittest.main()
