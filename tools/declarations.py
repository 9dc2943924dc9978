"""What files declare, and who uses it: the rules of tools/style.py about includes, about names that
meet where files are compiled together, and about dead declarations. By names alone, over the C++
that cpp_source.py can read: a name that more than one header declares is there when one of them
is, and one that a file declares itself is its own."""

import collections
import functools
import hashlib
import re

import cpp_source
from sources import Problem, included, within
from style_tables import APART, CORE_GROUPS, FOR_TESTS, STANDARD, TESTED

_WORDS = frozenset("alignas alignof bool catch concept const constexpr decltype defined delete "
                   "enum explicit for if int new noexcept operator requires return sizeof "
                   "static_assert switch target template throw typename using void while".split())
_TYPE = re.compile(r"\b(?:class|struct|union|enum(?: class)?|using|concept)\s+"
                   r"(?:(?:alignas\([^)]*\)|BRIGADE_API|\[\[\w+\]\])\s+)*"
                   r"(\w+)\s*(?:[{:=]|final\b)")
_CONSTANT = re.compile(r"\b(k[A-Z]\w*)\s*(?:\[[^\]]*\]\s*)*[={]")
_MACRO = re.compile(r"#\s*define\s+(\w+)")
_FORWARD = re.compile(r"\b(?:class|struct|union|enum(?: class)?)\s+(?:BRIGADE_API\s+)?(\w+)\s*"
                      r"(?::[\s\w:]+)?;")
_LOCAL = re.compile(r"(?:\b(?:class|struct|union|enum|typename|using|concept|namespace)\s+"
                    r"|[\w>&*\]]\s*[&*]*\s)(\w+)\s*(?=[=;,(){}\[:>]|$)", re.MULTILINE)
_NOT_BEFORE_NAMES = re.compile(r"\b(?:return|case|throw|new|delete|else)\b")
_USED = re.compile(r"(?<![\w.>:~])(?:brigade::)?(?:([A-Z]\w*|k[A-Z]\w*)\b|([a-z]\w*)\s*\()")
_STANDARD = re.compile(r"\bstd::(\w+)")


@functools.cache
def _of_namespaces(code: str) -> str:
    """The same text without the bodies of functions, classes and values."""
    code = cpp_source.without_preprocessor(code)
    kept, depth, start = list(code), 0, 0
    for match in re.finditer(r"[{};]", code):
        character, at = match.group(), match.start()
        head = code[start:at]
        if character == "{" and (depth or not re.search(r"\bnamespace\b[^()]*$", head)):
            depth += 1
            first = at + 1 if depth == 1 else first
        elif character == "}" and depth:
            depth -= 1
            if not depth:
                kept[first:at] = cpp_source.blank("".join(kept[first:at]))
        start = at + 1
    return "".join(kept)


@functools.cache
def declared(code: str) -> frozenset:
    """The names that a header gives to who includes it: types, constants, functions."""
    text = _of_namespaces(code)
    names = {*_TYPE.findall(text), *_CONSTANT.findall(text), *_MACRO.findall(code)}
    for statement in re.split(r"[;{}]", text):
        statement = re.sub(r"\[\[[^]]*\]\]|\balignas\([^)]*\)", "", statement)
        function = re.search(r"\b(\w+)\s*\(", statement)
        if function:
            names.add(function.group(1))
    return frozenset(names - _WORDS)


@functools.cache
def _types(code: str) -> frozenset:
    """Of namespaces and inside classes, also those that are only announced."""
    return frozenset(_TYPE.findall(code) + _FORWARD.findall(code))


@functools.cache
def _local(code: str) -> frozenset:
    """What it declares anywhere, by the look of it: members, parameters, what is in functions."""
    code = _NOT_BEFORE_NAMES.sub(";", cpp_source.without_preprocessor(code))
    return frozenset(_LOCAL.findall(code) + re.findall(r"\(\*(\w+)\)", code)) | _types(code)


@functools.cache
def used(code: str) -> frozenset:
    """The names that a file uses and does not declare, qualified ones left out."""
    code = cpp_source.without_preprocessor(code)
    names = {kind or function for kind, function in _USED.findall(code)}
    return frozenset(names - _local(code) - _WORDS)


@functools.cache
def used_of_std(code: str) -> frozenset:
    return frozenset(_STANDARD.findall(code))


@functools.cache
def defined_here(code: str) -> frozenset:
    """What would be there twice, were a second file compiled with this one: constants, types, and
    functions with their parameters."""
    text = re.sub(r"\busing\b[^;]*;", "", _of_namespaces(code))
    functions = re.findall(r"(?:^|[\s&*>])(\w+\s*\([^{};=]*\))\s*(?:noexcept\s*)?\{", text)
    return frozenset([*_TYPE.findall(text), *_CONSTANT.findall(text),
                      *(re.sub(r"\s+", " ", function) for function in functions)])


