"""`.ci/quick [--fast]`: what refuses most submissions, from a built tree, in 90 s (`--fast`: 25 s, no clang-tidy)."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor

import checks
import english
from changes import ROOT, UsageError, base_commit, changes_since
from checks import RELEASE, TIMED_OUT, say
from plan import sources_of

SECONDS = 90
FAST_SECONDS = 25
TIDY_SOURCES = 8

# Tests that compare pages and tables of the project with what they describe, by ctest's expressions.
TABLES = {
    "links": "^Links[.]",
    "arrows between folders": "^Scripts[.]arrows",
    "tables of inputs": "^NumericOptions[.]AllHaveARow",
    "tables of configurations": "EveryValueIsDocumented",
}


class Quick:
    def __init__(self, seconds: float):
        self.end = time.monotonic() + seconds
        self.left: list[str] = []
        self.failed: list[str] = []

    def remaining(self) -> float:
        return self.end - time.monotonic()

    def check(self, name: str, command) -> None:
        """`command(limit)` gives an exit status; what the time does not suffice for is left."""
        status = command(self.remaining()) if self.remaining() > 1 else TIMED_OUT
        if status == TIMED_OUT:
            self.left.append(name)
        elif status != 0:
            self.failed.append(name)
        else:
            say(f"ok: {name}")

    def table(self, name: str, tests: str) -> None:
        command = [
            "ctest",
            "--test-dir",
            RELEASE,
            "-R",
            tests,
            "-E",
            "_NOT_BUILT$",
            "--output-on-failure",
        ]

        def run_tests(limit: float) -> int:
            status, text = checks.run(*command, "-j", checks.JOBS, limit=limit)
            if "No tests were found" in text:
                say(f"{name}: no test is built; ./weft test builds them")
                return TIMED_OUT
            if status not in (0, TIMED_OUT):
                say(checks.without_progress(text))
            return status

        self.check(name, run_tests)

    def tidy(self, sources: list[str], tidy: checks.Tidy) -> None:
        self.left += [f"clang-tidy {source}" for source in sources[TIDY_SOURCES:]]
        with ThreadPoolExecutor(checks.JOBS) as pool:
            for source in sources[:TIDY_SOURCES]:
                pool.submit(
                    self.check,
                    f"clang-tidy {source}",
                    lambda limit, source=source: tidy.check(source, limit),
                )


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--fast"]):
        return checks.usage_error(
            UsageError(f"usage: .ci/quick [--fast]; found: {' '.join(arguments)}")
        )
    fast = bool(arguments)
    try:
        base = base_commit()
        content = changes_since(base).content
    except UsageError as error:
        return checks.usage_error(error)
    quick = Quick(FAST_SECONDS if fast else SECONDS)
    quick.check("clang-format", lambda _: 0 if checks.check_format(content) else 1)
    quick.check("plain English", lambda _: 0 if english.passes(base.commit) else 1)
    for name, tests in TABLES.items():
        quick.table(name, tests)
    tidy = checks.Tidy()
    if not fast and tidy.prepare():
        quick.tidy(tidy.checkable(sources_of(content, ROOT)), tidy)
    for name in quick.left:
        say(f"left: {name}")
    for name in quick.failed:
        say(f"FAILED: {name}")
    return 1 if quick.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
