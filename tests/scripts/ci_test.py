"""Tests what `.ci/run` chooses to check:  ci_test.py SOURCE-TREE BUILD-TREE

Each case has a git repository of its own, with a few files, and targets that only pretend to be built.
"""

import io
import subprocess
import sys
import tempfile
import time
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

SOURCE, BUILD = Path(sys.argv.pop(1)), Path(sys.argv.pop(1))
sys.path.insert(0, str(SOURCE / ".ci/steps"))
sys.dont_write_bytecode = True

import changes  # noqa: E402
import checks  # noqa: E402
import nightly  # noqa: E402
import plan  # noqa: E402
import run  # noqa: E402
from targets import Targets  # noqa: E402

TARGETS = """\
library weft_common modules/common
library weft_isa modules/isa weft::common
library weft_isa_v3 modules/isa
library weft_execute modules/execute weft::isa $<TARGET_OBJECTS:x>
library weft_sm modules/sm weft::execute
library bench tests/platform weft_sm
unit common_test tests/common weft::common
unit isa_test tests/isa weft::isa GTest::gtest_main
campaign isa_campaign tests/isa weft::isa
unit execute_test tests/execute weft::execute
unit sm_test tests/sm weft::sm
unit interpreter_test tests/interpreter weft::isa
unit platform_test tests/platform bench
e2e program_test tests/end_to_end
all slow_test tests/slow weft::isa
program weft sc_main weft::sm
"""


class Repository:
    def __init__(self, folder: str):
        self.root = Path(folder)
        self.git("init", "-q", "-b", "work")
        self.git("config", "user.email", "a@b.c")
        self.git("config", "user.name", "a")

    def git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.root), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def commit(self, **files: str) -> str:
        """Files by name, with `__` for a slash."""
        for name, text in files.items():
            self.write(name.replace("__", "/") + ".cpp", text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "a")
        return self.git("rev-parse", "HEAD")

    def base(self, wanted: str | None = None) -> changes.Base:
        return changes.base_commit(wanted, self.root)


class RepositoryTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.repository = Repository(folder.name)


class BaseOfTheWork(RepositoryTest):
    def test_is_where_head_left_origin_main(self):
        left = self.repository.commit()
        self.repository.git("update-ref", "refs/remotes/origin/main", left)
        for _ in range(30):
            self.repository.commit()
        self.assertEqual(self.repository.base().commit, left)

    def test_is_twenty_commits_back_where_head_is_origin_main(self):
        commits = [self.repository.commit() for _ in range(25)]
        self.repository.git("update-ref", "refs/remotes/origin/main", commits[-1])
        self.assertEqual(self.repository.base().commit, commits[-21])

    def test_is_twenty_commits_back_without_origin_main(self):
        commits = [self.repository.commit() for _ in range(25)]
        self.assertEqual(self.repository.base().commit, commits[-21])

    def test_is_the_first_commit_of_a_short_history(self):
        commits = [self.repository.commit() for _ in range(3)]
        self.assertEqual(self.repository.base().commit, commits[0])

    def test_is_no_commit_where_there_is_one_only(self):
        self.repository.commit(a="int a;")
        found = changes.changes_since(self.repository.base(), self.repository.root)
        self.assertEqual(found.content, ["a.cpp"])

    def test_is_the_argument(self):
        commits = [self.repository.commit() for _ in range(3)]
        self.assertEqual(self.repository.base(commits[1]).commit, commits[1])
        self.assertEqual(self.repository.base("HEAD~1").commit, commits[1])

    def test_is_refused_where_nothing_would_be_checked(self):
        self.repository.commit()
        for wanted, said in (("HEAD", "which is HEAD"), ("nothing", "not a commit")):
            with self.assertRaisesRegex(changes.UsageError, said):
                self.repository.base(wanted)


