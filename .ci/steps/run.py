"""`.ci/run [BASE]`: what must pass before a change is merged; `.ci/run --plan [BASE]` prints what that would be."""

import subprocess
import sys
import textwrap
import time

import checks
import english
from changes import ROOT, UsageError, base_commit, changes_since, head_commit
from checks import say
from plan import Choice, Seconds, changed_test_folders, sanitizer_choice, sources_of, tidy_choice
from targets import Targets

TABLES = ROOT / ".ci/seconds"


def say_choice(what: str, choice: Choice) -> None:
    say(f"{what}: {len(choice.picked)}, about {choice.seconds:.0f} s of CPU")
    say_names(choice.picked)
    if choice.left:
        say(f"{what}, left to ./weft campaign nightly: {len(choice.left)}")
        say_names(choice.left)


def say_names(names: list[str]) -> None:
    if names:
        say(
            textwrap.fill(
                " ".join(names),
                118,
                initial_indent="  ",
                subsequent_indent="  ",
                break_on_hyphens=False,
            )
        )


class Run:
    def __init__(self, wanted_base: str | None):
        self.base = base_commit(wanted_base)
        self.changes = changes_since(self.base)
        self.passed: list[str] = []
        self.failed: list[str] = []
        say(
            f"base: {self.base.commit} ({self.base.reason}); HEAD: {head_commit()}; {len(self.changes.all)} files changed"
        )

    def tidy_choice(self, tidy: checks.Tidy) -> Choice:
        sources = tidy.checkable(sources_of(self.changes.content, ROOT))
        choice = tidy_choice(sources, Seconds.read(TABLES / "tidy.txt"))
        say_choice("sources for clang-tidy", choice)
        return choice

    def sanitizer_choice(self, targets: Targets) -> Choice:
        changed, dependents = changed_test_folders(self.changes, targets)
        choice = sanitizer_choice(
            changed + dependents, targets, Seconds.read(TABLES / "sanitizers.txt")
        )
        say_choice("test folders under ASan and UBSan", choice)
        return choice

    def tidy(self) -> bool:
        tidy = checks.Tidy()
        return tidy.prepare() and tidy.check_all(self.tidy_choice(tidy).picked)

    def sanitizers(self) -> bool:
        if not checks.configure("asan"):
            return False
        targets = Targets.of_build(checks.RELEASE)
        programs = targets.sanitized_folders()
        return all(
            [
                checks.sanitize(folder, programs[folder])
                for folder in self.sanitizer_choice(targets).picked
            ]
        )

    def step(self, name: str, check) -> None:
        """Runs also after a step that failed."""
        start = time.monotonic()
        say(f"\n== {name}")
        good = check()
        (self.passed if good else self.failed).append(
            f"{name} {time.monotonic() - start:.0f} s" if good else name
        )

    def all(self) -> int:
        start = time.monotonic()
        self.step("clang-format", lambda: checks.check_format(checks.all_sources()))
        self.step("plain English", lambda: english.passes(self.base.commit))
        self.step(
            "tests", lambda: subprocess.run([ROOT / "weft", "test"], cwd=ROOT).returncode == 0
        )
        self.step("clang-tidy", self.tidy)
        self.step("unit tests under ASan and UBSan", self.sanitizers)
        return checks.verdict(self.passed, self.failed, time.monotonic() - start)

    def plan(self) -> int:
        """Configures, but builds nothing."""
        tidy = checks.Tidy()
        if not tidy.prepare() or not checks.configure("release"):
            return 2
        self.tidy_choice(tidy)
        self.sanitizer_choice(Targets.of_build(checks.RELEASE))
        return 0


def main(arguments: list[str]) -> int:
    plan_only = arguments[:1] == ["--plan"]
    arguments = arguments[1:] if plan_only else arguments
    if len(arguments) > 1 or (arguments and arguments[0].startswith("-")):
        return checks.usage_error(
            UsageError(f"usage: .ci/run [--plan] [BASE]; found: {' '.join(arguments)}")
        )
    try:
        run = Run(arguments[0] if arguments else None)
        return run.plan() if plan_only else run.all()
    except UsageError as error:
        return checks.usage_error(error)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
