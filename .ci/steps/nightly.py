"""`./weft campaign nightly [--minutes N]`: the long rest that `.ci/run` leaves.

Test folders under sanitizers, clang-tidy of every source with its static analyzer, and the tests that take long (ctest's
label `all`); what `.ci/run` left of the changes since the base comes first. What passed is remembered for each commit in
build/nightly/COMMIT, so that the next call goes on. The last lines say what failed and what is left.
"""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import checks
from changes import ROOT, UsageError, base_commit, changes_since, git, head_commit
from checks import RELEASE, say
from plan import changed_test_folders, sources_of
from targets import Targets


@dataclass(frozen=True)
class Item:
    kind: str
    name: str
    check: Callable[[], bool]

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}"


class Memory:
    """Items that passed at this commit. With uncommitted changes nothing is remembered."""

    def __init__(self, folder: Path):
        dirty = bool(git("status", "--porcelain"))
        self.file = None if dirty else folder / head_commit()
        if dirty:
            say("uncommitted changes: what passes is not remembered")
        known = self.file is not None and self.file.is_file()
        self.passed = set(self.file.read_text().splitlines()) if known else set()

    def add(self, item: Item) -> None:
        self.passed.add(str(item))
        if self.file is not None:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a") as out:
                out.write(f"{item}\n")


def changed_first(names: list[str], changed: list[str]) -> list[str]:
    return [name for name in names if name in changed] + [
        name for name in names if name not in changed
    ]


def tidy_items(changed: list[str]) -> list[Item]:
    tidy = checks.Tidy(analyzer=True)
    if not tidy.prepare():
        raise UsageError("the preset `tidy` cannot be configured")
    sources = tidy.checkable([source for source in checks.all_sources() if source.endswith(".cpp")])
    return [
        Item("clang-tidy", source, lambda source=source: tidy.check(source) == 0)
        for source in changed_first(sources, sources_of(changed, ROOT))
    ]


def sanitizer_items(changes) -> list[Item]:
    if not checks.configure("asan"):
        raise UsageError("the preset `asan` cannot be configured")
    targets = Targets.of_build(checks.ASAN)
    programs = targets.sanitized_folders()
    changed, dependents = changed_test_folders(changes, targets)
    return [
        Item("sanitizers", folder, lambda folder=folder: checks.sanitize(folder, programs[folder]))
        for folder in changed_first(list(programs), changed + dependents)
    ]


def long_test(number: int) -> bool:
    status, text = checks.run(
        "ctest", "--test-dir", RELEASE, "-I", f"{number},{number}", "--output-on-failure", "--no-tests=error",
        env={"WEFT_CAMPAIGN": "long", "SYSTEMC_DISABLE_COPYRIGHT_MESSAGE": "1"},
    )  # fmt: skip
    if status != 0:
        say(checks.without_progress(text))
    return status == 0


def long_items() -> list[Item]:
    status, text = checks.run(
        "cmake", "--build", RELEASE, "-j", checks.JOBS, "--target", "long_tests"
    )
    if status != 0:
        say(checks.without_progress(text))
        raise UsageError("the tests that take long cannot be built")
    _, text = checks.run("ctest", "--test-dir", RELEASE, "--show-only=json-v1")
    # Numbers as -I counts them; names have characters that mean something in an expression.
    tests = enumerate(json.loads(text)["tests"], start=1)

    def labels(test) -> list[str]:
        return next(
            (entry["value"] for entry in test.get("properties", []) if entry["name"] == "LABELS"),
            [],
        )

    items = [
        Item("long test", test["name"], lambda number=number: long_test(number))
        for number, test in tests
        if labels(test) == ["all"]
    ]
    if not items:
        raise UsageError("no test has the label `all`")
    return items


def interleaved(*lists: list[Item]) -> list[Item]:
    """All lists, each spread evenly, so that a short night sees something of everything."""
    ranked = [
        (position / len(items), item) for items in lists for position, item in enumerate(items)
    ]
    return [item for _, item in sorted(ranked, key=lambda pair: pair[0])]


def do(items: list[Item], memory: Memory, end: float) -> tuple[list[Item], list[Item]]:
    """Items that failed and items that are left. An item that has begun is finished; none begins after `end`."""
    failed: list[Item] = []
    left: list[Item] = []

    def work(item: Item) -> None:
        if time.monotonic() >= end:
            left.append(item)
        elif item.check():
            memory.add(item)
        else:
            failed.append(item)

    # Folders under sanitizers share a build folder and use all cores by themselves.
    alone = [item for item in items if item.kind == "sanitizers"]
    with ThreadPoolExecutor(checks.JOBS) as pool:
        waiting = []
        for item in items:
            if item in alone:
                for future in waiting:
                    future.result()
                waiting = []
                work(item)
            else:
                waiting.append(pool.submit(work, item))
        for future in waiting:
            future.result()
    return failed, left


def minutes_of(arguments: list[str]) -> float | None:
    if not arguments:
        return None
    try:
        if arguments[0] == "--minutes" and len(arguments) == 2 and float(arguments[1]) > 0:
            return float(arguments[1])
    except ValueError:
        pass
    raise UsageError(
        f"usage: ./weft campaign nightly [--minutes N], N above 0; found: {' '.join(arguments)}"
    )


def main(arguments: list[str]) -> int:
    start = time.monotonic()
    try:
        minutes = minutes_of(arguments)
        changes = changes_since(base_commit())
        memory = Memory(ROOT / "build/nightly")
        items = interleaved(sanitizer_items(changes), tidy_items(changes.content), long_items())
    except UsageError as error:
        return checks.usage_error(error)
    todo = [item for item in items if str(item) not in memory.passed]
    say(
        f"nightly, {head_commit()}: {len(items)} items, {len(items) - len(todo)} of them passed before"
    )
    end = start + minutes * 60 if minutes is not None else float("inf")
    failed, left = do(todo, memory, end)
    say("")
    for kind in dict.fromkeys(item.kind for item in left):
        say(f"left, {kind}: {sum(item.kind == kind for item in left)}")
    for item in failed:
        say(f"FAILED: {item}")
    done = len(todo) - len(failed) - len(left)
    say(
        f"nightly: {time.monotonic() - start:.0f} s; {done} passed now, {len(failed)} failed, {len(left)} left"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
