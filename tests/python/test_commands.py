"""run and compare: what the program is told (a program that pretends), and what comes back (the program)."""

import gc
import os
import unittest
from pathlib import Path

import pandas

import weft
from fakes import FolderTest

# Prints its arguments, one a line, and leaves results in the folder that is the last of them.
RECORDER = """printf '%s\\n' "$@" > "$0.words"
mkdir -p "${!#}"; echo '{"fault": null, "verified": true}' > "${!#}/stats.json"
echo workload,scheme,exit_code,result > "${!#}/comparison.csv"
"""


class CommandLine(FolderTest):
    def words(self) -> list[str]:
        return (self.folder / "weft.words").read_text().splitlines()

    def test_of_run(self) -> None:
        fake, out = self.program(RECORDER), self.folder / "out"
        number = pandas.Series([4])[0]  # numpy's
        run = weft.run(
            "bfs",
            config="harp-fermi",
            scheme="harp",
            set={"sm.count": number, "system.enabled": True, "l2.kind": "a b", "clocks.f": 0.5},
            size={"n": 1000, "degree": 4},
            out=out,
            sample=500,
            instructions=True,
            functional=True,
            max_cycles=9,
            options=["--check", "race"],
            program=fake,
        )
        self.assertEqual(run.folder, out)
        expected = "run --config harp-fermi --set sm.count=4 system.enabled=true".split()
        expected += ["l2.kind=a b", "clocks.f=0.5", "warp_formation.scheme=harp"]
        expected += "sm.observe.instructions=true --size n=1000,degree=4 --workload bfs".split()
        expected += "--sample 500 --max-cycles 9 --functional --check race --out".split()
        self.assertEqual(self.words(), [*expected, str(out)])

    def test_of_compare(self) -> None:
        fake, out = self.program(RECORDER), self.folder / "out"
        weft.compare(
            ["bfs", "lud"], "sbr,dwr-16", size="small", out=out, jobs=2, max_cycles=9, program=fake
        )
        expected = "compare --config gtx480 --size small --workloads bfs,lud --schemes sbr,dwr-16"
        expected += f" --jobs 2 --max-cycles 9 --out {out}"
        self.assertEqual(self.words(), expected.split())
        weft.compare(out=out, program=fake)
        self.assertEqual(self.words(), f"compare --config gtx480 --out {out}".split())

    def test_results_from_before_are_not_those_of_a_program_that_was_killed(self) -> None:
        out = self.folder / "out"
        weft.run("bfs", out=out, program=self.program(RECORDER))
        fake = self.program("kill -KILL $$")
        with self.assertRaises(weft.ProgramFailed) as caught:
            weft.run("bfs", out=out, program=fake)
        self.assertEqual(caught.exception.exit_code, -9)
        self.assertIsNone(caught.exception.results)
        self.assertIn("exit code -9", str(caught.exception))

    def test_a_program_without_results_is_not_taken_for_success(self) -> None:
        with self.assertRaises(weft.MissingResult):
            weft.run("bfs", program=self.program("exit 0"))


