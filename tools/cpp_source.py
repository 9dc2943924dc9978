"""Reads C++ just well enough for tools/style.py: text without comments and strings, and where
functions begin and end. Not a parser; made so that what it cannot tell is not reported."""

import functools
import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r'R"(?P<delimiter>[^()\s\\]{0,16})\(.*?\)(?P=delimiter)"'  # a raw string
    r"|//[^\n]*|/\*.*?\*/"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F_])'(?:\\.|[^'\\\n])+'",  # not the separator of 1'000
    re.DOTALL)


def blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _blank_keeping_quotes(token: str) -> str:
    return token[0] + blank(token[1:-1]) + token[-1] if token[0] in "\"'R" else blank(token)


@functools.cache
def without_comments_and_strings(text: str) -> str:
    """The same text, with comments and the inside of literals replaced by spaces: every line and
    column stays where it was."""
    return _TOKEN.sub(lambda match: _blank_keeping_quotes(match.group()), text)


def first_comment(text: str):
    """(line, text) of every line of the first comment outside code."""
    begun = False
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r"\s*//[/!]?<? ?(.*)", line)
        if match:
            begun = True
            yield number, match.group(1)
        elif begun:
            return


def includes(text: str):
    """(line, path, is quoted) of every #include that is no part of a raw string or a comment."""
    code = without_comments_and_strings(text).splitlines()
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', line)
        if match and "#" in code[number - 1]:
            yield number, match.group(1) or match.group(2), match.group(1) is not None


def literals(text: str):
    """(line of the first, text) of the string literals outside #include. Those that follow each
    other are one text, and what a backslash stands for is a space."""
    line, parts, end = 0, [], 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token[0] not in '"R' or text.endswith("#include ", 0, match.start()):
            continue
        if parts and (token[0] == "R" or text[end:match.start()].strip()):
            yield line, "".join(parts)
            parts = []
        if not parts:
            line = text.count("\n", 0, match.start()) + 1
        parts.append(token if token[0] == "R" else re.sub(r"\\.", " ", token[1:-1]))
        end = match.end()
    if parts:
        yield line, "".join(parts)


@dataclass(frozen=True)
class Function:
    name: str
    line: int   # of its opening brace
    lines: int  # from there to its closing brace, both counted


_TYPE = re.compile(r"(?:^|[\s>])(?:class|struct|union|enum|namespace|concept|requires)\b")
_NAME = re.compile(r"(operator\s*\S+|[~\w:]+)\s*$")


def _name(head: str) -> str:
    """The last word before the arguments, template arguments left out."""
    before = head.split("(", 1)[0]
    if "operator" not in before:
        shorter = None
        while shorter != before:
            shorter, before = before, re.sub(r"<[^<>]*>", "", before)
    name = _NAME.search(before)
    return name.group(1) if name else "lambda"


def without_preprocessor(code: str) -> str:
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda match: blank(match.group()), code,
                  flags=re.MULTILINE)


def _kind(head: str) -> str:
    """What a brace opens, given the text since the last `;`, `{` or `}` outside functions."""
    if head.count("(") > head.count(")"):
        return "member"  # an argument's default, or a value in a call
    if "(" not in head:
        return "scope" if _TYPE.search(head) or re.search(r'\bextern\s+"', head) else "value"
    if re.search(r"(?:^|[\s>])(?:namespace|enum)\b", head):
        return "scope"
    before_arguments = head.split("(", 1)[0]
    if re.search(r"(?:^|[\s>])(?:class|struct|union)\b(?!\s*>)", re.sub(r"<[^<>]*>", "",
                                                                       before_arguments)):
        return "scope"  # class alignas(64) Name, class BRIGADE_API Name : Base<int(char)>
    if re.search(r"=\s*$", head) or re.search(r"[^=!<>]=[^=].*$", before_arguments):
        return "value"
    if re.search(r"\)\s*(?:noexcept\s*)?:[^:].*[\w>]\s*$", head, re.DOTALL):
        return "member"  # name{value} in the list of a constructor
    return "function"


def bodies(code: str):
    """(what stands before its brace, positions of the opening and the closing brace) of every
    function with a body that is not inside another."""
    stack, start = [], 0
    found = None  # (depth, head, position) of the function being read
    for match in re.finditer(r"[{};]", code):
        character, position = match.group(), match.start()
        if character == "{":
            head = code[start:position]
            kind = "inside" if found else _kind(head)
            stack.append(kind)
            if kind == "function":
                found = (len(stack), head, position)
            if kind != "member":
                start = position + 1
        elif character == "}" and stack:
            if found and len(stack) == found[0]:
                yield found[1], found[2], position
                found = None
            if stack.pop() != "member":
                start = position + 1
        elif character == ";" and not found:
            start = position + 1


def functions(text: str):
    """Every function with a body that is not inside another: methods and tests too."""
    code = without_preprocessor(without_comments_and_strings(text))
    for head, start, end in bodies(code):
        line = code.count("\n", 0, start) + 1
        yield Function(_name(head), line, code.count("\n", 0, end) + 2 - line)
