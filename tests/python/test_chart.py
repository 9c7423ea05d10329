"""Bar charts, read back as XML."""

import unittest
from xml.etree import ElementTree

import pandas

import weft
from fakes import FolderTest

_SVG = "{http://www.w3.org/2000/svg}"


class Bars(FolderTest):
    frame = pandas.DataFrame(
        {"sbr": [1.0, 1.0], "a<b": [0.5, None]}, index=pandas.Index(["bfs", "lud & more"])
    )

    def boxes(self, chart: weft.Chart) -> dict[str, float]:
        """Height by tip."""
        found = {}
        for box in ElementTree.fromstring(chart.svg).iter(f"{_SVG}rect"):
            tip = box.find(f"{_SVG}title")
            if tip is not None:
                found[tip.text or ""] = float(box.get("height", "nan"))
        return found

    def texts(self, chart: weft.Chart) -> list[str]:
        return [t.text or "" for t in ElementTree.fromstring(chart.svg).iter(f"{_SVG}text")]

    def test_heights_are_values(self) -> None:
        boxes = self.boxes(weft.bars(self.frame, "Speed & more", baseline=1))
        self.assertEqual(list(boxes), ["bfs, sbr: 1", "bfs, a<b: 0.5", "lud & more, sbr: 1"])
        full, half, again = boxes.values()
        self.assertGreater(full, 100)
        self.assertEqual(full, again)
        self.assertAlmostEqual(half, full / 2, delta=0.1)

    def test_names_and_numbers_stand_there(self) -> None:
        texts = self.texts(weft.bars(self.frame, "Speed & more"))
        for text in ("Speed & more", "sbr", "a<b", "bfs", "lud & more", "0", "0.2", "1"):
            self.assertIn(text, texts)

    def test_the_baseline_fits(self) -> None:
        chart = weft.bars(pandas.Series([0.5], index=["x"], name="y"), baseline=2)
        lines = [
            float(line.get("y1", "nan"))
            for line in ElementTree.fromstring(chart.svg).iter(f"{_SVG}line")
        ]
        top = min(lines)
        self.assertEqual(lines[-1], top)
        self.assertGreaterEqual(top, 50)
        self.assertIn("2", self.texts(chart))

    def test_steps_are_round_and_few(self) -> None:
        for most in (0.003, 0.7, 1.0, 6.0, 9.99, 123456.0):
            chart = weft.bars(pandas.Series([most], index=["x"]))
            lines = len(list(ElementTree.fromstring(chart.svg).iter(f"{_SVG}line")))
            self.assertTrue(3 <= lines <= 7, f"{most}: {lines}")

    def test_all_zeros_are_drawn(self) -> None:
        self.assertEqual(self.boxes(weft.bars(pandas.Series([0.0], index=["x"]))), {"x, : 0": 0.0})

    def test_notebooks_and_files_get_the_same(self) -> None:
        chart, file = weft.bars(self.frame), self.folder / "chart.svg"
        chart.save(file)
        self.assertEqual(file.read_text(), chart._repr_svg_())

    def test_nothing_and_negative_values_are_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "nothing to draw"):
            weft.bars(pandas.DataFrame())
        with self.assertRaisesRegex(ValueError, "0 or more"):
            weft.bars(pandas.Series([-1.0]))


if __name__ == "__main__":
    unittest.main()
