"""The checks that `.ci/run`, `.ci/quick` and `./weft campaign nightly` are made of."""

import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from changes import ROOT, git

JOBS = int(os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or os.cpu_count() or 1)
RELEASE = ROOT / "build/release"
ASAN = ROOT / "build/asan"
TIDY = ROOT / "build/tidy"
NINJA_PROGRESS = re.compile(r"^\[\d+/\d+\] ")
CTEST_PROGRESS = re.compile(r"\d+/\d+ Test .*Passed|^ *Start ")


def say(text: str) -> None:
    print(text, flush=True)


TIMED_OUT = 124  # exit status, as timeout(1) has it


def run(*command, env: dict[str, str] | None = None, limit: float | None = None) -> tuple[int, str]:
    """Exit status and all output. After `limit` seconds the command and what it started are killed: TIMED_OUT."""
    process = subprocess.Popen(
        [str(part) for part in command],
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=limit is not None,
    )
    try:
        text, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return TIMED_OUT, ""
    return process.returncode, text


def without_progress(text: str) -> str:
    lines = text.splitlines()
    return "\n".join(
        line for line in lines if not NINJA_PROGRESS.match(line) and not CTEST_PROGRESS.search(line)
    )


def configure(preset: str) -> bool:
    status, text = run("cmake", "--preset", preset, "-DBUILD_TESTING=ON")
    if status != 0:
        say(text)
    return status == 0


def check_format(files: list[str]) -> bool:
    """clang-format over sources and headers."""
    files = [file for file in files if file.endswith((".cpp", ".h"))]
    if not files:
        return True
    batches = [files[first::JOBS] for first in range(min(JOBS, len(files)))]
    with ThreadPoolExecutor(JOBS) as pool:
        texts = [
            text
            for _, text in pool.map(
                lambda batch: run("clang-format-19", "--dry-run", *batch), batches
            )
        ]
    wrong = sorted(
        set(re.findall(r"^([^ :\n]+):\d+:\d+: warning:", "\n".join(texts), re.MULTILINE))
    )
    if wrong:
        say("not formatted; run clang-format-19 -i on\n" + "\n".join(wrong))
    return not wrong


def all_sources() -> list[str]:
    return (git("ls-files", "--", "*.cpp", "*.h") or "").splitlines()


class Tidy:
    """clang-tidy of single files, with the commands of the preset `tidy` and what the release build generated.

    The static analyzer (clang-analyzer-*) takes two thirds of clang-tidy's time: only the nightly campaign has it.
    """

    def __init__(self, analyzer: bool = False):
        self.checks = [] if analyzer else ["--checks=-clang-analyzer-*"]
        self.commands = TIDY / "single"
        self.known = ""

    def prepare(self) -> bool:
        if not configure("tidy"):
            return False
        # Generated sources are in the release build. Precompiled headers are those of `tidy`, since the release build
        # has none for targets whose sources are compiled together.
        text = (TIDY / "compile_commands.json").read_text().replace(str(TIDY), str(RELEASE))
        text = re.sub(
            re.escape(str(RELEASE)) + r"/([^ \"]*/cmake_pch\.hxx)", str(TIDY) + r"/\1", text
        )
        self.commands.mkdir(exist_ok=True)
        (self.commands / "compile_commands.json").write_text(text)
        self.known = text
        return True

    def checkable(self, sources: list[str]) -> list[str]:
        """Those that the build compiles."""
        return [source for source in sources if f'/{source}"' in self.known]

    def check(self, source: str, limit: float | None = None) -> int:
        """clang-tidy's exit status, or TIMED_OUT; what it found is printed."""
        status, text = run(
            "clang-tidy-19", "--quiet", "-p", self.commands, *self.checks, source, limit=limit
        )
        if status not in (0, TIMED_OUT):
            noise = re.compile(r"warnings? (generated|treated)")
            say("\n".join(line for line in text.splitlines() if not noise.search(line)))
        return status

    def check_all(self, sources: list[str]) -> bool:
        with ThreadPoolExecutor(JOBS) as pool:
            return not any(list(pool.map(self.check, sources)))


# SC_THREAD stacks and the sanitizer's fake stacks do not go together. Of the random kernels one for each machine.
SANITIZER_ENVIRONMENT = {
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "ASAN_OPTIONS": "detect_stack_use_after_return=0",
    "SYSTEMC_DISABLE_COPYRIGHT_MESSAGE": "1",
    "WEFT_CAMPAIGN_KERNELS": "1",
    "WEFT_CAMPAIGN": "",  # a slice, also where `./weft campaign` asks for a full one
}


def sanitize(folder: str, programs: list[str]) -> bool:
    """Builds the test programs of one folder under ASan and UBSan and runs them; the preset `asan` is configured."""
    status, text = run("cmake", "--build", ASAN, "-j", JOBS, "--target", *programs)
    if status == 0:
        status, text = run(
            "ctest", "--test-dir", ASAN / folder, "-L", "unit|campaign", "-j", JOBS, "--output-on-failure",
            "--no-tests=error", env=SANITIZER_ENVIRONMENT,
        )  # fmt: skip
    passed = re.search(r".*tests passed.*", text)
    say(f"{folder}: {passed.group() if passed else 'not built'}")
    if status != 0:
        say(without_progress(text) + f"\n{folder}: FAILED")
    return status == 0


def verdict(passed: list[str], failed: list[str], seconds: float) -> int:
    """The last lines of a run, and its exit status."""
    say("")
    for name in passed:
        say(f"passed: {name}")
    for name in failed:
        say(f"FAILED: {name}")
    say(f"ci: {seconds:.0f} s\n{len(passed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def usage_error(error: Exception) -> int:
    print(error, file=sys.stderr)
    return 2
