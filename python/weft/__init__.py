"""Runs simulations of a SIMT GPU with the program ``weft``, and reads its results as pandas frames.

    import weft

    run = weft.run("bfs", config="harp-fermi", scheme="harp", size="small", sample=500)
    run.stats["ipc"], run.verified
    run.statistics.filter(like="l2_0.")
    run.launches[["kernel", "cycles", "lane_activity"]]

    both = weft.compare(["bfs", "reduction"], ["sbr", "harp"], config="harp-fermi", size="small")
    both.table("speedup")

    weft.read("out/bfs")  # the results of an earlier ``weft run --out out/bfs``, or of ``weft compare``
"""

from weft.chart import Chart, bars
from weft.commands import compare, measures, read, run
from weft.comparison import Comparison
from weft.errors import (
    DamagedResult,
    MissingResult,
    ProgramFailed,
    SimulatedFault,
    UsageError,
    WeftError,
    WrongResult,
)
from weft.program import find_program
from weft.results import Run

__all__ = [
    "Chart",
    "Comparison",
    "DamagedResult",
    "MissingResult",
    "ProgramFailed",
    "Run",
    "SimulatedFault",
    "UsageError",
    "WeftError",
    "WrongResult",
    "bars",
    "compare",
    "find_program",
    "measures",
    "read",
    "run",
]
