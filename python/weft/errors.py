"""What can go wrong. The messages are the program's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weft.comparison import Comparison
    from weft.results import Run


class WeftError(Exception):
    """All errors of this package."""


class MissingResult(WeftError):
    """A missing folder or table of results; the message says how to make it."""


class DamagedResult(WeftError):
    """A file of results that cannot be read: it was cut short or changed. The message names the file."""


class ProgramFailed(WeftError):
    """The program ended with an exit code other than 0.

    exit_code: of the program; below 0 the number of the signal that killed it.
    command:   the words of the command line.
    results:   results that the program wrote, or None.
    """

    def __init__(
        self,
        message: str,
        exit_code: int,
        command: Sequence[str] = (),
        results: Run | Comparison | None = None,
    ) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.command = list(command)
        self.results = results


class WrongResult(ProgramFailed):
    """Exit code 1: the result is not the CPU's, or a protocol or scalar check failed."""


class UsageError(ProgramFailed):
    """Exit code 2: a bad name, option, configuration or input, or results that cannot be written."""


class SimulatedFault(ProgramFailed):
    """Exit code 3: a fault, a hang, a limit such as max_cycles, or a finding of a check."""


def error_of(exit_code: int) -> type[ProgramFailed]:
    """The exception that stands for an exit code of the program."""
    return {1: WrongResult, 2: UsageError, 3: SimulatedFault}.get(exit_code, ProgramFailed)
