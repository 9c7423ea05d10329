"""The notebook runs from beginning to end, and shows what the program computes."""

import json
import os
import unittest
from pathlib import Path

import nbformat
from nbclient import NotebookClient

import weft
from fakes import FolderTest

_FOLDER = Path(weft.__file__).resolve().parents[1]
_NOTEBOOK = _FOLDER / "divergence.ipynb"
# Behind its last cell: what a reader sees, as numbers.
_LOOK = """
import json
json.dumps([speedup.to_dict(), lane_activity.to_dict(), lost.sum().to_dict(), run.cycles])
"""


class Notebook(FolderTest):
    WEFT = os.environ.get("WEFT", "")

    def test_is_committed_without_outputs(self) -> None:
        for cell in nbformat.read(_NOTEBOOK, as_version=4).cells:
            if cell.cell_type == "code":
                self.assertEqual((cell.outputs, cell.execution_count), ([], None))

    def test_runs_and_is_right(self) -> None:
        # What kernels write lies in the folder of the test, not in the home of whoever runs it.
        for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "HOME"):
            os.environ[name] = str(self.folder)
        os.environ["WEFT"] = self.WEFT
        notebook = nbformat.read(_NOTEBOOK, as_version=4)
        notebook.cells.append(nbformat.v4.new_code_cell(_LOOK))
        NotebookClient(
            notebook, timeout=50, kernel_name="python3", resources={"metadata": {"path": _FOLDER}}
        ).execute()
        outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
        kinds = [kind for output in outputs for kind in output.get("data", {})]
        self.assertEqual(kinds.count("image/svg+xml"), 3)
        self.assertGreaterEqual(kinds.count("text/html"), 4)

        seen = outputs[-1]["data"]["text/plain"].strip("'")
        speedup, activity, lost, cycles = json.loads(seen)
        alone = weft.compare("bfs", ["sbr", "harp"], config="harp-fermi", size="small", jobs=1)
        self.assertAlmostEqual(
            speedup["harp"]["bfs"], alone.table("speedup").loc["bfs", "harp"], places=9
        )
        for scheme in ("sbr", "harp"):
            run = alone.runs["bfs", scheme]
            self.assertAlmostEqual(activity[scheme]["bfs"], run.stats["lane_activity"], places=9)
            empty = run.instructions["thread_places"] - run.instructions["thread_instructions"]
            self.assertLessEqual(lost[scheme], empty.sum())
            self.assertGreater(lost[scheme], 0.9 * empty.sum())
        # That of the comparison observes more, which takes no time.
        self.assertEqual(cycles, alone.runs["bfs", "harp"].cycles)


if __name__ == "__main__":
    unittest.main()
