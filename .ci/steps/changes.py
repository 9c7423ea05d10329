"""What changed between a base commit and the working tree, as git tells it."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"  # git's name of a tree without files
STEPS_BACK = 20  # commits before HEAD where nothing tells what HEAD is based on


class UsageError(Exception):
    """An argument or a state of the checkout that leaves nothing sensible to do."""


@dataclass(frozen=True)
class Base:
    """The commit that the work started from, and how it was found."""

    commit: str
    reason: str


def git(*arguments: str, root: Path = ROOT) -> str | None:
    """What git prints, without the line's end; None if it fails."""
    done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True)
    return done.stdout.rstrip("\n") if done.returncode == 0 else None


def head_commit(root: Path = ROOT) -> str:
    commit = git("rev-parse", "--verify", "-q", "HEAD^{commit}", root=root)
    if commit is None:
        raise UsageError(f"{root}: not a git checkout with a commit")
    return commit


def base_commit(wanted: str | None = None, root: Path = ROOT) -> Base:
    """`wanted`, or where HEAD left origin/main, or HEAD~20, or the first commit. The base differs from HEAD always."""
    head = head_commit(root)
    if wanted is not None:
        commit = git("rev-parse", "--verify", "-q", f"{wanted}^{{commit}}", root=root)
        if commit is None:
            raise UsageError(f'BASE is "{wanted}": not a commit of this repository')
        if commit == head:
            raise UsageError(f'BASE is "{wanted}", which is HEAD: nothing would be checked')
        return Base(commit, "as given")
    commit = git("merge-base", "HEAD", "origin/main", root=root)
    if commit and commit != head:
        return Base(commit, "where HEAD left origin/main")
    commit = git("rev-parse", "--verify", "-q", f"HEAD~{STEPS_BACK}", root=root)
    if commit:
        return Base(commit, f"HEAD~{STEPS_BACK}")
    first = (git("rev-list", "--max-parents=0", "HEAD", root=root) or head).splitlines()[-1]
    if first != head:
        return Base(first, "the first commit")
    return Base(EMPTY_TREE, "before the first commit")


@dataclass(frozen=True)
class Changes:
    """Paths that changed, relative to the root and sorted."""

    all: list[str]  # also those that were deleted, and both names of what moved
    content: list[
        str
    ]  # those that are there and have new content: moved files without an edit are left out


def changes_since(base: Base, root: Path = ROOT) -> Changes:
    """Committed, uncommitted and untracked changes since `base`."""
    fields = (git("diff", "--name-status", "-M", "-z", base.commit, root=root) or "").split("\0")
    every: set[str] = set()
    content: set[str] = set()
    position = 0
    while position + 1 < len(fields):
        status = fields[position]
        names = fields[position + 1 : position + (3 if status[0] in "RC" else 2)]
        position += 1 + len(names)
        every.update(names)
        if status[0] != "D" and status != "R100":
            content.add(names[-1])
    untracked = (git("ls-files", "--others", "--exclude-standard", "-z", root=root) or "").split(
        "\0"
    )
    every.update(filter(None, untracked))
    content.update(filter(None, untracked))
    return Changes(sorted(every), sorted(content))
