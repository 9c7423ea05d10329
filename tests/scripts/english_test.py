"""Tests how Markdown and messages are checked for plain English, and checks the repository's:

english_test.py SOURCE-TREE
"""

import sys
import unittest
from pathlib import Path

SOURCE = Path(sys.argv.pop(1))
sys.path.insert(0, str(SOURCE / ".ci/steps"))
sys.dont_write_bytecode = True

import english  # noqa: E402
import messages  # noqa: E402

WORDS = " ".join(["it"] * 24)
HALF = " ".join(["it"] * 12)
GOOD = "# Title\n\nThe subject has a verb.\n"


def problems(text: str) -> list[str]:
    return [problem.text for problem in english.problems_of(text)]


class Lines(unittest.TestCase):
    def expect_long(self, text: str, lines: list[int]):
        found = [p.line for p in english.problems_of(text) if "characters" in p.text]
        self.assertEqual(found, lines, text)

    def test_have_at_most_120_characters(self):
        self.expect_long("a" * 100 + " " + "b" * 19, [])
        self.expect_long("a" * 100 + " " + "b" * 20, [1])
        self.expect_long("One.\n\n- two " + "b" * 119, [3])
        self.expect_long("# Heading " + "b" * 120, [1])
        self.expect_long("×" * 60 + " " + "÷" * 59, [])

    def test_that_cannot_be_wrapped_may_be_longer(self):
        self.expect_long("| cell | " + "b" * 120 + " |", [])
        self.expect_long("```\n" + "a b " * 40 + "\n```", [])
        self.expect_long("```console\n$ a\n" + "a b " * 40 + "\n```\nb" + " b" * 60, [5])
        self.expect_long("https://example.com/" + "b" * 120, [])
        self.expect_long("- [text](https://example.com/" + "b" * 120 + "),", [])
        self.expect_long("`" + "a b " * 40 + "`", [])
        self.expect_long("[two words](https://example.com/" + "b" * 120 + ")", [1])


class Sentences(unittest.TestCase):
    def test_have_at_most_25_words(self):
        self.assertEqual(problems(f"One {WORDS}."), [])
        found = problems(f"One two {WORDS}.")
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].startswith("26 words; allowed: 25: One two it"), found)

    def test_end_at_full_stops_and_at_the_ends_of_paragraphs_and_items(self):
        for text in (
            f"A {HALF}. B {HALF}.",
            f"A {HALF}! `code` {HALF}.",
            f"A {HALF}? 12 {HALF}.",
            f"A {HALF} (in brackets.) B {HALF}.",
            f"A {HALF}\n\nB {HALF}",
            f"- a {HALF}\n- b {HALF}",
            f"1. a {HALF}\n2. b {HALF}",
            f"A {HALF}:\n- b {HALF}",
            f"A {HALF}\n```\nx\n```\nb {HALF}",
            f"# A {HALF}\nB {HALF}",
            f"> A {HALF}\n>\n> B {HALF}",
        ):
            self.assertEqual(problems(text), [], text)

    def test_do_not_end_at_abbreviations_numbers_or_ends_of_lines(self):
        for text in (
            f"A {HALF} (Fig. 5) b {HALF}.",
            f"A {HALF} e.g. B b {HALF}.",
            f"A {HALF} 4.2 b {HALF}.",
            f"A {HALF}; b {HALF}.",
            f"A {HALF}\nb {HALF}.",
            f"- a {HALF}\n  b {HALF}.",
        ):
            self.assertEqual(len(problems(text)), 1, text)

    def test_code_counts_as_a_word_and_a_link_as_its_text(self):
        code = "`" + "a " * 30 + "`"
        self.assertEqual(problems(f"The {code} [is](there/a b c d) a piece."), [])
        self.assertEqual(problems(f"The ``a ` b {'c ' * 30}`` is a piece."), [])
        self.assertEqual(len(problems("A [" + "it " * 26 + "](there) b.")), 1)

    def test_signs_are_no_words(self):
        self.assertEqual(problems(f"One {WORDS} × ÷ = — ."), [])

    def test_comments_and_blocks_of_code_are_not_read(self):
        self.assertEqual(problems(f"<!-- Of two\n\n{WORDS} {WORDS}. -->\n"), [])
        self.assertEqual(problems(f"~~~\nOf {WORDS} {WORDS}.\n~~~\n"), [])
        self.assertEqual(problems(f"````\n```\nOf {WORDS}\n````\n"), [])
        self.assertEqual(len(problems(f"```\na\n```\nOf {WORDS}")), 1)