class ChangedFiles(RepositoryTest):
    def test_are_committed_uncommitted_and_untracked_ones(self):
        base = self.repository.commit(a="int a;", b="int b;")
        self.repository.commit(a="int a2;")
        self.repository.write("b.cpp", "int b2;")
        self.repository.write("c.cpp", "int c;")
        found = changes.changes_since(changes.Base(base, ""), self.repository.root)
        self.assertEqual(found.content, ["a.cpp", "b.cpp", "c.cpp"])

    def test_are_not_checked_again_where_they_only_moved(self):
        text = "".join(f"int variable_{i};\n" for i in range(50))
        base = self.repository.commit(a=text, b=text.replace("int", "long"), c="int c;")
        self.repository.git("mv", "a.cpp", "moved.cpp")
        self.repository.git("mv", "b.cpp", "edited.cpp")
        self.repository.git("rm", "-q", "c.cpp")
        self.repository.write("edited.cpp", text.replace("int", "long") + "int more;\n")
        self.repository.commit()
        found = changes.changes_since(changes.Base(base, ""), self.repository.root)
        self.assertEqual(found.content, ["edited.cpp"])
        self.assertEqual(found.all, ["a.cpp", "b.cpp", "c.cpp", "edited.cpp", "moved.cpp"])

    def test_of_a_header_check_the_source_or_test_of_its_name(self):
        self.repository.commit(modules__isa__a="", tests__isa__b_test="")
        paths = ["modules/isa/a.h", "modules/isa/b.h", "modules/isa/c.h", "README.md"]
        found = plan.sources_of(paths, self.repository.root)
        self.assertEqual(found, ["modules/isa/a.cpp", "tests/isa/b_test.cpp"])


def changed(*paths: str) -> changes.Changes:
    return changes.Changes(sorted(paths), sorted(paths))


class Choices(unittest.TestCase):
    targets = Targets(TARGETS.splitlines())

    def test_a_changed_module_brings_its_tests_then_its_dependents(self):
        first, then = plan.changed_test_folders(changed("modules/isa/float.cpp"), self.targets)
        self.assertEqual(first, ["tests/isa"])
        self.assertEqual(then, ["tests/execute", "tests/interpreter"])

    def test_a_public_header_belongs_to_its_module(self):
        first, _ = plan.changed_test_folders(changed("include/weft/isa/isa.h"), self.targets)
        self.assertEqual(first, ["tests/isa"])

    def test_a_changed_test_brings_no_dependents(self):
        self.assertEqual(
            plan.changed_test_folders(changed("tests/isa/a_test.cpp"), self.targets),
            (["tests/isa"], []),
        )

    def test_a_library_is_built_once(self):
        seconds = plan.Seconds(
            "weft_common 10\nweft_isa 5\nweft_isa_v3 5\ncommon_test 1\nisa_test 1\nisa_campaign 1"
        )
        choice = plan.sanitizer_choice(["tests/common", "tests/isa"], self.targets, seconds, 18)
        self.assertEqual((choice.picked, choice.seconds), (["tests/common", "tests/isa"], 18))
        choice = plan.sanitizer_choice(["tests/common", "tests/isa"], self.targets, seconds, 17)
        self.assertEqual((choice.picked, choice.left), (["tests/common"], ["tests/isa"]))

    def test_a_table_has_means_of_folders(self):
        seconds = plan.Seconds("# a comment\na 2 # of old\nb 4\n")
        sources = ["a/1.cpp", "a/2.cpp", "b/1.cpp", "unknown/1.cpp", "a/3.cpp"]
        choice = plan.tidy_choice(sources, seconds, 10)
        self.assertEqual(choice.picked, ["a/1.cpp", "a/2.cpp", "b/1.cpp", "a/3.cpp"])
        self.assertEqual(choice.left, ["unknown/1.cpp"])
        self.assertEqual(choice.seconds, 10)

    def test_ask_no_clock(self):
        """The same on every day and on a machine of any speed."""
        paths = changed("modules/common/a.cpp", "tests/sm/a_test.cpp")

        def choices():
            first, then = plan.changed_test_folders(paths, self.targets)
            return plan.sanitizer_choice(first + then, self.targets, plan.Seconds("weft_sm 4"), 20)

        today = choices()
        self.assertTrue(today.picked and today.left)
        for name in ("time", "monotonic", "perf_counter", "localtime", "gmtime"):
            for value in (0.0, 1e9):
                with mock.patch.object(time, name, return_value=value):
                    self.assertEqual(choices(), today)

    def test_other_bases_bring_other_sets(self):
        folders = [
            plan.changed_test_folders(changed(path), self.targets)
            for path in ("modules/isa/a.cpp", "modules/sm/a.cpp", "docs/README.md")
        ]
        self.assertEqual(folders[1], (["tests/sm"], ["tests/platform"]))
        self.assertEqual(folders[2], ([], []))


