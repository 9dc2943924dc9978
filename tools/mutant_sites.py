"""Where a mutant may be put into a C++ or C file, and how it is written there (tools/mutants.py).

A site is a part of a function's body that can be there twice, once as it is and once changed, with
a switch before it: a statement without a declaration (`x = y;`, `f();`, `return a + b;`), a
condition, or the value that a declaration begins with. Text is read with tools/cpp_source.py:
not parsed. What does not compile is left out later, by a compiler.
"""

import re
from dataclasses import dataclass

import cpp_source

CLASSES = ("operator", "constant", "condition", "removed")

_PAIRS = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||",
          "||": "&&", "+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "&": "|", "|": "&",
          "+=": "-=", "-=": "+=", "|=": "&=", "++": "--", "--": "++",
          "std::min": "std::max", "std::max": "std::min"}
# Between spaces, an operator of two values (clang-format): `T* x`, `f<T>(x)` and `&x` are not.
_OPERATOR = re.compile(r"(?<= )(?:==|!=|<=|>=|&&|\|\||\+=|-=|\|=|[-<>+*/%&|])(?=\s)"
                       r"|^\s*(?:\+\+|--)|std::(?:min|max)(?=\()")
_CONSTANT = re.compile(r"(?<![\w.'])(?:(?P<number>0|[1-9]\d*)(?=[uUlL]*(?![\w.']))|true\b|false\b)")
_CONTROL = re.compile(r"(if|while|for|switch|catch)\b\s*(constexpr)?\s*\(")
_BEFORE_A_STATEMENT = re.compile(r"(?:else|do|try)\b|(?:case\b(?:[^:]|::)*|default\s*):(?!:)")
_SPACE = re.compile(r"\s*")
_EXPRESSION = re.compile(
    r"(?!\(void\))(?:\*|\+\+|--|\(|[\w:]+(?:<[^;=]*>)?\s*"
    r"(?:\(|\[|\.|->|=(?!=)|[-+*/|&^%]=|<<=|>>=|\+\+|--))")
_NOT_AN_EXPRESSION = re.compile(
    r"(?:delete|throw|using|typedef|goto|static_assert|assert|asm|__asm__|sizeof|new)\b"
    r"|[A-Z][A-Z0-9_]+\s*\(|.*\b(?:reserve|shrink_to_fit)\(", re.DOTALL)
_DECLARATION = re.compile(r"(?!(?:static|constexpr|constinit|thread_local|using|extern)\b)"
                          r"[\w:<>,&*\s]+?[\s&*]\w+ = (?=[^\s{\[])")


@dataclass(frozen=True)
class Change:
    """One mutant: code[start:end] of a file, and what stands there instead of it."""
    kind: str    # one of CLASSES
    form: str    # how it is written: statement, value or condition
    start: int
    end: int
    before: str
    after: str


def _closing(code: str):
    """Position of each opening bracket -> that of its closing one."""
    found, open_ = {}, []
    for match in re.finditer(r"[()\[\]{}]", code):
        if match.group() in "([{":
            open_.append(match.start())
        elif open_:
            found[open_.pop()] = match.start()
    return found


