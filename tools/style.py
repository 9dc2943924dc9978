#!/usr/bin/env python3
"""Checks what can be checked of the style of this repository: sizes, who includes what, missing
tests, banned calls, format. Prints `file:line: rule: what is wrong: what to do`; a test (`style`).

    tools/style.py [ROOT]

What it goes by stands in style_tables.py.
"""

import pathlib
import re
import shutil
import subprocess
import sys

import cpp_source
from declarations import circles_of_c, dead_declarations, names_that_meet, own_includes
from literals import docstrings, literals
from sources import Problem, Source, included, load, within
from style_tables import (BANNED, COLUMNS_MAX, DOCSTRINGS, FOUND_AS, FUNCTION_LINES_MAX, LIBRARIES,
                          LINES_MAX, LINES_MAX_OF, NAMES_MAX, NAMES_MAX_OF, NO_LIBRARY, NO_TEST,
                          PAGES, PAGE_WORDS, REFERENCE, REFUSED, ROOMS, SKIPPED_FOLDERS, TESTED,
                          TESTS_NAMES_MAX, TEXTS, TEXT_WORDS, WORDS, WRITTEN_PART)

# --- rules: each takes (sources, root) and yields problems --------------------------------------


def sizes(sources, _root):
    for source in sources:
        limit = LINES_MAX_OF.get(source.path, LINES_MAX.get(source.suffix))
        if limit and len(source.lines) > limit:
            yield Problem(source.path, len(source.lines), "size",
                          f"{len(source.lines)} lines, at most {limit}: is there a second concept?")
        if source.suffix not in (".md", ".json", ".txt", ".yaml"):
            for number, line in enumerate(source.lines, 1):
                if len(line) > COLUMNS_MAX:
                    yield Problem(source.path, number, "size",
                                  f"{len(line)} columns, at most {COLUMNS_MAX}")
        if source.is_cpp:
            for function in cpp_source.functions(source.text):
                if function.lines > FUNCTION_LINES_MAX:
                    yield Problem(source.path, function.line, "size",
                                  f"{function.name}() has {function.lines} lines, "
                                  f"at most {FUNCTION_LINES_MAX}: split it")


def names_of_folders(sources, root):
    folders = {}
    for source in sources:
        if source.is_cpp and source.under(*TESTED):
            folder, _, name = source.path.rpartition("/")
            folders.setdefault(folder, set()).add(name.rpartition(".")[0])
    for folder, names in folders.items():
        limit = NAMES_MAX_OF.get(folder, NAMES_MAX)
        if len(names) > limit:
            yield Problem(folder, 1, "size", f"{len(names)} names, at most {limit}: which of them "
                          "are a room of their own?")
    for folder in [root / "tests", *(root / "tests").rglob("*/")]:
        names = [path for path in folder.iterdir() if path.name not in SKIPPED_FOLDERS]
        if len(names) > TESTS_NAMES_MAX:
            yield Problem(str(folder.relative_to(root)), 1, "size",
                          f"{len(names)} names, at most {TESTS_NAMES_MAX}: move some to a folder")


def room_of(path: str):
    rooms = [room for room in ROOMS if within(path, room)]
    return max(rooms, key=len) if rooms else None


def refused(path: str, target: str) -> bool:
    """By the rule of the longest room that has one."""
    rules = [room for room in REFUSED if within(path, room)]
    if not rules:
        return False
    below, but = REFUSED[max(rules, key=len)]
    return any(within(target, room) for room in below) and not any(
        within(target, room) for room in but) and room_of(path) != room_of(target)


def homes(sources):
    """The room of each public header: the lowest that implements it, by a file of its name or the
    members of its classes; of a header alone, the highest among the public headers it includes."""
    public = {source.path: source for source in sources if source.under("include")}
    classes = {name: path for path, source in public.items()
               for name in re.findall(r"\bclass BRIGADE_API (\w+) ", source.text)}
    member = re.compile(rf"^\S.*?\b({'|'.join(classes) or '-'})::~?\w+\(", re.MULTILINE)
    found = {}
    for source in sources:
        if source.suffix in (".cpp", ".cu") and not source.under("tests", "bench", "examples"):
            first = next(iter(included(source)), "")
            own = f"include/brigade/{pathlib.PurePath(source.path).stem}.h"
            for path in {own} & {first} | {classes[name] for name in member.findall(source.text)}:
                found[path] = min(found.get(path, ROOMS[-1]), room_of(source.path), key=ROOMS.index)

    def home(path):
        if path not in found:
            found[path] = ROOMS[0]  # until it is known, which a cycle of includes needs
            found[path] = max(map(home, included(public[path]) if path in public else ()),
                              default=ROOMS[0], key=ROOMS.index)
        return found[path]

    return {path: home(path) for path in public if home(path) != ROOMS[0]}