def reached(path: str, includes: dict) -> set:
    """The file, and all that it includes, however far."""
    seen, todo = set(), [path]
    while todo:
        path = todo.pop()
        if path in includes and path not in seen:
            seen.add(path)
            todo += includes[path]
    return seen


def headers_of_names(codes: dict) -> dict:
    headers = collections.defaultdict(set)
    for path, code in codes.items():
        if path.endswith(".h"):
            for name in declared(code):
                headers[name].add(path)
    return headers


def not_included(path: str, codes: dict, headers: dict, includes: dict):
    """(name, its headers) of what a file uses from headers that it does not reach."""
    there = reached(path, includes)
    known = set().union(*(declared(codes[other]) | _local(codes[other]) for other in there))
    for name in sorted(used(codes[path]) - known):
        if name in headers:
            yield name, sorted(headers[name])


def uses(codes: dict) -> dict:
    """Of each word how often it stands in which file."""
    found = collections.defaultdict(dict)
    for path, code in codes.items():
        for word, times in collections.Counter(re.findall(r"\w+", code)).items():
            found[word][path] = times
    return found


def dead(path: str, codes: dict, found: dict):
    """Functions and types of a header that nothing uses: their declaration stands alone, or beside
    the definition in the file of the same name."""
    own = {path, path.removesuffix(".h") + ".cpp"}
    enums = set(re.findall(r"\benum\s+(\w+)", codes[path]))
    for name in sorted(declared(codes[path]) - enums):
        times = [found[name].get(one, 0) for one in sorted(own)]
        if set(found[name]) <= own and max(times) == 1 and not name.startswith("k"):
            yield name


# --- the rules


def own_includes(sources, _root):
    """A file reaches what it uses by its own includes: it compiles alone, whatever is compiled
    together with it."""
    files = {source.path: source for source in sources if source.is_cpp and source.under(*TESTED)}
    codes = {path: source.code for path, source in files.items()}
    includes = {path: included(source) for path, source in files.items()}
    angled = {path: {target for _, target, quoted in cpp_source.includes(source.text) if not quoted}
              for path, source in files.items()}
    headers = headers_of_names(codes)
    for path in files:
        for name, there in not_included(path, codes, headers, includes):
            yield Problem(path, 1, "include", f"uses {name} of {' or '.join(there)}: include it")
        there = reached(path, includes)
        if (header := path.removesuffix(".cpp") + ".h") in files and header not in there:
            yield Problem(path, 1, "include", f"does not include its own header {header}")
        standard = set().union(*(angled[other] for other in there))
        for name in sorted(used_of_std(codes[path]) & STANDARD.keys()):
            if STANDARD[name] not in standard:
                yield Problem(path, 1, "include",
                              f"uses std::{name} of <{STANDARD[name]}>: include it")


def names_that_meet(sources, _root):
    """The core's files are compiled together where CMake's brigade_group_sources() puts them."""
    seen = {}
    for source in sources:
        if source.suffix != ".cpp" or not source.under(*TESTED) or source.under(*APART):
            continue
        group = int(hashlib.md5(source.path.encode()).hexdigest()[:4], 16) % CORE_GROUPS
        for name in defined_here(source.code):
            other = seen.setdefault((group, name), source.path)
            if other != source.path:
                yield Problem(source.path, 1, "name", f"{name} stands in {other}, too, which is "
                              "compiled together with it: name one of them otherwise")


def dead_declarations(sources, _root):
    """What a header of the product declares is used by the product, or a promise to users."""
    codes = {source.path: source.code for source in sources
             if source.is_cpp and source.under(*TESTED, "bench", "examples")}
    found = uses(codes)
    for path in codes:
        if path.endswith(".h") and not within(path, "include") and not within(path, "bench"):
            for name in dead(path, codes, found):
                if name not in FOR_TESTS:
                    yield Problem(path, 1, "dead", f"nothing of the product uses {name}: remove "
                                  "it, or say in FOR_TESTS (style_tables.py) why it is there")


def circles_of_c(_sources, root):
    """A file of the Python module that calls a function of another is not called by that, however
    far."""
    code = {path.name: cpp_source.without_comments_and_strings(path.read_text())
            for path in sorted(root.glob("python/src/*.c"))}
    static, home = {}, {}
    for path, text in code.items():
        for kind, name in re.findall(r"^(static\b)?\w*[\w *]*?(\w+)\([^;{}]*\)\s*\{", text, re.M):
            if kind:
                static.setdefault(path, set()).add(name)
            else:
                home[name] = path
    calls = {path: {home[name] for name in set(re.findall(r"\w+", text)) - static.get(path, set())
                    if name in home} - {path} for path, text in code.items()}
    for path in calls:
        for other in sorted(calls[path]):
            if path in reached(other, calls):
                yield Problem(f"python/src/{path}", 1, "circle",
                              f"calls functions of {other}, from where it is called")
