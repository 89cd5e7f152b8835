# SPDX-License-Identifier: Apache-2.0
"""test_tidy.py - every rule of tidy.py fires on a bad tree and is silent on a good one."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import tidy
from c_source import Source

TIDY = Path(tidy.__file__)
LICENCE = "/* SPDX-License-Identifier: Apache-2.0 */\n"


def c_file(name, code):
    return f"{LICENCE}/*\n * {name} - a sample.\n */\n{code}"


def header(name, guard, code):
    return c_file(name, f"#ifndef {guard}\n#define {guard}\n\n{code}\n#endif\n")


def body_lines(count):
    """A function of `count` lines, its head and braces counted."""
    return "static void f(void)\n{\n" + "\t;\n" * (count - 3) + "}\n"


def crowd(folder, count):
    """So many sources in a folder."""
    return {f"{folder}/a{i}.c": c_file(f"a{i}.c", "") for i in range(count)}


def base(code):
    return {"src/base/a.c": c_file("a.c", code)}


def public(code):
    return {"include/a.h": header("a.h", "A_H", code)}


def includes(path, line):
    return {path: c_file(Path(path).name, f"#include {line}\n")}


def three(code):
    """The same code in three files."""
    return {f"src/base/{name}.c": c_file(f"{name}.c", code) for name in "abc"}


F = "static int add(void)\n{\n}\n"
GLOBAL_H = header("a.h", "SS_BASE_A_H", "int ss_a_add(int a);\n")
GLOBAL_C = c_file("a.c", "int ss_a_add(int a)\n{\n\treturn a;\n}\n")
USER_C = c_file("b.c", "static int f(void)\n{\n\treturn ss_a_add(1);\n}\n")

# (rule, bad trees, good trees); a tree is { path: text }.
CASES = (
    ("file-length", [base("\n" * 598), {"ui/a.ts": "x;\n" * 602}],
     [base("\n" * 597), {"docs/a.md": "x\n" * 700}]),
    ("licence", [{"src/base/a.c": "int a;\n"}, {"tools/a": "#!/bin/sh\n"}],
     [base(""), {"tools/a": "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n"}]),
    ("line-width", [base("\t" * 12 + "int x;\n"), {"tools/a": "#!/bin/sh\n" + "x" * 101 + "\n"}],
     [base("/*" + "\u00b5" * 96 + "*/\n"), {"ui/api.gen.ts": "x" * 200 + "\n"}]),
    ("public-since",
     [public("SS_API int ss_a(void);\n"), public("/* Since 0.1. Stable. */\n\nint a;\n"
                                                "SS_API int ss_a(void);\n"),
      public("/* A sort. Since 0.1. */\nstruct ss_a {\n\tint a;\n};\n")],
     [public("/* Since 0.1. May\n * change. */\nSS_API\nint ss_a(void);\nint ss_b(void);\n"),
      public("/* Since 0.1. Stable. */\nstruct ss_a {\n\tint a;\n};\nstruct ss_b;\n")]),
    ("trailing-space", [base("int a; \n"), base("\t\n")], [base("\n")]),
    ("final-newline", [base("int a;"), base("int a;\n\n")], [base("int a;\n"), {"ui/a.ts": ""}]),
    ("unfinished", [base("/* TO" "DO: more */\n"), {"tools/a.py": "# X" "XX\n"}],
     [base('const char t[] = "XXXX" "XX";\n'), base("/* tod" "o */\n")]),
    ("machine-path", [base('/* /work' '/x */\n'), {"docs/a.md": "see /root" "/x\n"}],
     [base("/* bench/work/x */\n"), {"docs/a.md": "$HOME/work/x\n../work/x\n"}]),
    ("registry-host", [{"ui/package-lock.json": "https://registry.npm" "js.org/x\n"},
                       {"README.md": "py" "pi.org\n"}],
     [{"README.md": "pip install stepscope; https://pytorch.org\n"}]),
    ("drawn-by-date", [{"tests/a.py": "datetime.date.tod" "ay()\n"},
                       {".ci/run": "#!/bin/sh\nx=$(da" "te +%j)\n"}],
     [{"tests/a.py": "today = candidate(1)\n"}, {".ci/nightly": "x=$(date +%s)\n"}]),
    ("file-name", [{"src/base/utils.c": ""}, {"tests/common.h": ""}],
     [{"src/base/utility_curve.c": ""}]),
    ("function-length", [base(body_lines(71)),
                         base('static const char c = \'"\';\n' + body_lines(71))],
     [base(body_lines(70)), base("static const int t[] = {\n" + "\t1,\n" * 80 + "};\n")]),
    ("tab-indent", [base("static int f(void)\n{\n    return 1;\n}\n"),
                    base("static int f(int a,\n" + " " * 13 + "int b);\n")],
     [base("static int f(int a,\n\t     int b);\nint g(a,\n      b);\n"),
      base("struct a {\n\t/*\n\t * x\n        */\n\tint a;\n};\n")]),
    ("typedef-struct", [base("typedef struct a b;\n"), base("typedef\nstruct { int a; } b;\n")],
     [base("typedef int b;\n/* typedef struct */\n")]),
    ("header-guard", [{"src/read/a.h": header("a.h", "SS_A_H", "")},
                      {"tests/read/a.h": header("a.h", "SS_READ_A_H", "")},
                      {"src/read/a.h": ""}],
     [{"src/read/a.h": header("a.h", "SS_READ_A_H", "")},
      {"include/stepscope.h": header("stepscope.h", "STEPSCOPE_H", "")},
      {"tests/read/a.h": header("a.h", "SS_TESTS_READ_A_H", "")}]),
    ("opening-comment", [{"src/base/a.c": "int a;\n"}, {"src/base/b.c": c_file("a.c", "")}],
     [base(""), {"tests/a.c": "int a;\n"}]),
    ("function-name", [base("static int get_a(void)\n{\n}\n"), base("int ss_a_impl(void);\n"),
                       base("int ss_do_a(void);\n"), base("int ss_a_v2(void);\n"),
                       base("int a_1(void);\n")],
     [base("int ss_target_add(void);\nint redo(void);\nint crc_32(void);\n"),
      {"tests/a.c": "int get_a(void);\n"}]),
    ("folder", [{"src/other/a.c": ""}, {"src/a.c": ""}, {"src/analyze/other/a.c": ""}],
     [{"src/sim/a.c": ""}, {"src/analyze/time/a.c": ""}, {"src/sim/other/a.c": ""}]),
    ("folder-size", [crowd("src/read", 26) | {"src/read/README.md": ""}, crowd("src/read", 11)],
     [crowd("src/read", 25) | {"src/read/README.md": ""}, crowd("src/read", 10),
      crowd("src/sim/causes", 26) | {"src/sim/causes/README.md": ""}, crowd("tests/read", 26)]),
    ("readme-name", [{"src/read/README.md": "Begin with `a.h`.\n", "src/read/b.h": ""},
                     {"src/read/README.md": "Not here: `trace/gone/`\n", "src/trace/a.h": ""}],
     [{"src/read/README.md": "`a.h`, `trace/`, `../trace/a.c`, `a b.h`, `src/trace/X/`\n",
       "src/read/a.h": "", "src/trace/a.c": ""}]),
    ("layers", [includes("src/read/a.c", '"trace/a.h"'), includes("src/serve/a.c", '"cli/a.h"'),
                includes("src/sim/a.c", '"analyze/a.h"'), includes("src/trace/a.c", '"sim/a.h"'),
                includes("src/base/a.c", '"../read/a.h"'), includes("src/base/a.c", '"a.h"'),
                includes("src/base/a.c", "<read/a.h>"), includes("src/api/a.c", '"sql/a.h"'),
                includes("src/memory/a.c", '"load/a.h"'),
                includes("src/analyze/time/a.c", '"analyze/host/a.h"'),
                includes("src/analyze/a.h", '"analyze/views/a.h"'),
                includes("src/load/files/a.c", '"load/a.h"')],
     [includes("src/trace/a.c", '"trace/b.h"'), includes("src/cli/a.c", '"api/a.h"'),
      includes("src/sim/a.c", '"read/a.h"'), includes("src/base/a.c", '"stepscope.h"'),
      includes("src/api/a.c", '"sim/a.h"'), includes("src/diagnose/a.c", '"rules.inc"'),
      includes("src/memory/a.c", '"analyze/a.h"'),
      includes("src/analyze/host/a.c", '"analyze/time/a.h"'),
      includes("src/analyze/views/a.c", '"analyze/a.h"'),
      includes("src/timeline/rows/a.c", '"timeline/a.h"'),
      includes("src/load/a.c", '"load/files/a.h"'),
      includes("src/base/a.c", "<sys/stat.h>"), base('/*\n#include "api/a.h"\n*/\n')]),
    ("banned-call", [base("static void f(void)\n{\n\tprintf (1);\n}\n"),
                     base("#define A atoi(x)\n"),
                     includes("src/load/a.c", "<a.h>\nvoid f(void) { free(a); }"),
                     {"src/wasm/a.c": "int f(void) { return sscanf(a); }\n"}],
     [base('/* printf(1) */\nstatic const char t[] = "abort()";\n'),
      base("int f(void) { a->exit(1); b.system(2); ss_printf(3); return snprintf(4); }\n"),
      base("void *f(void) { return malloc(1); }\n"),
      {"src/cli/a.c": "int f(void) { return puts(a); }\n"},
      {"src/read/a.c": "void f(int) __attribute__((format(printf, 1, 2)));\n"},
      {"tests/a.c": "int f(void) { return atoi(a); }\n"}]),
    ("standard-stream", [base("int f(void) { fputs(a, stderr); }\n")],
     [base("/* stdout */\nint stdout_width;\n"),
      {"src/cli/a.c": "int f(void) { fflush(stdout); }\n"}]),
    ("mutable-state", [base("static int a;\n"), base("int a = 1;\n"), base("extern int a;\n"),
                       base("static const char *names[] = { 0 };\n"),
                       base("static int (*f)(int);\n"), base("struct a { int b; } c;\n"),
                       base("static int f(void)\n{\n\tstatic int a;\n\treturn a++;\n}\n"),
                       base("static _Thread_local struct a b = { f(1) };\n")],
     [base("static const int a[] = { 1 };\nextern const struct b c;\nstruct d;\n"),
      base("static const char *const names[] = { 0 };\nenum e { A };\ntypedef int b;\n"),
      base("static int f(int a[static 4]);\nstatic_assert(1 == 1, A);\n"),
      base("int (*const f)(int *) = g;\nstatic int h(int (*a)(int *b));\n"),
      base("static const struct {\n\tint a;\n} b[A(1)] = { { 1 } };\n"),
      base("struct p {\n\tint a;\n} PACKED;\n"),
      base("static int f(void)\n{\n\tstatic const int a = 1;\n\tint b = a;\n\treturn b;\n}\n"),
      {"src/cli/a.c": "static int a;\n"}, {"tests/a.c": "static int a;\n"}]),
    ("one-includer", [includes("src/read/a.c", "<zlib.h>") | includes("src/read/b.c", "<zlib.h>"),
                      includes("src/read/a.c", "<isa-l.h>") | includes("src/load/b.c", "<isa-l/x>"),
                      includes("src/read/a.h", "<zstd.h>")],
     [includes("src/read/a.c", "<zlib.h>") | includes("src/read/b.c", "<zstd.h>"),
      includes("src/read/a.c", "<zlib.h>") | includes("bench/b.c", "<zlib.h>")]),
    ("global-function", [base("int ss_a_add(int a)\n{\n\treturn a;\n}\n"),
                         {"src/base/a.c": GLOBAL_C, "src/base/a.h": GLOBAL_H},
                         {"src/base/a.c": GLOBAL_C, "src/base/b.c": USER_C}],
     [{"src/base/a.c": GLOBAL_C, "src/base/a.h": GLOBAL_H, "tests/b.c": USER_C},
      {"src/cli/a.c": "int main(void)\n{\n}\n"},
      {"src/wasm/a.c": '__attribute__((export_name("a"))) int a(void)\n{\n}\n'},
      base("static int a(void)\n{\n}\n"),
      {"src/base/a.c": GLOBAL_C,
       "include/a.h": header("a.h", "A_H", "SS_API int ss_a_add(int a);\n")}]),
    ("shared-function", [three("static int add(void)\n{\n}\n")],
     [three("static int add(void);\n"), base("static int add(void)\n{\n}\n"),
      {"src/base/a.c": c_file("a.c", F), "src/read/b.c": c_file("b.c", F)},
      {f"src/base/a_{end}.c": c_file(f"a_{end}.c", F) for end in ("one", "two", "none")}]),
    ("shared-tag", [{"src/base/a.c": c_file("a.c", "struct key {\n\tint a;\n};\n"),
                     "src/read/b.c": c_file("b.c", "struct key {\n\tint b;\n};\n")}],
     [{"src/base/a.c": c_file("a.c", "struct key {\n\tint a;\n};\n"),
       "src/read/b.c": c_file("b.c", "struct key;\nstatic struct key *f(void)\n{\n}\n")}]),
    ("room-prefix", [{"src/base/a.c": c_file("a.c", "int ss_key_add(void)\n{\n}\n"),
                      "src/read/b.c": c_file("b.c", "int ss_key_find(void)\n{\n}\n")}],
     [{"src/base/a.c": c_file("a.c", "int ss_key_add(void)\n{\n}\n"),
       "src/base/b.c": c_file("b.c", "int ss_key_find(void)\n{\n}\n"),
       "src/read/b.c": c_file("b.c", "static int key_find(void)\n{\n}\n")}]),
    ("surface-door", [includes("src/cli/a.c", '"trace/a.h"'),
                      includes("src/sql/a.h", '"table/a.h"')],
     [includes("src/cli/a.c", '"api/a.h"'), includes("src/cli/b.c", '"sql/a.h"'),
      includes("src/api/a.c", '"trace/a.h"'), includes("src/sql/a.c", '"base/text.h"')]),
)  # fmt: skip


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, tree):
        root = Path(tempfile.mkdtemp(dir=self.root))
        for path, text in tree.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        return root

    def fired(self, tree, library=None):
        return tidy.check(tidy.read_tree(self.write(tree)), library)


class Rules(Tree):
    def test_each_rule_fires_on_bad_and_is_silent_on_good(self):
        for rule, bad_trees, good_trees in CASES:
            for bad in bad_trees:
                with self.subTest(rule=rule, bad=bad):
                    self.assertIn(rule, [problem[2] for problem in self.fired(bad)])
            for good in good_trees:
                with self.subTest(rule=rule, good=good):
                    fired = [problem for problem in self.fired(good) if problem[2] == rule]
                    self.assertEqual(fired, [])

    def test_each_rule_has_a_case(self):
        named = {row[0] for row in tidy.FILE_RULES + tidy.TREE_RULES}
        self.assertEqual(named, {case[0] for case in CASES} | {"exported-symbol"})

    def test_the_line_is_that_of_the_problem(self):
        tree = base("static int f(void)\n{\n\treturn 1;\n}\n\nstatic int a;\n")
        self.assertEqual([problem[1] for problem in self.fired(tree)], [10])

    def test_what_is_built_or_foreign_is_not_read(self):
        tree = {path + "/src/a.py": "x \n" for path in ("build", "build-gcc", "ui/node_modules")}
        self.assertEqual(tidy.read_tree(self.write(tree)), [])


class Exceptions(Tree):
    LIST = "tools/tidy_exceptions.txt"

    def left(self, listed):
        files = tidy.read_tree(self.write(three("static int add(void)\n{\n}\n")))
        exceptions = tidy.tidy_names.read_exceptions(listed)
        problems = tidy.tidy_names.without_exceptions(tidy.check(files), exceptions, self.LIST)
        return [problem[2] for problem in problems]

    def test_what_is_listed_is_allowed(self):
        self.assertEqual(self.left("shared-function 'add' 3\n"), [])

    def test_what_is_beyond_the_list_is_a_problem(self):
        self.assertEqual(self.left("shared-function 'add' 2\n"), ["shared-function"])
        self.assertEqual(self.left(""), ["shared-function"])

    def test_a_list_that_is_too_long_is_a_problem(self):
        self.assertEqual(self.left("shared-function 'add' 4\n"), ["exception"])
        both = "shared-function 'add' 3\nshared-tag 'key' 2\n"
        self.assertEqual(self.left(both), ["exception"])


class Symbols(Tree):
    HEADER = header("stepscope.h", "STEPSCOPE_H",
                    "/* Since 0.1. Stable. */\nSS_API int ss_a(void);\nint ss_hidden(void);\n")

    def library(self, code):
        path = self.root / "lib.so"
        command = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", path]
        subprocess.run(command, input=code, text=True, check=True)
        return path

    def sentences(self, code):
        fired = self.fired({"include/stepscope.h": self.HEADER}, self.library(code))
        return [problem[3] for problem in fired]

    def test_equal_sets_are_silent(self):
        self.assertEqual(self.sentences("int ss_a(void) { return 1; }"), [])

    def test_a_symbol_too_many_and_one_too_few(self):
        sentences = self.sentences("int ss_b(void) { return 1; }")
        self.assertEqual(len(sentences), 2)
        self.assertIn("exports 'ss_b'", " ".join(sentences))
        self.assertIn("'ss_a' is not exported", " ".join(sentences))

    def test_a_missing_library_is_a_problem(self):
        fired = self.fired({"include/stepscope.h": self.HEADER}, str(self.root / "none.so"))
        self.assertEqual([problem[2] for problem in fired], ["exported-symbol"])


class Scanner(unittest.TestCase):
    def items(self, text):
        return [(item.kind, item.name) for item in Source(text).items]

    def test_braces_in_literals_and_comments_do_not_count(self):
        text = "int f(void)\n{\n\tg('{', \"}\\\"{\"); /* } */ // }\n}\nint h(void);\n"
        self.assertEqual(self.items(text), [("function", "f"), ("prototype", "h")])

    def test_an_else_that_opens_the_brace_again_is_dropped(self):
        text = "#ifdef A\nint f(void)\n{\n#else\nint g(void)\n{\n#endif\n}\nint h(void);\n"
        self.assertEqual(self.items(text), [("function", "f"), ("prototype", "h")])

    def test_extern_c_is_not_a_block(self):
        text = '#ifdef CPP\nextern "C" {\n#endif\nint f(void);\n#ifdef CPP\n}\n#endif\n'
        self.assertEqual(self.items(text), [("prototype", "f")])

    def test_attributes_and_capitals_are_not_the_name(self):
        text = "SS_PRINTF(1, 2) __attribute__((cold)) void f(int (*a)(int)) SS_USE(1);\n"
        self.assertEqual(self.items(text), [("prototype", "f")])
        self.assertEqual(self.items("TEST(a)\n{\n}\n"), [("function", "TEST")])

    def test_macro_bodies_are_no_items(self):
        text = "#define A(x) \\\n\tint x(void) \\\n\t{ \\\n\t}\nstatic const int b[] = { 1, 2 };\n"
        self.assertEqual(self.items(text), [("object", "")])

    def test_a_type_with_a_body_is_one_item(self):
        text = "struct a {\n\tint (*f)(int);\n\tstruct { int b; } c;\n};\nunion u;\n"
        self.assertEqual(self.items(text), [("type", ""), ("type", "")])


class Command(Tree):
    def run_tidy(self, tree):
        command = [sys.executable, TIDY, self.write(tree)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_clean(self):
        result = self.run_tidy(base(""))
        self.assertEqual((result.returncode, result.stdout), (0, "tidy: 1 files, 0 problems\n"))

    def test_problems_are_printed_with_path_line_rule_and_sentence(self):
        result = self.run_tidy(base("static int a; \n"))
        self.assertEqual(result.returncode, 1)
        wanted = "src/base/a.c:5: trailing-space: white space at the end of the line\n"
        self.assertIn(wanted, result.stdout)


if __name__ == "__main__":
    unittest.main()
