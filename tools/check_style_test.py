#!/usr/bin/env python3
"""Small good and bad samples for every rule of check_style.py."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
from style.rules import File, check  # noqa: E402

SCRIPT = Path(__file__).parent / "check_style.py"


def complaints(text, path="src/base/sample.cpp"):
    return [f"{found.line}: {found.text}" for found in check(path, text)[0]]


def function_named(name, text):
    return next(f for f in File("src/base/sample.cpp", text).source.functions if f.name == name)


def lines(count, line="  step();"):
    return "\n".join([line] * count)


class Sizes(unittest.TestCase):
    def test_a_function_counts_from_its_head_to_its_closing_brace(self):
        good = f"void walk() {{\n{lines(58)}\n}}\n"
        bad = f"\nvoid walk() {{\n{lines(59)}\n}}\n"
        self.assertEqual(complaints(good), [])
        self.assertEqual(complaints(bad), ["2: function 'walk' is long (found 61 lines, cap 60)"])

    def test_methods_constructors_and_tests_are_functions(self):
        body = f"{{\n{lines(60)}\n}}"
        self.assertIn("'Rope' is long", complaints(f"Rope::Rope(int a) : a_(a), b_{{a}} {body}")[0])
        self.assertIn("'operator()' is long",
                      complaints(f"struct Rope {{ void operator()(int a) const {body} }};")[0])
        self.assertIn("'Rope.is_long' is long",
                      complaints(f"TEST(Rope, is_long) {body}", "tests/base/rope_test.cpp")[0])

    def test_lambdas_count_within_their_function(self):
        text = f"void walk() {{\n  auto f = [](int a) {{\n{lines(60)}\n  }};\n}}\n"
        self.assertEqual(complaints(text), ["1: function 'walk' is long (found 64 lines, cap 60)"])

    def test_a_table_counts_like_a_function_unless_it_is_constexpr(self):
        text = f"std::array<int, 70> table{{{{\n{lines(70, '  1,')}\n}}}};\n"
        self.assertEqual(complaints("const " + text),
                         ["1: table 'table' is long (found 72 lines, cap 60)"])
        self.assertEqual(complaints("constexpr " + text), [])

    def test_a_pointer_to_a_function_is_a_member(self):
        self.assertEqual(complaints("struct A { B (*read)(int a, int b); int b = 0; };"), [])

    def test_a_namespace_and_a_class_are_not_functions(self):
        members = "\n".join(f"  int a{i} = 0;" for i in range(80))
        self.assertEqual(complaints(f"namespace a::b {{\nstruct Rope {{\n{members}\n}};\n}}"), [])

    def test_files_and_headers_have_their_own_caps(self):
        self.assertEqual(complaints("int f();\n" * 400), [])
        self.assertIn("cap 400", complaints("int f();\n" * 401)[0])
        self.assertIn("cap 200", complaints("#pragma once\n" + "int f();\n" * 200,
                                            "src/base/sample.h")[0])

    def test_a_line_has_at_most_100_columns(self):
        self.assertEqual(complaints("// " + "a" * 97), [])
        self.assertEqual(complaints("\n// " + "é" * 98),
                         ["2: line is wide (found 101 columns, cap 100)"])

    def test_parameters_are_counted_in_declarations_definitions_and_lambdas(self):
        self.assertEqual(complaints("int f(int a, std::map<int, int> b, int c, int d);"), [])
        five = "(int a, int b, int c, int d, int e)"
        for text in (f"int f{five};", f"int f{five} {{ return 1; }}", f"struct A {{ A{five}; }};",
                     f"void g() {{ h([]{five} {{ return a; }}); }}"):
            self.assertIn("found 5, cap 4", complaints(text)[0], text)

    def test_commas_inside_types_and_defaults_separate_no_parameters(self):
        text = "int f(std::function<void(int, int)> a = {}, Pair<A<int, int>, int> b = {1, 2});"
        self.assertEqual(function_named("f", text).parameters, 2)
        self.assertEqual(function_named("f", "int f(void);").parameters, 0)

    def test_an_interface_has_at_most_six_virtual_functions_besides_its_destructor(self):
        def interface(count):
            functions = "\n".join(f"virtual int f{i}(int a) = 0;" for i in range(count))
            return f"class Door {{ public: virtual ~Door() = default; {functions} }};"
        self.assertEqual(complaints(interface(6)), [])
        self.assertEqual(complaints(interface(7)),
                         ["1: 'Door' has many virtual functions (found 7, cap 6)"])

    def test_a_class_has_at_most_twenty_public_functions(self):
        def functions(count):
            return "\n".join(f"int f{i}(int a) const;" for i in range(count))
        self.assertEqual(complaints(f"class Door {{ public: {functions(20)} }};"), [])
        for text in (f"class Door {{ public: {functions(21)} }};",
                     f"struct Door {{ {functions(21)} }};",
                     f"class Door {{ void a(); public: int g() {{}} {functions(20)} }};"):
            self.assertEqual(complaints(text),
                             ["1: 'Door' has many public functions (found 21, cap 20)"])

    def test_some_functions_do_not_count_as_public(self):
        twenty = "\n".join(f"int f{i}();" for i in range(20))
        for more in ("Door(); explicit Door(int a); ~Door();", "bool operator==(Door other) const;",
                     "void operator()(int a); void operator()(char a);",
                     "int f0(int a); int f1(char b);", "bool a() = delete;",
                     "friend int open(Door& door);", "struct Key { int turn(); };",
                     "private: int a(); int b();", "protected: int a();", "int a = 0;"):
            self.assertEqual(complaints(f"class Door {{ public: {twenty}\n{more} }};"), [], more)


class Nesting(unittest.TestCase):
    def nesting(self, body):
        return function_named("f", f"void f() {{ {body} }}").nesting

    def test_blocks_and_single_statements_nest_alike(self):
        self.assertEqual(self.nesting("for (;;) { if (a) { g(); } }"), 2)
        self.assertEqual(self.nesting("for (;;) if (a) g(); else h();"), 2)
        self.assertEqual(self.nesting("do { while (a) g(); } while (b); if (c) g();"), 2)

    def test_else_if_is_no_deeper(self):
        self.assertEqual(self.nesting("if (a) g(); else if (b) g(); else if (c) g(); else g();"), 1)

    def test_switch_try_and_lambdas_are_looked_into(self):
        self.assertEqual(self.nesting("switch (a) { case B::c: if (d) g(); break; default: g(); }"), 2)
        self.assertEqual(self.nesting("try { for (;;) g(); } catch (const E& e) { h(); }"), 2)
        self.assertEqual(self.nesting("if (a) sort(b, [&](auto c) { if (c) return 1; return 2; });"), 2)

    def test_initialisers_subscripts_and_bindings_do_not_nest(self):
        self.assertEqual(self.nesting("A a{{1, 2}, b[3]}; for (auto& [c, d] : a) g(c[d], {d});"), 1)

    def test_more_than_three_levels_are_a_violation(self):
        text = "void f() {\n for (;;)\n  for (;;)\n   for (;;)\n    if (a) g();\n}"
        self.assertEqual(complaints(text), ["5: 'f' nests deeply (found 4, cap 3)"])


class Includes(unittest.TestCase):
    def test_a_room_uses_only_what_its_line_allows(self):
        self.assertEqual(complaints('#include "base/error.h"\n', "src/network/cost.cpp"), [])
        self.assertEqual(complaints('#include "board/board.h"\n', "src/network/cost.cpp"),
                         ["1: the room network may not use board"])
        self.assertEqual(complaints('#include "engine/engine.h"\n', "src/engine/onednn/a.cpp"), [])
        self.assertEqual(complaints('#include "cli/table.h"\n', "src/millrace.cpp"),
                         ["1: the room millrace may not use cli"])

    def test_rooms_inside_of_a_room_have_an_order(self):
        loops, passes = '#include "network/evaluate/a.h"\n', '#include "network/simplify/a.h"\n'
        self.assertEqual(complaints(loops, "src/network/simplify/b.cpp"), [])
        self.assertEqual(complaints('#include "network/network.h"\n', "src/network/evaluate/b.cpp"), [])
        self.assertEqual(complaints(passes, "src/network/evaluate/b.cpp"),
                         ["1: the room network/evaluate may not use network/simplify"])
        self.assertEqual(complaints(loops, "src/network/operators/b.cpp"),
                         ["1: the room network may not use network/evaluate"])
        self.assertEqual(complaints('#include "formats/read.h"\n', "src/network/b.cpp"),
                         ["1: the room network may not use formats"])

    def test_the_command_leaves_the_work_to_api(self):
        path = "src/cli/verbs/bench.cpp"
        self.assertEqual(complaints('#include "product/bench/bench.h"\n', path), [])
        for room in ("engine", "profile", "explore", "runtime"):
            self.assertEqual(complaints(f'#include "{room}/a.h"\n', path),
                             [f"1: the room cli may not use {room}"])

    def test_tests_are_free_and_unknown_rooms_are_not(self):
        self.assertEqual(complaints('#include "plan/plan.h"\n', "tests/base/a_test.cpp"), [])
        self.assertIn("no room", complaints('#include "base/error.h"\n', "src/kitchen/a.cpp")[0])
        self.assertIn("does not begin at a room", complaints('#include "a.h"\n', "src/base/b.cpp")[0])

    def test_the_own_header_comes_first(self):
        good = '#include "base/sample.h"\n\n#include <vector>\n'
        bad = '#include <vector>\n\n#include "base/sample.h"\n'
        self.assertEqual(complaints(good), [])
        self.assertEqual(complaints(bad), ["3: own header is not the first include (found place 2)"])

    def test_a_header_begins_with_pragma_once(self):
        self.assertEqual(complaints("#pragma once\nint f();\n", "src/base/a.h"), [])
        self.assertIn("#pragma once", complaints("int f();\n", "src/base/a.h")[0])


class Words(unittest.TestCase):
    def test_objects_of_another_linkage_are_read(self):
        self.assertEqual(complaints('extern "C" const Task blur_task{.run = blur, .inputs = {}};'), [])
        self.assertIn("snake_case", complaints('extern "C" const Task t{.run = f};\nvoid Wrong() {}')[0])

    def test_namespaces_are_not_opened_wholesale(self):
        self.assertEqual(complaints("using namespace std::chrono_literals;"), [])
        self.assertEqual(complaints("using namespace std;"), ["1: 'using namespace std'"])
        self.assertIn("in a header", complaints("#pragma once\nusing namespace a::b;", "src/base/a.h")[0])

    def test_sleeps_threads_and_macros_are_found_but_not_in_comments_or_text(self):
        self.assertIn("sleep_for", complaints("void f() { std::this_thread::sleep_for(a); }")[0])
        self.assertIn("only runtime", complaints("void f() { std::thread t(g); }")[0])
        self.assertEqual(complaints("void f() { std::thread t(g); }", "src/runtime/a.cpp"), [])
        self.assertEqual(complaints("int n = std::thread::hardware_concurrency();"), [])
        self.assertIn("macro", complaints("#define A 1\n")[0])
        self.assertEqual(complaints('// usleep\nauto t = "usleep" R"(usleep)";\n'), [])

    def test_commented_out_code_is_told_from_prose(self):
        for bad in ("// return 1;", "// int a = 3;", "// f(a, b);", "/* g.h(1); */", "// }",
                    "// if (a) {", "// #include <map>"):
            self.assertIn("commented-out", "".join(complaints(bad)), bad)
        for good in ("// returns nothing; the caller waits", "/// a = b + c (equation 3.1).",
                     "// The sum over all f(x); see section 3.", "// if (and only if) it is live"):
            self.assertEqual(complaints(good), [], good)

    def test_names(self):
        self.assertIn("PascalCase", complaints("struct my_type {};")[0])
        self.assertIn("PascalCase", complaints("enum class kind { a };")[0])
        self.assertIn("snake_case", complaints("void doIt();")[0])
        self.assertEqual([], complaints("template <class T>\nRope<T>::Rope(int a) : a_(a) {}"))
        self.assertEqual(complaints("struct A : B { void doIt() override { it(); } };"), [])
        self.assertIn("end in _", complaints("class A { int a; int b_; };")[0])
        self.assertIn("file name", complaints("", "src/base/MyFile.cpp")[0])
        self.assertEqual(complaints(
            "template <> struct std::hash<A> { int operator()(A a) const { return 1; } };\n"
            "class Rope { public: explicit Rope(int a); ~Rope(); private: struct State;\n"
            "  static constexpr int cap = 3; std::vector<int> knots_{1, 2}; int a_[3] = {}; };\n"
            "Rope::Rope(int a) : knots_(a) {}\nRope::~Rope() = default;\n"), [])


class Settings(unittest.TestCase):
    def test_an_option_is_named_by_the_command_alone(self):
        text = 'auto a = "give --max-latency 20ms";  // or --max-batch\nauto b = "a--b ---x";\n'
        found = "1: '--max-latency': below cli a text names the setting ⟨max_latency⟩"
        self.assertEqual(complaints(text), [found])
        self.assertEqual(complaints(text, "src/present/text/sample.cpp"), [found])
        self.assertEqual(complaints(text, "src/cli/sample.cpp"), [])
        self.assertEqual(complaints(text, "src/engine/plugin/check/main.cpp"), [])


class Robustness(unittest.TestCase):
    def test_only_the_first_branch_of_a_conditional_is_read(self):
        text = "void f() {\n#ifdef A\n  if (a) {\n#else\n  if (b) {\n#endif\n    g();\n  }\n}\n"
        self.assertEqual(complaints(text), [])

    def test_templates_requirements_and_raw_strings_are_read(self):
        text = ('template <class T> requires std::is_same_v<T, int> && (sizeof(T) > 1)\n'
                'auto f(T a) -> std::map<int, std::vector<T>> { return a < 1 ? g<T>(a) : h(R"(}{)"); }\n'
                'template <class T> concept Number = requires(T a) { a + a; };\n')
        self.assertEqual(complaints(text), [])
        self.assertEqual(function_named("f", text).parameters, 1)

    def test_what_cannot_be_read_is_a_violation(self):
        self.assertIn("cannot be matched", complaints("void f() { ( }")[0])


class Command(unittest.TestCase):
    def run_in(self, files):
        with tempfile.TemporaryDirectory() as root:
            for name, text in files.items():
                path = Path(root) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return subprocess.run([sys.executable, SCRIPT, "--root", root, "--report"],
                                  capture_output=True, text=True, check=False)

    def test_ends_with_0_for_good_files_and_1_for_bad_or_none(self):
        good = self.run_in({"src/base/a.cpp": "int f() { return 1; }\n"})
        self.assertEqual(good.returncode, 0)
        self.assertIn("lines of functions: 1", good.stdout)
        bad = self.run_in({"src/base/a.h": "int f();\n", "src/a.txt": "", "lib/b.h": ""})
        self.assertEqual(bad.returncode, 1)
        self.assertIn("src/base/a.h:1: header does not begin with #pragma once\n", bad.stdout)
        self.assertEqual(self.run_in({}).returncode, 1)

    def test_a_setting_is_an_option_of_the_table(self):
        table = {"src/cli/options.table": "[search]\nmax-latency | plan | ms | Largest time\n"}
        good = {"src/base/a.cpp": 'auto a = "give ⟨max_latency⟩";  // or ⟨none⟩\n'}
        self.assertEqual(self.run_in(good | table).returncode, 0)
        bad = self.run_in({"src/base/a.cpp": '\nauto a = "give ⟨latency⟩";\n'} | table)
        self.assertEqual(bad.returncode, 1)
        self.assertIn("src/base/a.cpp:2: no option is called ⟨latency⟩\n", bad.stdout)

    def test_a_folder_has_at_most_25_files_and_a_header_with_its_source_is_one(self):
        source = "int f() { return 1; }\n"
        files = {f"src/base/a{i}.cpp": source for i in range(25)}
        files |= {"src/base/a0.h": "#pragma once\n", "src/base/inner/b.cpp": source}
        self.assertEqual(self.run_in(files).returncode, 0)
        more = self.run_in(files | {"src/base/b.cpp": source})
        self.assertEqual(more.returncode, 1)
        self.assertIn("src/base:1: folder is large (found 26 files, cap 25", more.stdout)


if __name__ == "__main__":
    unittest.main()