def layers(sources, root):
    home = homes(sources)
    for source in sources:
        if not source.is_cpp:
            continue
        room = home.get(source.path) or room_of(source.path)
        for line, target, quoted in cpp_source.includes(source.text):
            if source.under("examples"):
                if quoted and not ((root / source.path).parent / target).is_file():
                    yield Problem(source.path, line, "layer", "an example includes what is "
                                  "installed: <brigade/...>")
                continue
            if not quoted and not target.startswith("brigade/"):
                continue
            path = target if quoted else f"include/{target}"
            if quoted and target.startswith("include/") or not (root / path).is_file():
                yield Problem(source.path, line, "include", f'"{target}" is no file of this '
                              "repository: includes are rooted, and public ones <brigade/...>")
            elif room is None:
                yield Problem(source.path, line, "layer", "this folder is no room: ROOMS in "
                              "tools/style_tables.py says who may include what")
            elif room_of(path) is None or ROOMS.index(room_of(path)) > ROOMS.index(room) or (
                    refused(source.path, path)):
                yield Problem(source.path, line, "layer", f'"{target}" is not below {room}')
            elif path in home and room != "include/brigade" and (
                    ROOMS.index(home[path]) > ROOMS.index(room)):
                yield Problem(source.path, line, "layer", f"<{target}> is implemented in "
                              f"{home[path]}, which is not below {room}")


def cycles(sources, _root):
    graph = {source.path: included(source) for source in sources if source.suffix == ".h"}
    done = set()

    def visit(path, trail):
        if path in trail:
            yield Problem(path, 1, "cycle", " -> ".join(trail[trail.index(path):] + [path]))
        elif path not in done:
            for target in graph.get(path, ()):
                yield from visit(target, trail + [path])
            done.add(path)

    for path in graph:
        yield from visit(path, [])


def libraries(sources, _root):
    for source in sources:
        if not source.is_cpp:
            continue
        # tests/a/b_test.cpp may include what a/b.cpp may.
        tested = re.sub(r"_test\.cpp$", ".cpp", re.sub(r"^tests/", "", source.path))
        for line, target, quoted in cpp_source.includes(source.text):
            for library, (headers, users) in LIBRARIES.items():
                if quoted or not re.match(headers, target):
                    continue
                if not any(within(path, user) for user in users for path in (source.path, tested)
                           ) and not source.under("tests/support", "tests/fuzz", "bench"):
                    yield Problem(source.path, line, "library",
                                  f"{library} belongs into {', '.join(users)}")


def unused_libraries(sources, _root):
    """A library that is found is in the table, and one in the table is included by a file."""
    headers = {target for source in sources if source.is_cpp
               for _, target, quoted in cpp_source.includes(source.text) if not quoted}
    for source in sources:
        if source.path == "tools/style_tables.py":
            for library, (pattern, _) in LIBRARIES.items():
                if not any(re.match(pattern, header) for header in headers):
                    yield Problem(source.path, 1, "library", f"no file includes {library}")
        if not source.path.endswith((".cmake", "CMakeLists.txt")):
            continue
        for name in re.findall(r"\bfind_package\(([\w-]+)", source.text):
            if name not in NO_LIBRARY and FOUND_AS.get(name, name) not in LIBRARIES:
                yield Problem(source.path, 1, "library", f"{name} is not in LIBRARIES of "
                              "tools/style_tables.py, which says who may include it")