class Verdict(RepositoryTest):
    def steps(self, outcome: dict[str, bool]) -> tuple[int, str]:
        """The whole run, with checks that only pretend; the clock jumps an hour at each look."""
        self.repository.commit()
        self.repository.commit()
        root = self.repository.root
        clock = iter(range(0, 10**9, 3600))
        text = io.StringIO()
        with mock.patch.object(
            run, "base_commit", lambda wanted: changes.base_commit(wanted, root)
        ), mock.patch.object(
            run, "changes_since", lambda base: changes.changes_since(base, root)
        ), mock.patch.object(
            time, "monotonic", lambda: next(clock)
        ), mock.patch.object(
            checks, "check_format", lambda files: outcome["format"]
        ), mock.patch.object(
            run.english, "passes", lambda base: outcome["english"]
        ), mock.patch.object(
            run.subprocess,
            "run",
            lambda *_, **__: mock.Mock(returncode=0 if outcome["tests"] else 8, stdout="x"),
        ), mock.patch.object(
            run.Run, "tidy", lambda self: outcome["tidy"]
        ), mock.patch.object(
            run.Run, "sanitizers", lambda self: outcome["sanitizers"]
        ), mock.patch.object(
            changes, "git", lambda *_, **__: "1" * 40
        ), redirect_stdout(
            text
        ):
            status = run.Run(None).all()
        return status, text.getvalue()

    def test_every_step_runs_however_long_the_others_took(self):
        good = dict.fromkeys(("format", "english", "tests", "tidy", "sanitizers"), True)
        status, text = self.steps(good)
        self.assertEqual(status, 0, text)
        self.assertIn("5 passed, 0 failed", text)
        for name in good:
            status, text = self.steps({**good, name: False})
            self.assertEqual(status, 1, name)
            self.assertIn("4 passed, 1 failed", text)

    def test_wrong_arguments_are_refused(self):
        for arguments in (["--fast"], ["a", "b"]):
            text = io.StringIO()
            with redirect_stderr(text):
                self.assertEqual(run.main(arguments), 2)
            self.assertIn("usage", text.getvalue())
        for arguments in (["--minutes"], ["--minutes", "0"], ["--minutes", "x"], ["x"]):
            with self.assertRaises(changes.UsageError):
                nightly.minutes_of(arguments)


class Night(unittest.TestCase):
    def items(self, began: list[str]) -> list[nightly.Item]:
        def item(kind: str, name: str, good: bool) -> nightly.Item:
            return nightly.Item(kind, name, lambda: began.append(name) or good)

        return [
            item("clang-tidy", "a", True),
            item("sanitizers", "b", True),
            item("long test", "c", False),
        ]

    def test_goes_on_where_it_ended(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(
            nightly, "git", return_value=""
        ), mock.patch.object(nightly, "head_commit", return_value="1" * 40):
            began: list[str] = []
            failed, left = nightly.do(self.items(began), nightly.Memory(Path(folder)), float("inf"))
            self.assertEqual(([item.name for item in failed], left), (["c"], []))
            self.assertEqual(sorted(began), ["a", "b", "c"])
            # What failed is tried again.
            self.assertEqual(
                nightly.Memory(Path(folder)).passed, {"clang-tidy: a", "sanitizers: b"}
            )

    def test_begins_nothing_after_its_end(self):
        began: list[str] = []
        with mock.patch.object(nightly, "git", return_value="dirty"), redirect_stdout(
            io.StringIO()
        ):
            memory = nightly.Memory(Path("/nonexistent"))
        failed, left = nightly.do(self.items(began), memory, 0)
        self.assertEqual((began, failed, len(left)), ([], [], 3))

    def test_sees_something_of_everything(self):
        kinds = [
            [nightly.Item(kind, str(i), lambda: True) for i in range(n)]
            for kind, n in (("a", 4), ("b", 2))
        ]
        self.assertEqual("".join(item.kind for item in nightly.interleaved(*kinds)), "abaaba")


class CommittedTables(unittest.TestCase):
    def test_name_only_what_there_is(self):
        targets = Targets.of_build(BUILD)
        rows = plan.Seconds.read(SOURCE / ".ci/seconds/sanitizers.txt").of
        self.assertEqual(sorted(set(rows) - set(targets.by_name)), [])
        rows = plan.Seconds.read(SOURCE / ".ci/seconds/tidy.txt").of
        self.assertEqual([row for row in rows if not any((SOURCE / row).glob("*.cpp"))], [])

    def test_know_most_of_what_runs_under_sanitizers(self):
        targets = Targets.of_build(BUILD)
        rows = plan.Seconds.read(SOURCE / ".ci/seconds/sanitizers.txt").of
        programs = sum(targets.sanitized_folders().values(), [])
        unknown = [program for program in programs if program not in rows]
        self.assertLess(len(unknown), len(programs) / 4, f"measure again: {unknown}")


if __name__ == "__main__":
    unittest.main()
