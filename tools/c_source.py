# SPDX-License-Identifier: Apache-2.0
"""c_source.py - reads C text well enough to check it: items, includes, words.

Not a compiler. Comments and literals are blanked in place, so every offset in
the blanked text is an offset in the file. What remains is cut into items: the
declarations and definitions at brace depth 0.
"""

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

COMMENT_OR_LITERAL = re.compile(
    r"""//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S
)
DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w*)(?:\\\n|[^\n])*", re.M)
# macros that define a whole function (base/sort.h, sql/raw.h)
DEFINING = re.compile(r"^SS_(?:COMPARATOR|RAW_FILL|RAW_CELLS)\((?:[^()]|\([^()]*\))*\)", re.M)
INCLUDE = re.compile(r"""[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]""")
EXTERN_C = re.compile(r'\bextern\s*" *"\s*\{')
TYPE_ONLY = re.compile(r"(?:struct|union|enum)\b[^{}()]*\{\}(?:\s*[A-Z_][A-Z0-9_]*)*$"
                       r"|(?:struct|union|enum)\s+\w+$")
NOT_NAMES = {"__attribute__", "__declspec", "_Alignas", "alignas", "typeof", "__typeof__"}


@dataclass(frozen=True)
class Include:
    """One #include: its line, and the name between the quotes or brackets."""

    line: int
    name: str
    quoted: bool


@dataclass(frozen=True)
class Item:
    """One declaration or definition at brace depth 0.

    `head` is its text up to the function body or the semicolon, on one line,
    with inner braces collapsed to {}. Offsets are those of the file.
    """

    kind: str  # "function", "prototype", "object", "type"
    name: str  # of a function or prototype, "" otherwise
    head: str
    start: int
    body_start: int  # -1 when it is no function
    end: int

    @property
    def is_static(self):
        return "static" in self.head.split("(")[0].split()


def blank(text):
    """Turns all but the line breaks into spaces."""
    return re.sub(r"[^\n]", " ", text)


def blank_literals(text):
    """Blanks comments, and what stands between quotes."""

    def replace(match):
        token = match.group()
        return blank(token) if token[0] == "/" else token[0] + blank(token[1:-1]) + token[-1]

    return COMMENT_OR_LITERAL.sub(replace, text)


def blank_directives(code):
    """Blanks preprocessor lines, macros that define functions, and the #else of an #if that leaves
    a brace open."""
    body = DIRECTIVE.sub(lambda match: blank(match.group()), code)
    body = DEFINING.sub(lambda match: blank(match.group()), body)
    dropped, branches = [], []
    for match in DIRECTIVE.finditer(code):
        word = match.group(1)
        if word in ("if", "ifdef", "ifndef"):
            branches.append([match.end(), None])
        elif word in ("else", "elif") and branches and branches[-1][1] is None:
            first = body[branches[-1][0] : match.start()]
            if first.count("{") != first.count("}"):
                branches[-1][1] = match.end()
        elif word == "endif" and branches:
            begin = branches.pop()[1]
            if begin is not None:
                dropped.append((begin, match.start()))
    for begin, end in dropped:
        body = body[:begin] + blank(body[begin:end]) + body[end:]
    return EXTERN_C.sub(lambda match: blank(match.group()), body)


def names_before_parens(head):
    """The identifiers that stand right before an outermost parenthesis, in order."""
    names, depth = [], 0
    for match in re.finditer(r"(\w*)\s*\(|\)", head):
        if match.group() == ")":
            depth -= 1
            continue
        if depth == 0 and match.group(1) and match.group(1) not in NOT_NAMES:
            names.append(match.group(1))
        depth += 1
    return names


def declared_name(head):
    """The function that a head declares; macros in capitals are attributes."""
    names = names_before_parens(head)
    return next((name for name in names if not name.isupper()), names[-1] if names else "")


def outside(text, opening, closing, mark=""):
    """Drops what stands between a pair of brackets; `mark` takes its place."""
    depth, kept = 0, []
    for char in text:
        if char == opening:
            kept.append(mark if depth == 0 else "")
            depth += 1
        elif char == closing:
            depth -= 1
        elif depth == 0:
            kept.append(char)
    return "".join(kept)


def head_of(text):
    return " ".join(outside(text, "{", "}", "{}").split())


def opens_function(head):
    is_object = "=" in outside(head, "(", ")")
    return head.endswith(")") and not is_object and declared_name(head) != ""


def kind_of(head):
    """The kind of an item that ended with a semicolon."""
    if not head or head.startswith(("typedef", "static_assert", "_Static_assert")):
        return "type"
    if TYPE_ONLY.match(head):
        return "type"
    plain = outside(head, "[", "]")
    if "=" in outside(plain, "(", ")") or re.match(r"[^(]*\(\s*\*", plain):
        return "object"
    return "prototype" if declared_name(plain) else "object"


def item_at(body, start, body_start, end):
    text = body[start:end]
    start += len(text) - len(text.lstrip())
    is_function = body_start >= 0
    head = head_of(body[start : body_start if is_function else end - 1])
    kind = "function" if is_function else kind_of(head)
    name = declared_name(head) if kind in ("function", "prototype") else ""
    return Item(kind, name, head, start, body_start, end)


def split_items(body):
    """Cuts text without literals and directives into items."""
    start, depth, body_start = 0, 0, -1
    for match in re.finditer(r"[{};]", body):
        at, char = match.start(), match.group()
        if char == "{":
            if depth == 0 and opens_function(head_of(body[start:at])):
                body_start = at
            depth += 1
            continue
        if char == "}":
            depth -= 1
            if depth > 0 or (depth == 0 and body_start < 0):
                continue
        elif depth > 0:
            continue
        if depth == 0:  # below 0 it is the end of an extern "C" block
            yield item_at(body, start, body_start, at + 1)
        start, depth, body_start = at + 1, 0, -1


class Source:
    """One C file: `code` has blank literals, `body` has blank directives too."""

    def __init__(self, text):
        self.text = text
        self.code = blank_literals(text)
        self.body = blank_directives(self.code)
        self.line_starts = [0] + [match.end() for match in re.finditer("\n", text)]

    def line_at(self, offset):
        return bisect_right(self.line_starts, offset)

    @cached_property
    def items(self):
        return list(split_items(self.body))

    @cached_property
    def functions(self):
        return [item for item in self.items if item.kind == "function"]

    @cached_property
    def prototypes(self):
        return [item for item in self.items if item.kind == "prototype"]

    @cached_property
    def includes(self):
        found = []
        for match in DIRECTIVE.finditer(self.code):
            include = INCLUDE.match(self.text, match.start())
            if include:
                line = self.line_at(match.start())
                found.append(Include(line, include.group(2), include.group(1) == '"'))
        return found

    @cached_property
    def words(self):
        return Counter(re.findall(r"[A-Za-z_]\w*", self.code))