class _Reader:
    """Collects the sites of one file: (form, start, end)."""

    def __init__(self, text: str):
        self.code = cpp_source.without_preprocessor(cpp_source.without_comments_and_strings(text))
        self._closing = _closing(self.code)
        self.sites = []
        for head, start, end in cpp_source.bodies(self.code):
            if not re.search(r"\bconsteval\b", head):
                self._block(start + 1, end)

    def _space(self, at):
        return _SPACE.match(self.code, at).end()

    def _block(self, at, end):
        at = self._space(at)
        while at < end:
            at = self._space(self._statement(at, end))

    def _statement(self, at, end):
        at = self._space(at)
        if at >= end or self.code[at] == ";":
            return at + 1
        if self.code[at] == "{":
            self._block(at + 1, self._closing.get(at, end))
            return self._closing.get(at, end) + 1
        if before := _BEFORE_A_STATEMENT.match(self.code, at, end):
            return before.end()
        if control := _CONTROL.match(self.code, at, end):
            close = self._closing.get(control.end() - 1, end)
            if not control.group(2):
                self._condition(control.group(1), control.end(), close)
            return close + 1
        return self._simple(at, end)

    def _parts(self, start, end):
        """Where the parts between the `;` that no bracket encloses begin and end."""
        at, begin = start, start
        while at < end:
            if self.code[at] == ";":
                yield begin, at
                begin = at + 1
            at = self._closing.get(at, at) + 1
        yield begin, end

    def _condition(self, word, start, end):
        parts = list(self._parts(start, end))
        if word in ("if", "while"):
            start, end = parts[-1]
        elif word == "for" and len(parts) == 3:
            start, end = parts[1]
        else:
            return
        start = self._space(start)
        if start < end and not re.search(r"(?<![=!<>])=(?![=])", self._own(start, end)):
            self.sites.append(("condition", start, end))

    def _own(self, start, end):
        """Without what stands in braces: the bodies of lambdas have sites of their own."""
        own, at = [], start
        while at < end:
            if self.code[at] == "{":
                close = min(self._closing.get(at, end), end)
                own.append(" " * (close - at))
                at = close
            else:
                own.append(self.code[at])
                at += 1
        return "".join(own)

    def _simple(self, at, end):
        start = at
        while at < end and self.code[at] != ";":
            if self.code[at] == "{":
                close = self._closing.get(at, end)
                if ";" in self.code[at:close]:
                    self._block(at + 1, close)
                at = close
            at += 1
        if at < end:
            self._classify(start, at + 1)
        return at + 1

    def _classify(self, start, end):
        own = self._own(start, end)
        if re.match(r"return\b\s*[^\s;]", own) or re.match(r"(?:break|continue);", own):
            self.sites.append(("statement", start, end))
        elif _NOT_AN_EXPRESSION.match(own):
            return
        elif _EXPRESSION.match(own):
            self.sites.append(("statement", start, end))
        elif declaration := _DECLARATION.match(own):
            self.sites.append(("value", start + declaration.end(), end - 1))

    def changes(self, text):
        for form, start, end in self.sites:
            own, before = self._own(start, end), text[start:end]
            for kind, at, length, instead in _replacements(form, own):
                after = before[:at] + instead + before[at + length:]
                if kind == "condition":
                    after = f"!({before})"
                yield Change(kind, form, start, end, before, after)


def _replacements(form, own):
    """(class, position, length, what stands there instead) of each change of a site."""
    for match in _OPERATOR.finditer(own):
        sign = match.group().strip()
        if sign in _PAIRS:
            yield "operator", match.end() - len(sign), len(sign), _PAIRS[sign]
    for match in _CONSTANT.finditer(own):
        value = match.group()
        instead = ({"true": "false", "false": "true"}.get(value)
                   or str(int(match.group("number")) + 1))
        yield "constant", match.start(), len(value), instead
    if form == "condition":
        yield "condition", 0, 0, "!"
    if form == "statement" and not own.startswith("return"):
        yield "removed", 0, len(own), ""


def changes(text: str):
    """Every change that a file offers, in its order."""
    return list(_Reader(text).changes(text))


def written(change: Change, number: int) -> str:
    """What stands in the file instead of the site: as it was, or changed where the switch says."""
    switch = f"brigade_mutant({number})"
    if change.form == "statement":
        return f"{{ if ({switch}) {{ {change.after} }} else {{ {change.before} }} }}"
    if change.form == "condition":
        return f"{switch} ? !!({change.after}) : !!({change.before})"
    return f"({switch} ? ({change.after}) : ({change.before}))"


INCLUDE = "#include <brigade_mutant.h>\n"


def with_mutants(text: str, numbered) -> str:
    """A file with some changes that do not overlap, each behind its switch: {number: change}."""
    for number, change in sorted(numbered.items(), key=lambda item: -item[1].start):
        text = text[:change.start] + written(change, number) + text[change.end:]
    return INCLUDE + text


# Found by files of both languages as <brigade_mutant.h>. A process reads its environment once,
# before anything else runs; what is evaluated by the compiler has no mutants. Which switches were
# reached is told through a file of bytes that all processes of a test map.
HEADER = r"""#pragma once
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __cplusplus
#include <type_traits>
#define BRIGADE_ONE inline
#else
#define BRIGADE_ONE static
#endif
BRIGADE_ONE int brigade_mutant_number = 0;
BRIGADE_ONE unsigned char* brigade_mutants_met = 0;
__attribute__((constructor(101))) static void brigade_mutant_start(void) {
  const char* const number = getenv("BRIGADE_MUTANT");
  const char* const met = getenv("BRIGADE_MUTANTS_MET");
  if (number) brigade_mutant_number = atoi(number);
  if (!met || brigade_mutants_met) return;
  const int file = open(met, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void* const bytes = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (bytes != MAP_FAILED) brigade_mutants_met = (unsigned char*)bytes;
}
BRIGADE_ONE int brigade_mutant_here(int number) {
  if (brigade_mutants_met) brigade_mutants_met[number] = 1;
  return number == brigade_mutant_number;
}
#ifdef __cplusplus
constexpr bool brigade_mutant(int number) {
  return !std::is_constant_evaluated() && brigade_mutant_here(number) != 0;
}
#else
#define brigade_mutant(number) brigade_mutant_here(number)
#endif
"""
