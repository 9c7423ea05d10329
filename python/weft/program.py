"""Finds the program ``weft`` and calls it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.errors import WeftError

_IN_CHECKOUT = Path("build/release/sc_main/weft")


def find_program(program: str | os.PathLike[str] | None = None) -> str:
    """The program's path: the argument, $WEFT, ``weft`` in $PATH, or the build of the checkout in
    which this package lies; the first that is given or there. WeftError if it cannot be run."""
    for name, source in ((program, "program"), (os.environ.get("WEFT"), "WEFT")):
        if not name:
            continue
        found = shutil.which(os.path.expanduser(os.fspath(name)))
        if found is None:
            raise WeftError(f"{source}: '{name}' is not a program that can be run")
        return found
    found = shutil.which("weft")
    if found is not None:
        return found
    built = Path(__file__).resolve().parents[2] / _IN_CHECKOUT
    if os.access(built, os.X_OK):
        return str(built)
    raise WeftError(
        f"the program weft was not found: not given as program=, nor in WEFT, nor in PATH, nor as {built}"
    )


@dataclass(frozen=True)
class Call:
    """A call of the program that has ended."""

    command: list[str]
    exit_code: int
    output: str
    messages: str


def call(command: Sequence[str]) -> Call:
    """Runs a command to its end. An interrupt (Ctrl-C) is passed on, so that the program stops where it
    is and writes what it has; then KeyboardInterrupt is raised. A second one kills it."""
    environment = {**os.environ, "SYSTEMC_DISABLE_COPYRIGHT_MESSAGE": "1"}
    with subprocess.Popen(
        list(command),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=environment,
        # A group of its own: else Ctrl-C would come from the terminal, too, and twice means at once.
        start_new_session=True,
    ) as process:
        try:
            output, messages = process.communicate()
        except BaseException as error:
            try:
                if isinstance(error, KeyboardInterrupt):
                    os.killpg(process.pid, signal.SIGINT)
                    process.communicate()
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
            raise
    return Call(list(command), process.returncode, output, messages)