class TheProgram(FolderTest):
    """The one in $WEFT."""

    WEFT = os.environ.get("WEFT", "")

    def setUp(self) -> None:
        super().setUp()
        os.environ["WEFT"] = self.WEFT

    def test_a_run_gives_frames(self) -> None:
        run = weft.run(
            "bfs", config="dwr-tesla", size="small", sample=500, instructions=True, scheme="dwr"
        )
        self.assertEqual((run.exit_code, run.verified, run.fault), (0, True, None))
        self.assertEqual(run.stats["scheme"], "dwr")
        instructions = run.stats["thread_instructions"]
        self.assertGreater(instructions, 0)
        for table in (run.launches, run.samples, run.instructions):
            self.assertEqual(table["thread_instructions"].sum(), instructions)
        sms = run.statistics.filter(regex=r"^sm\d+\.thread_instructions$")
        self.assertEqual(len(sms), run.config["sm"]["count"])
        self.assertEqual(sms.sum(), instructions)
        self.assertEqual(run.statistics["gpu.cycles"], run.cycles)
        self.assertIn("verified", run.summary)
        self.assertEqual(run.output, run.summary)
        self.assertEqual(run.record["workload"], "bfs")
        self.assertTrue(run.kernels)

    def test_a_folder_of_its_own_lives_as_long_as_the_run(self) -> None:
        run = weft.run("vector_add", size="small", functional=True)
        folder = run.folder
        self.assertTrue(folder.is_dir())
        del run
        gc.collect()
        self.assertFalse(folder.exists())

    def test_read_finds_what_a_run_left(self) -> None:
        out = self.folder / "out"
        run = weft.run("vector_add", size="small", set={"sm.count": 2}, out=out)
        again = weft.read(out)
        assert isinstance(again, weft.Run)
        self.assertEqual(again.stats, run.stats)
        self.assertEqual(again.config["sm"]["count"], 2)
        pandas.testing.assert_frame_equal(again.launches, run.launches)
        pandas.testing.assert_series_equal(again.statistics, run.statistics)

    def test_a_comparison_gives_a_row_per_run(self) -> None:
        both = weft.compare(
            ["reduction", "bfs"], ["sbr", "harp"], config="harp-fermi", size="small", jobs=1
        )
        self.assertEqual((both.exit_code, both.verified), (0, True))
        speedup, cycles = both.table("speedup"), both.table("cycles")
        self.assertEqual(list(speedup.index), ["reduction", "bfs"])
        self.assertEqual(list(speedup.columns), ["sbr", "harp"])
        pandas.testing.assert_series_equal(
            cycles["sbr"] / cycles["harp"], speedup["harp"], check_names=False
        )
        run = both.runs["bfs", "harp"]
        self.assertEqual(run.cycles, cycles.loc["bfs", "harp"])
        self.assertEqual(run.exit_code, 0)
        self.assertAlmostEqual(
            both.means.loc["harp", "geometric"], speedup["harp"].product() ** 0.5, places=9
        )
        self.assertEqual(list(both.pareto["scheme"]), ["sbr", "harp"])
        with self.assertRaisesRegex(weft.MissingResult, "unknown column 'speed'; known: .*speedup"):
            both.table("speed")
        folder = both.folder
        del both
        gc.collect()
        self.assertTrue(run.launches["cycles"].sum() > 0, "its folder outlives the comparison")
        del run
        gc.collect()
        self.assertFalse(folder.exists())

    def test_bad_input_is_a_usage_error(self) -> None:
        for call, message in (
            (lambda: weft.run("nothing"), "workload: unknown name 'nothing'; known: aes"),
            (
                lambda: weft.run("bfs", set={"sm.count": "x"}),
                r'--set sm.count=x: /sm/count: is "x" \(a string\); allowed: an integer',
            ),
            (lambda: weft.compare("bfs", ["nothing"]), "--schemes: unknown scheme 'nothing'"),
        ):
            with self.assertRaisesRegex(weft.UsageError, f"^{message}") as caught:
                call()
            self.assertEqual(caught.exception.exit_code, 2)
            self.assertIsNone(caught.exception.results)

    def test_a_limit_is_a_fault_with_results(self) -> None:
        message = "^stopped after 1000 core cycles, the limit of --max-cycles$"
        with self.assertRaisesRegex(weft.SimulatedFault, message) as caught:
            weft.run("bfs", size="small", max_cycles=1000)
        results = caught.exception.results
        assert isinstance(results, weft.Run)
        self.assertEqual((results.exit_code, results.verified, results.cycles), (3, None, 1000))
        self.assertRegex(results.fault or "", message)
        self.assertIn("--max-cycles", caught.exception.command)

    def test_a_failed_comparison_has_its_rows(self) -> None:
        with self.assertRaisesRegex(
            weft.SimulatedFault, "(?m)^reduction, harp: fault: stopped after 4175 core cycles"
        ) as caught:
            weft.compare(
                "reduction", ["sbr", "harp"], config="harp-fermi", size="small", max_cycles=4175
            )
        results = caught.exception.results
        assert isinstance(results, weft.Comparison)
        self.assertFalse(results.verified)
        self.assertEqual(list(results.rows["exit_code"]), [0, 3])
        self.assertNotIn("reduction, sbr", str(caught.exception))

    def test_the_code_in_the_readme_runs(self) -> None:
        text = (Path(weft.__file__).resolve().parents[1] / "README.md").read_text()
        code = text.split("```python\n")[1].split("```")[0]
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(self.folder)
        weft.run("bfs", size="small", out="out/bfs")
        names: dict[str, object] = {}
        exec(compile(code, "README.md", "exec"), names)
        both = names["both"]
        assert isinstance(both, weft.Comparison)
        self.assertTrue(both.verified)
        self.assertIn("<svg", Path("speedup.svg").read_text())

    def test_another_sum_is_a_wrong_result(self) -> None:
        kernel = Path(self.WEFT).parents[1] / "workloads" / "vector_add.ptx"
        text = kernel.read_text()
        self.assertIn("add.f32", text)
        wrong = self.folder / "wrong.ptx"
        wrong.write_text(text.replace("add.f32", "sub.f32"))
        with self.assertRaisesRegex(weft.WrongResult, "^sums differ first at 1: got -1") as caught:
            weft.run("vector_add", size="small", options=["--ptx", wrong])
        results = caught.exception.results
        assert isinstance(results, weft.Run)
        self.assertEqual((results.exit_code, results.verified), (1, False))
        self.assertIn("wrong: sums differ", repr(results))


if __name__ == "__main__":
    unittest.main()