def documented_paths(sources, root):
    """A file or folder of this repository that a document names is there."""
    folders = {path.name for path in root.iterdir() if path.is_dir()} - SKIPPED_FOLDERS
    for source in sources:
        if source.suffix != ".md":
            continue
        for number, line in enumerate(source.lines, 1):
            for path in re.findall(r"`([a-z]+/[a-z0-9_./]*)`", line):
                there = (root / path).exists() or (root / f"{path}.h").exists()
                if path.split("/")[0] in folders and not there:
                    yield Problem(source.path, number, "path", f"there is no {path}")


def listed_pages(sources, root):
    index = root / "docs" / "INDEX.md"
    listed = index.read_text() if index.exists() else ""
    for source in sources:
        found = re.fullmatch(r"docs/(\w+\.md)", source.path)
        if found and f"]({found[1]})" not in listed and found[1] != index.name:
            yield Problem(source.path, 1, "page", "docs/INDEX.md does not link it")


def contracts(sources, _root):
    """A contract is what `brigade check` runs: no library behind it, however many headers away."""
    quoted, angled = {}, {}
    for source in sources:
        if source.is_cpp:
            found = list(cpp_source.includes(source.text))
            quoted[source.path] = included(source)
            angled[source.path] = [target for _, target, is_quoted in found if not is_quoted]
    for source in sources:
        if not source.path.endswith("_contract.cpp"):
            continue
        reached, todo = set(), [source.path]
        while todo:
            path = todo.pop()
            if path not in reached:
                reached.add(path)
                todo += quoted.get(path, [])
        for path in sorted(reached):
            for target in angled.get(path, []):
                for library, (headers, _) in LIBRARIES.items():
                    if re.match(headers, target):
                        yield Problem(source.path, 1, "contract", f"reaches {library} "
                                      f"through {path}: a contract includes public headers only")


def has_code(source: Source) -> bool:
    """A .cpp always has; a header when something in it is decided."""
    return source.suffix == ".cpp" or bool(
        re.search(r"\b(?:for|while|if|switch)\s*(?:constexpr\s*)?\(|#define \w+\(", source.code))


def wanted_tests(stem: str):
    """Where the test of a file may be: at its path; of a public header beside what makes it."""
    if stem.startswith("include/brigade/"):
        name = stem.removeprefix("include/brigade/")
        return [f"tests/{room}/{name}_test.cpp"
                for room in ("base", "stages/api", "stages/torch", "pipeline/application",
                             "pipeline/api", "pipeline/cli/commands")]
    # Contract and body may have one.
    return [f"tests/{stem}_test.cpp", f"tests/{stem.removesuffix('_contract')}_test.cpp"]


def test_paths(sources):
    """A test stands for itself, and at the path of each header that it names before all others."""
    for source in sources:
        if source.under("tests") and source.path.endswith("_test.cpp"):
            yield source.path
            folder = source.path.rpartition("/")[0]
            for offset, (line, target, _) in enumerate(cpp_source.includes(source.text)):
                if offset == 0:
                    first = line
                if line == first + offset and target.endswith(".h"):
                    yield f"{folder}/{pathlib.PurePath(target).stem}_test.cpp"


def missing_tests(sources, _root):
    paths = {source.path for source in sources}
    tests = set(test_paths(sources))
    stems = {path.removesuffix(".cpp").rpartition("/")[2] for path in paths
             if path.endswith(".cpp")}
    for source in sources:
        if not (source.under(*TESTED) and source.suffix in (".h", ".cpp") and has_code(source)):
            continue
        stem = source.path.removesuffix(source.suffix)
        if source.suffix == ".h" and (f"{stem}.cpp" in paths or source.under("include") and
                                      stem.rpartition("/")[2] in stems):
            continue  # its .cpp is looked at
        if source.path not in NO_TEST and not tests.intersection(wanted_tests(stem)):
            yield Problem(source.path, 1, "test", f"has no {wanted_tests(stem)[0]}")
    for path in NO_TEST:
        if path not in paths and "tools/style_tables.py" in paths:
            yield Problem("tools/style_tables.py", 1, "test",
                          f"NO_TEST names {path}, which is gone")


