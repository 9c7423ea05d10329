"""`python3 .ci/steps/measure.py`: makes the tables in .ci/seconds anew, on a machine that does nothing else.

sanitizers.txt: seconds for building each target with ASan and UBSan and, of a test program, for running its tests;
what build/asan last built and ran, from the logs of ninja and ctest. Delete build/asan and set CCACHE_DISABLE=1 first,
then run `.ci/run`, or the nightly campaign for all. tidy.txt: mean seconds of CPU for clang-tidy of a source in each folder,
from at most SAMPLES of each. Rows of what was not measured stay.
"""

import json
import resource
import sys
from pathlib import Path

import checks
from changes import ROOT, git
from checks import ASAN, say
from plan import Seconds
from targets import Targets

TABLES = ROOT / ".ci/seconds"
SAMPLES = 1


def build_seconds(build: Path, targets: Targets) -> dict[str, float]:
    """Of the last time that each output was made."""
    last: dict[str, tuple[str, float]] = {}
    for line in (build / ".ninja_log").read_text().splitlines()[1:]:
        start, end, _, output, command = line.split("\t")
        last[command + start] = (output.removeprefix(f"{build}/"), (int(end) - int(start)) / 1000)
    seconds: dict[str, float] = {}
    for output, spent in last.values():
        name = target_of(output, targets)
        if name:
            seconds[name] = seconds.get(name, 0.0) + spent
    return seconds


def target_of(output: str, targets: Targets) -> str | None:
    parts = output.split("/")
    if "CMakeFiles" in parts:
        return parts[parts.index("CMakeFiles") + 1].removesuffix(".dir")
    name = parts[-1].removeprefix("lib").split(".")[0]
    if name in targets.by_name:
        return name
    owners = targets.owners(output)  # what is generated for a target
    return owners[0].name if owners else None


def test_seconds(build: Path) -> dict[str, float]:
    """Of the tests that ran last, by program."""
    costs: dict[str, float] = {}
    for file in build.glob("tests/*/Testing/Temporary/CTestCostData.txt"):
        for line in file.read_text().split("---")[0].splitlines():
            name, _, cost = line.rsplit(" ", 2)
            costs[name] = float(cost)
    status, text = checks.run("ctest", "--test-dir", build, "--show-only=json-v1")
    if status != 0:
        raise RuntimeError(text)
    seconds: dict[str, float] = {}
    for test in json.loads(text)["tests"]:
        if test["name"] in costs and test.get("command"):
            program = Path(test["command"][0]).name
            seconds[program] = seconds.get(program, 0.0) + costs[test["name"]]
    return seconds


def write(name: str, heading: str, seconds: dict[str, float]) -> None:
    rows = {**Seconds.read(TABLES / name).of, **seconds} if (TABLES / name).is_file() else seconds
    text = "".join(f"{row} {rows[row]:.1f}\n" for row in sorted(rows))
    (TABLES / name).write_text(f"# {heading} Made by .ci/steps/measure.py.\n{text}")


def measure_sanitizers() -> None:
    targets = Targets.of_build(ASAN)
    built, ran = build_seconds(ASAN, targets), test_seconds(ASAN)
    names = (set(built) | set(ran)) & set(targets.by_name)
    seconds = {name: built.get(name, 0.0) + ran.get(name, 0.0) for name in names}
    write(
        "sanitizers.txt",
        "Seconds to build a target with ASan and UBSan, and to run the tests of a program.",
        seconds,
    )


def measure_tidy() -> None:
    tidy = checks.Tidy()
    if not tidy.prepare():
        raise RuntimeError("the preset `tidy` cannot be configured")
    folders: dict[str, list[str]] = {}
    for source in tidy.checkable((git("ls-files", "--", "*.cpp") or "").splitlines()):
        folders.setdefault(source.rsplit("/", 1)[0], []).append(source)
    known = Seconds.read(TABLES / "tidy.txt").of if (TABLES / "tidy.txt").is_file() else {}
    for folder, sources in sorted(folders.items()):
        if folder in known:
            continue
        # Of middle size.
        sources.sort(key=lambda source: (ROOT / source).stat().st_size)
        middle = len(sources) // 2
        sample = sources[max(middle - SAMPLES // 2, 0) :][:SAMPLES]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for source in sample:
            tidy.check(source)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        write(
            "tidy.txt",
            "Mean CPU seconds for clang-tidy of a source.",
            {folder: spent / len(sample)},
        )
        say(f"{folder}: {spent / len(sample):.1f} s")


def main(arguments: list[str]) -> int:
    known = {"sanitizers": measure_sanitizers, "tidy": measure_tidy}
    for name in arguments or known:
        if name not in known:
            print(f"unknown table {name}; known: {' '.join(known)}", file=sys.stderr)
            return 2
        known[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
