"""Tests arrows.py on small trees with a planted fault each:  arrows_test.py"""

import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))

import arrows  # noqa: E402

LAYERS = """\
# a comment
bottom: modules/common
middle: modules/ptx modules/isa
top: platform runtime

outside: tests modules/isa/borrowed
generated: registers.h modules/isa
"""

SOUND = {
    "include/weft/common/error.h": "",
    "modules/common/error.cpp": '#include "weft/common/error.h"\n',
    "modules/ptx/parse.cpp": '#include <vector>\n#include "weft/common/error.h"\n',
    "modules/isa/isa.h": "",
    "modules/isa/inner/isa.cpp": '#include "isa/isa.h"\n#include "ptx/tokens.h"\n',
    "modules/ptx/tokens.h": "",
    "modules/isa/borrowed/point.cc": '#include "nowhere.h"\n',
    "include/weft/platform/gpu.h": '  #  include "weft/common/error.h"\n#include "registers.h"\n',
    "platform/gpu.cpp": '#include "weft/platform/gpu.h"\n',
    "tests/ptx_test.cpp": '#include "platform/gpu.h"\n',
    "modules/ptx/CMakeLists.txt": "\nweft_module(ptx SOURCES parse.cpp\n  LINK weft::common)\n",
}
TARGETS = """\
library weft_archive weft_common weft_ptx
library weft_common modules/common weft_flags dl
library weft_ptx modules/ptx weft_flags weft::common
library weft_platform platform weft_ptx
unit ptx_test tests weft::platform
"""


class Arrows(unittest.TestCase):
    def tree(self, files: dict[str, str], targets: str = TARGETS) -> arrows.Tree:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = Path(folder.name)
        for name, text in {**SOUND, **files, "targets.txt": targets}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return arrows.Tree(root, arrows.Layers.of_text(LAYERS), root / "targets.txt")

    def problems(self, files=None, targets: str = TARGETS, allowed=()) -> list[str]:
        return self.tree(files or {}, targets).check(list(allowed))

    def test_a_sound_tree(self):
        self.assertEqual(self.problems(), [])

    def test_an_include_upwards(self):
        upward = {"modules/ptx/parse.h": '// why\n#include "weft/platform/gpu.h"\n'}
        self.assertEqual(
            self.problems(upward),
            [
                'modules/ptx/parse.h:2: includes "weft/platform/gpu.h" points upwards: modules/ptx (layer '
                "'middle') may not need platform (layer 'top'); allowed are the layers bottom, middle"
            ],
        )

    def test_an_include_upwards_of_a_public_header(self):
        upward = {
            "include/weft/common/all.h": '#include "platform/gpu_parts.h"\n',
            "platform/gpu_parts.h": "",
        }
        (problem,) = self.problems(upward)
        self.assertIn("include/weft/common/all.h:1: includes", problem)
        self.assertIn("modules/common (layer 'bottom') may not need platform", problem)

    def test_a_generated_header_upwards(self):
        (problem,) = self.problems({"modules/common/error.h": "#include <registers.h>\n"})
        self.assertIn("modules/common (layer 'bottom') may not need modules/isa", problem)

    def test_a_link_upwards(self):
        targets = TARGETS.replace(
            "weft_flags weft::common", "weft_flags weft::common weft::platform"
        )
        files = {
            "modules/ptx/CMakeLists.txt": "\nweft_module(ptx\n  LINK weft::common weft::platform)\n"
        }
        (problem,) = self.problems(files, targets)
        self.assertIn(
            "modules/ptx/CMakeLists.txt:3: weft_ptx links weft_platform points upwards", problem
        )

    def test_a_circle_in_a_layer(self):
        (problem,) = self.problems({"modules/ptx/parse.h": '#include "isa/isa.h"\n'})
        self.assertIn(
            "a circle in the layer 'middle': modules/isa -> modules/ptx -> modules/isa", problem
        )
        self.assertIn("modules/ptx/parse.h:1: modules/ptx includes", problem)
        self.assertIn("modules/isa/inner/isa.cpp:2: modules/isa includes", problem)

    def test_a_circle_of_a_link_and_an_include(self):
        targets = TARGETS + "library weft_isa modules/isa\n"
        targets = targets.replace("weft_flags weft::common", "weft_flags weft::common weft::isa")
        (problem,) = self.problems({}, targets)
        self.assertIn("a circle in the layer 'middle'", problem)
        self.assertIn("weft_ptx links weft_isa", problem)

    def test_a_listed_arrow_may_stay_and_must_go_when_it_is_gone(self):
        upward = {"modules/ptx/parse.h": '#include "weft/platform/gpu.h"\n'}
        allowed = arrows.lines_of("# why\nmodules/ptx/parse.h   include/weft/platform/gpu.h\n")
        self.assertEqual(self.problems(upward, allowed=allowed), [])
        self.assertEqual(
            self.problems(allowed=allowed),
            [
                "arrows_upwards.txt: 'modules/ptx/parse.h include/weft/platform/gpu.h' is no longer there; "
                "remove the line"
            ],
        )
        # Another include in the same file is not allowed with it.
        upward["modules/ptx/parse.h"] += '#include "runtime/device.h"\n'
        upward["runtime/device.h"] = ""
        self.assertEqual(len(self.problems(upward, allowed=allowed)), 1)

    def test_without_targets_a_listed_link_counts_as_there(self):
        tree = self.tree({})
        listed = ["modules/ptx/CMakeLists.txt weft_ptx weft_platform"]
        self.assertEqual(len(tree.check(listed)), 1)
        self.assertEqual(arrows.Tree(tree.root, tree.layers).check(listed), [])

    def test_a_folder_without_a_layer(self):
        (problem,) = self.problems({"study/plan/plan.cpp": "", "study/plan/plan.h": ""})
        self.assertIn("study/plan/plan.cpp: the folder study/plan has no layer; add it to", problem)
        self.assertIn("tests/scripts/layers.txt, above all that it includes", problem)
        self.assertIn("a line 'NAME: study/plan'", problem)

    def test_a_header_that_is_not_there(self):
        (problem,) = self.problems({"platform/gpu.cpp": '\n#include "weft/versions.h"\n'})
        self.assertIn('platform/gpu.cpp:2: "weft/versions.h" is not in the tree', problem)

    def test_a_folder_in_two_layers(self):
        with self.assertRaises(SystemExit) as error:
            arrows.Layers.of_text("a: modules/ptx\nb: modules/ptx\n")
        self.assertIn("layers.txt:2: modules/ptx has a layer already", str(error.exception))

    def test_the_drawing(self):
        text = self.tree({"modules/common/upward.h": '#include "ptx/tokens.h"\n'}).draw()
        self.assertIn(
            'subgraph "cluster_1" { label="middle"; "modules/ptx"; "modules/isa"; }', text
        )
        self.assertIn('"modules/ptx" -> "modules/isa" [dir=back];', text)
        self.assertNotIn('"modules/common" -> "platform"', text)  # follows from others
        self.assertIn('"modules/common" -> "modules/ptx" [color=red];', text)


if __name__ == "__main__":
    unittest.main()