class Beginnings(unittest.TestCase):
    def test_of_for_or_where_and_dots_are_found(self):
        for text in (
            "Of the two, one is left.",
            "For readers this is hard.",
            "Or so it seems.",
            "Where it stands, it falls.",
            "... and so on.",
            "… and so on.",
            "One. Of the two, one is left.",
            "One ends. (Where it stands, it falls.)",
            "- of the two, one is left",
            "- **for** readers",
            "# Where a part goes",
            "## Of the two",
            "> Or so it seems.",
            "| a | b |\n|---|---|\n| one | of the cycles: some |",
            "| a | b |\n|---|---|\n| `x` | ... or the others |",
            "| a | b |\n|---|---|\n| `a \\| b` | Where it stands |",
        ):
            found = problems(text)
            self.assertEqual(len(found), 1, text)
            self.assertTrue(found[0].startswith("begins with"), found)

    def test_other_words_questions_and_short_cells_are_not(self):
        for text in (
            "Often it is so. Forward it goes. Ordinary things happen.",
            "Where does a part go?",
            "## Where does a part go?",
            "`for` is a word of C++.",
            "One of the two is left, for readers or others, where they are.",
            "| where | what |\n|---|---|\n| ... | for readers, or others |",
            "```\nOf\n```",
        ):
            self.assertEqual(problems(text), [], text)


class TheList(unittest.TestCase):
    BAD = "Of two one."

    def complaints(self, texts: dict[str, str], *listed: str) -> list[str]:
        return english.complaints(texts, list(listed))

    def test_names_files_that_do_not_pass(self):
        self.assertEqual(self.complaints({"a.md": GOOD, "b.md": self.BAD}, "b.md"), [])

    def test_has_no_file_that_passes(self):
        self.assertEqual(
            self.complaints({"a.md": GOOD}, "a.md"), ["a.md: passes; remove it from the list"]
        )

    def test_does_not_excuse_a_new_file(self):
        found = self.complaints({"a.md": self.BAD, "b.md": self.BAD}, "b.md")
        self.assertEqual(found, ['a.md:1: begins with "Of": Of two one.'])

    def test_names_only_what_is_there_and_once(self):
        self.assertEqual(
            self.complaints({"b.md": self.BAD}, "b.md", "b.md", "gone.md", "gone/"),
            [
                "b.md: listed twice",
                "gone/: no Markdown file lies there; remove the folder from the list",
                "gone.md: there is no such file; remove it from the list",
            ],
        )

    def test_excuses_all_of_a_folder(self):
        texts = {"pages/a.md": self.BAD, "pages/b.md": GOOD, "pages.md": GOOD}
        self.assertEqual(self.complaints(texts, "pages/"), [])

    def test_may_only_shrink(self):
        self.assertEqual(english.growth(["a.md", "b.md"], ["a.md"]), [])
        self.assertEqual(english.growth(["a.md", "b.md"], ["a.md", "renamed.md"]), [])
        self.assertEqual(
            english.growth(["a.md"], ["a.md", "b.md"]),
            ["b.md: added to the list, which may only shrink"],
        )

    def test_has_comments(self):
        self.assertEqual(english.entries_of("# why\na.md\n\nb/\n"), ["a.md", "b/"])


class Messages(unittest.TestCase):
    def found(self, source: str) -> list[tuple[int, str]]:
        return [(p.line, p.text) for p in messages.problems_of(source)]

    def test_begin_with_their_subject(self):
        for text in (
            "Of the cycles: some",
            "One ends. Where it stands, it falls.",
            "a line\\nFor readers",
            "... and the others",
        ):
            found = self.found(f'\nf("{text}");\n')
            self.assertEqual([line for line, _ in found], [2], text)
            self.assertTrue(found[0][1].startswith("begins with"), found)

    def test_have_the_word_of_the_field(self):
        self.assertEqual(
            self.found('x("\'" + name + "\' stands there twice");'),
            [(1, '"stands there twice" for "duplicate": \' stands there twice')],
        )
        self.assertEqual(len(self.found('f("found 3, allowed "\n  "are 4 and 5");')), 1)

    def test_other_texts_comments_and_code_are_not_read(self):
        for source in (
            'f("for readers", "Format of it", "found 3; allowed: 4");',
            'f("Of");  // "Of the cycles"',
            "/* \"Of the cycles\" */ char a = '\"', b = '\\''; f(\"x y\");",
            'f(R"(Of the cycles)", 1\'000\'000, "a b");',
        ):
            self.assertEqual(self.found(source), [], source)


class TheRepository(unittest.TestCase):
    def test_is_in_plain_english_but_for_the_listed_files(self):
        self.assertGreater(len(english.markdown_files()), 50)
        self.assertEqual(english.check(), [])


if __name__ == "__main__":
    unittest.main()
