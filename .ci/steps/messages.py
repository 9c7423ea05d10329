"""Plain English in the string literals of C++ sources, as far as a program can check it without false alarms.

No sentence of a message, a description or a heading begins with Of, For, Or, Where or "...", and no message has one of
the paraphrases below. `english.py` reads the sources of `FOLDERS` with it.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

FOLDERS = ("include/", "modules/", "platform/", "runtime/", "sc_main/", "study/")

# Comments and characters are only matched so that a quotation mark in them begins no literal.
TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<mark>\w*)\(.*?\)(?P=mark)"|'(?:[^'\\\n]|\\[^'\n]+|\\')'|"""
    r'''"(?P<text>(?:[^"\\\n]|\\.)*)"''',
    re.DOTALL,
)
BEGINNING = re.compile(r"(?:^|[.!?] +|\\n *)(Of|For|Or|Where)(?![\w'-])|^ *(\.\.\.|…) [a-z]")
PARAPHRASES = {
    "stands there twice": "duplicate",
    "stands twice": "duplicate",
    "has no meaning": "is not allowed",
    "allowed is": "allowed:",
    "allowed are": "allowed:",
    "are there already": "already have results",
}


class Problem(NamedTuple):
    line: int
    text: str


def messages(source: str) -> Iterator[tuple[int, str]]:
    """The line and the text of each literal; literals with only blanks between them are one."""
    begin, end, text = 0, -1, ""
    for token in TOKEN.finditer(source):
        literal = token["text"]
        if literal is None:
            continue
        if end >= 0 and not source[end : token.start()].strip():
            text += literal
        else:
            if end >= 0:
                yield source.count("\n", 0, begin) + 1, text
            begin, text = token.start(), literal
        end = token.end()
    if end >= 0:
        yield source.count("\n", 0, begin) + 1, text


def problems_of(source: str) -> list[Problem]:
    found = []
    for line, text in messages(source):
        if " " not in text.strip():
            continue
        short = text if len(text) <= 60 else text[:57] + "..."
        if begins := BEGINNING.search(text):
            found.append(Problem(line, f'begins with "{begins[1] or begins[2]}": {short}'))
        for paraphrase, word in PARAPHRASES.items():
            if re.search(rf"\b{paraphrase}\b", text):
                found.append(Problem(line, f'"{paraphrase}" for "{word}": {short}'))
    return found
