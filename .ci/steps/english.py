"""Plain English in Markdown and in messages, as far as a program can check it (CONTRIBUTING.md has the rules).

    python3 .ci/steps/english.py            all Markdown files and C++ sources of the repository
    python3 .ci/steps/english.py FILE...    these Markdown files, with what is wrong in each

A line has at most 120 characters. A sentence has at most 25 words and does not begin with Of, For, Or, Where or "...";
a question may begin with Where. Rows of tables cannot be wrapped, and their cells are not sentences: only the beginnings
of cells are checked. Blocks of code are not checked. A piece of code in a sentence counts as one word. `messages.py`
checks the string literals of C++ sources.

`.ci/english.txt` lists the files that do not pass yet, and folders of generated pages. The list may only shrink: a file
that passes must leave the list, and a file that is not on the list must pass.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import messages
from changes import ROOT, git

LINE = 120  # characters
SENTENCE = 25  # words
LIST = ROOT / ".ci/english.txt"

FENCE = re.compile(r"^ *(```+|~~~+)")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
TABLE_RULE = re.compile(r"^[-:| ]+$")
ITEM = re.compile(r"^ *(?:[-*+]|\d+[.)]) +")
QUOTE = re.compile(r"^ *> ?")
HEADING = re.compile(r"^#{1,6} +")
CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
MARKUP = re.compile(r"\*\*|__|(?<![\w*])[*_]|[*_](?![\w*])|</?[A-Za-z][^>]*>")
# A full stop behind these ends no sentence.
ABBREVIATION = re.compile(r"(?:^|[\s(])(?:e\.g|i\.e|et al|Fig|Figs|No|Eq|Sec|cf|vs|approx)\.$")
SENTENCE_END = re.compile(r"[.!?][\"')\]”’]*(?=\s+[\"'(\[“‘]*[A-Z0-9Ä-Ü])|[.!?][\"')\]”’]*$")
BEGINNING = re.compile(r"^[\s\"'(\[“‘]*(of|for|or|where|\.\.\.|…)(?![\w'])", re.IGNORECASE)
BLOCK_OF_CODE = "\0code"


class Problem(NamedTuple):
    line: int
    text: str


class Block(NamedTuple):
    """A heading, a paragraph, an item of a list or a cell of a table, from one line on."""

    line: int
    kind: str
    text: str


def without_code(text: str) -> list[str]:
    """The lines; those of blocks of code and of comments are marked, so that numbers of lines stay."""
    text = COMMENT.sub(lambda comment: "\n" * comment.group().count("\n"), text)
    lines, fence = [], ""
    for line in text.split("\n"):
        mark = FENCE.match(line)
        if fence:
            lines.append(BLOCK_OF_CODE)
            if mark and line.strip() == fence:
                fence = ""
        elif mark:
            lines.append(BLOCK_OF_CODE)
            fence = mark.group(1)
        else:
            lines.append(line)
    return lines


def in_words(text: str) -> str:
    """Text as one reads it: code is one word, and of a link its text is left."""
    text = CODE.sub("Code", text)
    return MARKUP.sub("", LINK.sub(r"\1", IMAGE.sub("", text)))


def cells(line: str) -> list[str]:
    """The cells of a row; a bar in a piece of code divides none."""
    return CODE.sub("Code", line).replace("\\|", "/").strip().strip("|").split("|")


def is_row(line: str) -> bool:
    return line.lstrip().startswith("|")


def blocks(lines: list[str]) -> Iterator[Block]:
    paragraph: list[str] = []
    begin, kind = 0, ""
    for number, line in enumerate([*lines, ""], 1):
        line = QUOTE.sub("", line)
        ends = not line.strip() or line == BLOCK_OF_CODE or is_row(line) or HEADING.match(line)
        if paragraph and (ends or ITEM.match(line)):
            yield Block(begin, kind, "\n".join(paragraph))
            paragraph = []
        if HEADING.match(line):
            yield Block(number, "heading", HEADING.sub("", line))
        elif is_row(line):
            if not TABLE_RULE.match(line.strip()):
                yield from (Block(number, "cell", cell.strip()) for cell in cells(line))
        elif not ends:
            if not paragraph:
                begin, kind = number, "item" if ITEM.match(line) else "paragraph"
            paragraph.append(ITEM.sub("", line))


def sentences(text: str) -> list[str]:
    found, begin = [], 0
    for end in SENTENCE_END.finditer(text):
        sentence = text[begin : end.end()]
        if ABBREVIATION.search(sentence) and end.end() < len(text.rstrip()):
            continue
        found.append(sentence.strip())
        begin = end.end()
    return [sentence for sentence in [*found, text[begin:].strip()] if sentence]


def words(sentence: str) -> int:
    return sum(1 for word in sentence.split() if re.search(r"\w", word))


def beginning(block: Block, sentence: str) -> str:
    """The word that a sentence must not begin with, or nothing."""
    begins = BEGINNING.match(sentence)
    if not begins:
        return ""
    word = begins.group(1)
    if word.lower() == "where" and sentence.rstrip().endswith("?"):
        return ""
    # The title of a column, or a mark for what is left out; and "for readers" is a good cell.
    if block.kind == "cell" and (words(sentence) <= 1 or word == "for"):
        return ""
    return word


def can_be_wrapped(line: str) -> bool:
    """Whether there is a space to break the line at: outside of code and of addresses, behind the first word."""
    text = CODE.sub("c", LINK.sub(lambda link: link.group(1) + "()", line))
    return " " in ITEM.sub("", QUOTE.sub("", text)).strip()


def problems_of(text: str) -> list[Problem]:
    lines = without_code(text)
    found = [
        Problem(number, f"{len(line)} characters; allowed: {LINE}")
        for number, line in enumerate(lines, 1)
        if len(line) > LINE and not is_row(line) and can_be_wrapped(line)
    ]
    for block in blocks(lines):
        for sentence in sentences(in_words(block.text)):
            short = " ".join(sentence.split())
            short = short if len(short) <= 60 else short[:57] + "..."
            if word := beginning(block, sentence):
                found.append(Problem(block.line, f'begins with "{word}": {short}'))
            if block.kind != "cell" and words(sentence) > SENTENCE:
                found.append(
                    Problem(block.line, f"{words(sentence)} words; allowed: {SENTENCE}: {short}")
                )
    return sorted(found)


def entries_of(text: str) -> list[str]:
    """The files and folders that a list names."""
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def complaints(texts: dict[str, str], listed: list[str]) -> list[str]:
    """What is wrong with files, given their texts by path, and with the list of files that need not pass yet."""
    found = [f"{name}: listed twice" for name in sorted({n for n in listed if listed.count(n) > 1})]
    folders = tuple(name for name in listed if name.endswith("/"))
    for folder in folders:
        if not any(path.startswith(folder) for path in texts):
            found.append(f"{folder}: no Markdown file lies there; remove the folder from the list")
    for name in listed:
        if name not in folders and name not in texts:
            found.append(f"{name}: there is no such file; remove it from the list")
    for path, text in sorted(texts.items()):
        if path.startswith(folders):
            continue
        problems = problems_of(text)
        if path in listed:
            if not problems:
                found.append(f"{path}: passes; remove it from the list")
        else:
            found += [f"{path}:{problem.line}: {problem.text}" for problem in problems]
    return found


def growth(before: list[str], now: list[str]) -> list[str]:
    """The list has no more entries than before; one may be renamed."""
    added = [name for name in now if name not in before]
    if len(now) <= len(before):
        return []
    return [f"{name}: added to the list, which may only shrink" for name in added]


def files(*endings: str) -> list[str]:
    """Those that git knows or would add; without git those outside of folders of builds and results."""
    patterns = [f"*{ending}" for ending in endings]
    known = git("ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns)
    if known is not None:
        return sorted({path for path in known.splitlines() if (ROOT / path).exists()})
    skipped = ("build", "out")
    paths = (path.relative_to(ROOT) for pattern in patterns for path in ROOT.rglob(pattern))
    return sorted(str(path) for path in paths if path.parts[0] not in skipped)


def markdown_files() -> list[str]:
    return files(".md")


def message_complaints() -> list[str]:
    """What is wrong with messages of the program, the library and the plugins."""
    return [
        f"{path}:{problem.line}: {problem.text}"
        for path in files(".cpp", ".h")
        if path.startswith(messages.FOLDERS)
        for problem in messages.problems_of((ROOT / path).read_text())
    ]


def check(base: str | None = None) -> list[str]:
    """Complaints about the repository; `base` is the commit whose list may not be outgrown."""
    listed = entries_of(LIST.read_text())
    found = complaints({path: (ROOT / path).read_text() for path in markdown_files()}, listed)
    found += message_complaints()
    before = git("show", f"{base}:.ci/english.txt") if base else None
    return found + (growth(entries_of(before), listed) if before is not None else [])


def passes(base: str) -> bool:
    """As a step of `.ci/quick` and `.ci/run`; prints what is wrong."""
    found = check(base)
    for complaint in found:
        print(complaint, flush=True)
    return not found


def main(arguments: list[str]) -> int:
    if arguments:
        found = [
            f"{path}:{problem.line}: {problem.text}"
            for path in arguments
            for problem in problems_of(Path(path).read_text())
        ]
    else:
        found = check()
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