def banned(sources, _root):
    for source in sources:
        if not source.is_cpp:
            continue
        for pattern, instead, where, but in BANNED:
            if not source.under(*where) or (but and source.under(*but)):
                continue
            for match in re.finditer(pattern, source.code):
                line = source.code.count("\n", 0, match.start()) + 1
                yield Problem(source.path, line, "banned",
                              f"{match.group().strip()}: use {instead}")
        # libstdc++ waits on a futex private to one process: it cannot wake another.
        atomics = re.findall(r"\bstd::atomic(?:_\w+)?(?:<[^;{}]*?>)?&?\s+(\w+)", source.code)
        for name in set(atomics):
            for match in re.finditer(rf"\b{name}(?:\.|->)(?:wait|notify_\w+)\s*\(", source.code):
                line = source.code.count("\n", 0, match.start()) + 1
                yield Problem(source.path, line, "banned",
                              f"{match.group()}: use a doorbell (transports/doorbell.h)")


def words(sources, _root):
    for source in sources:
        for pattern, instead in WORDS:
            for number, line in enumerate(source.lines, 1):
                match = re.search(pattern, line, re.IGNORECASE if "implement" in pattern else 0)
                if match:
                    yield Problem(source.path, number, "word", f"{match.group()!r}: {instead}")


def empty_lines(found):
    return "\n" * found[0].count("\n")


def page_words(sources, _root):
    for source in sources:
        if not re.fullmatch(PAGES, source.path):
            continue
        prose = re.sub(r"^ *```.*?^ *```$", empty_lines, source.text, flags=re.M | re.S)
        prose = re.sub(WRITTEN_PART, empty_lines, prose, flags=re.S)
        for number, line in enumerate(prose.splitlines(), 1):
            line = re.sub(r"``.*?``|`[^`]*`", "`", line)
            for pattern, instead in PAGE_WORDS:
                if match := re.search(pattern, line):
                    yield Problem(source.path, number, "word", f"{match.group()!r}: {instead}")


def header_words(sources, _root):
    for source in sources:
        if source.suffix != ".h" or not source.under(*REFERENCE):
            continue
        for number, text in cpp_source.first_comment(source.text):
            for pattern, instead in PAGE_WORDS:
                if match := re.search(pattern, text):
                    yield Problem(source.path, number, "word", f"{match.group()!r}: {instead}")


def text_words(sources, _root):
    for source in sources:
        texts = [*literals(source)] if source.under(*TEXTS) else []
        texts += docstrings(source) if source.under(*DOCSTRINGS) else []
        for line, text in texts:
            for pattern, instead in PAGE_WORDS + TEXT_WORDS:
                if match := re.search(pattern, text):
                    yield Problem(source.path, line, "word", f"{match.group()!r}: {instead}")


def endings(sources, _root):
    for source in sources:
        if source.text and not source.text.endswith("\n"):
            yield Problem(source.path, len(source.lines), "ending", "no newline at the end")
        if source.text.endswith("\n\n"):
            yield Problem(source.path, len(source.lines), "ending", "empty lines at the end")
        for number, line in enumerate(source.lines, 1):
            if line != line.rstrip() and source.suffix != ".md":
                yield Problem(source.path, number, "ending", "blanks at the end of the line")
        if source.suffix == ".h" and "#pragma once" not in source.text:
            yield Problem(source.path, 1, "ending", "a header begins with #pragma once")


def formatted(sources, root):
    program = shutil.which("clang-format")
    paths = [source.path for source in sources if source.is_cpp]
    if program is None or not paths:
        print("style: skipped the format: clang-format is not installed", file=sys.stderr)
        return
    result = subprocess.run([program, "--dry-run", *paths], cwd=root, stderr=subprocess.PIPE,
                            text=True, check=False)
    seen = set()
    for path, line in re.findall(r"^(\S+?):(\d+):\d+: (?:warning|error)", result.stderr, re.M):
        if path not in seen:  # one line per file: the cure is the same
            seen.add(path)
            yield Problem(path, int(line), "format", "run ./dev format")


RULES = (sizes, names_of_folders, layers, cycles, circles_of_c, own_includes, names_that_meet,
         dead_declarations, libraries, unused_libraries, documented_paths, listed_pages,
         contracts, missing_tests, banned, words, page_words, header_words, text_words, endings,
         formatted)


def check(root: pathlib.Path, rules=RULES):
    sources = list(load(root))
    return [problem for rule in rules for problem in rule(sources, root)]


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    root = root if root.is_dir() else root.parent.parent
    problems = check(root)
    for problem in problems:
        print(problem)
    print(f"style: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
