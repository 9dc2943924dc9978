"""The text files of a repository, as the rules of tools/style.py are given them."""

import pathlib
from dataclasses import dataclass

import cpp_source
from style_tables import SKIPPED_FOLDERS, TEXT_SUFFIXES


@dataclass(frozen=True)
class Problem:
    path: str
    line: int
    rule: str
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"


class Source:
    """One text file: its path from the root, its text, and, for C++, the code in it."""

    def __init__(self, root: pathlib.Path, path: pathlib.Path):
        self.path = path.relative_to(root).as_posix()
        self.suffix = path.suffix
        self.text = path.read_text(errors="replace")
        self.lines = self.text.splitlines()
        self.is_cpp = self.suffix in (".h", ".cpp", ".cu")
        self.code = cpp_source.without_comments_and_strings(self.text) if self.is_cpp else ""

    def under(self, *prefixes: str) -> bool:
        return any(within(self.path, prefix) for prefix in prefixes)


def within(path: str, prefix: str) -> bool:
    """Is `path` the file, in the folder, or (for "a/b_") of the family that `prefix` names?"""
    return prefix == "" or path == prefix or path.startswith(
        prefix if prefix[-1] in "/_" else prefix + "/") or (
            path.startswith(prefix + ".") and "." not in pathlib.PurePath(prefix).name)


def load(root: pathlib.Path):
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        hidden = any(part.startswith(".") and part not in (".ci", ".clang-format", ".gitignore")
                     for part in parts)
        if hidden or SKIPPED_FOLDERS & set(parts[:-1]) or not path.is_file():
            continue
        if path.suffix in TEXT_SUFFIXES:
            yield Source(root, path)


def included(source):
    """The files of this repository that a file includes."""
    return [target if quoted else f"include/{target}"
            for _, target, quoted in cpp_source.includes(source.text)
            if quoted or target.startswith("brigade/")]
