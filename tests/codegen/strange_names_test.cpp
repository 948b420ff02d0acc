// Names with a meaning in the languages that are written here stay names: compiled, run or parsed
// by programs of others.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/json_text.h"
#include "base/printable.h"
#include "base/shell_word.h"
#include "base/text/escape.h"
#include "codegen/program.h"
#include "dataflow/analysis.h"
#include "dataflow/sdf3.h"
#include "present/svg/gantt.h"
#include "support/sample_deployment.h"
#include "support/strange_names.h"
#include "support/temporary_folder.h"

namespace millrace {
namespace {

const std::string compiler = MILLRACE_COMPILER, cmake = MILLRACE_CMAKE;

/// What the command prints; all of it must succeed.
std::string output_of(const std::string& command) {
  std::string text;
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  std::array<char, 65536> piece{};
  for (std::size_t read = 1; read > 0;) {
    read = std::fread(piece.data(), 1, piece.size(), pipe);
    text.append(piece.data(), read);
  }
  EXPECT_EQ(::pclose(pipe), 0) << command;
  return text;
}

/// Each with its end.
std::string joined_names() {
  std::string text;
  for (const std::string& name : test::strange_names()) text.append(name).push_back('\0');
  return text;
}

bool is_plain_text(std::string_view text) { return printable_lines(text) == text; }

TEST(StrangeNames, are_texts_and_comments_in_cpp) {
  const test::TemporaryFolder folder;
  std::string program = "#include <cstdio>\n";
  for (const std::string& name : test::strange_names())
    program += "// " + cpp_comment(name) + "\n/* " + cpp_comment(name) + " */\n";
  program +=
      "template <unsigned long size> void put(const char (&text)[size]) "
      "{ std::fwrite(text, 1, size, stdout); }\nint main() {\n";
  for (const std::string& name : test::strange_names())
    program += "  put(" + cpp_string(name) + ");\n";
  EXPECT_TRUE(is_plain_text(program));
  write_file(folder / "a.cpp", program + "}\n");
  const std::string path = (folder / "a").string();
  // With trigraphs, as C++14 has them.
  output_of(compiler + " -std=c++14 -Werror -Wcomment -o " + path + " " + path + ".cpp");
  EXPECT_EQ(output_of(path), joined_names());
}

/// Without comments, as the compiler sees it.
std::string code_of(const std::string& program) {
  const test::TemporaryFolder folder;
  write_file(folder / "a.cpp", program);
  return output_of(compiler + " -std=c++14 -fpreprocessed -E -P " + (folder / "a.cpp").string());
}

std::string deployment_program(const std::string& name) {
  const network::Network network = test::sample_network();
  deployment::Deployment deployment = test::sample_deployment(network);
  deployment.system.name = name;
  deployment.system.groups.front().name = name;
  for (deployment::Task& task : deployment.assignments.front().tasks)
    task.name = task.processor = name;
  const auto files = codegen::program_of(
      codegen::DeploymentProgram{"program", "d.json", deployment, {"a.cpp"}, {}, {}});
  return files.front().text;
}

std::string plan_program(const std::string& name) {
  network::Network network = test::sample_network();
  plan::Plan plan = test::sample_plan(test::sample_board(), network).plan;
  network.name = name;
  for (network::Layer& layer : network.layers) layer.name = name;
  for (plan::Stage& stage : plan.stages) stage.name = stage.processors.front().name = name;
  return codegen::program_of(codegen::PlanProgram{"program", "p.json", plan, network}).front().text;
}

TEST(StrangeNames, are_no_code_of_written_programs) {
  const std::string deployment = code_of(deployment_program("plain"));
  const std::string plan = code_of(plan_program("plain"));
  ASSERT_NE(deployment.find("int main"), std::string::npos);
  std::string all;
  for (const std::string& name : test::strange_names()) all += name + " ";
  using namespace std::string_literals;
  for (const std::string& name : {all, "a\\"s, "a?\?/"s, "@GROUPS@"s}) {
    EXPECT_EQ(code_of(deployment_program(name)), deployment) << printable(name);
    EXPECT_EQ(code_of(plan_program(name)), plan) << printable(name);
  }
}

TEST(StrangeNames, are_items_of_lists_in_cmake) {
  const test::TemporaryFolder folder;
  std::string script =
                  "cmake_minimum_required(VERSION 3.22)\nproject(p LANGUAGES NONE)\n"
                  "add_library(x INTERFACE)\n",
              expected;
  for (const std::string& name : test::strange_names()) {
    // Commands take no such lists: they drop or cut them.
    if (name.empty() || name.find_first_of("[]\r") != std::string::npos || name.ends_with('\\') ||
        name.ends_with(';'))
      continue;
    script += "target_compile_definitions(x INTERFACE " + cmake_item("N" + name) + ")\n";
    expected += "N" + name + "\n--\n";
  }
  script +=
      "file(GENERATE OUTPUT names CONTENT "
      "\"$<JOIN:$<TARGET_PROPERTY:x,INTERFACE_COMPILE_DEFINITIONS>,\n--\n>\n--\n\")\n";
  write_file(folder / "CMakeLists.txt", script);
  output_of(cmake + " -S " + folder.path().string() + " -B " + folder.path().string() + "/b 2>&1");
  EXPECT_EQ(read_file(folder / "b/names"), expected);
}

TEST(StrangeNames, are_words_of_a_shell) {
  const test::TemporaryFolder folder;
  std::string script = "printf '%s\\0'";
  for (const std::string& name : test::strange_names()) script += " " + shell_string(name);
  write_file(folder / "a", script);
  EXPECT_EQ(output_of("bash " + (folder / "a").string()), joined_names());
  script = "printf '%s\\0'";
  std::string expected;
  for (const std::string& name : test::strange_names()) {
    script += " " + shell_word(name);
    expected.append(name.starts_with('-') ? "./" + name : name).push_back('\0');
  }
  EXPECT_TRUE(is_plain_text(script));
  write_file(folder / "b", script);
  EXPECT_EQ(output_of("bash " + (folder / "b").string()), expected);
}

/// Actors and channels with these names.
dataflow::Graph strange_graph() {
  dataflow::Graph graph;
  graph.name = "strange\x1b[2J\"";
  const auto names = test::strange_names();
  for (const std::string& name : names) graph.add_actor({name, {Time(3)}});
  for (std::size_t i = 1; i < names.size(); ++i)
    graph.add_channel({names[i], dataflow::ActorId(i - 1), dataflow::ActorId(i), {1}, {1}, 1});
  return graph;
}

/// The texts between quotes of dot, as its grammar has them, with "\n" for a line's end.
std::vector<std::string> texts_in_dot(std::string_view dot) {
  std::vector<std::string> texts;
  while (true) {
    dot.remove_prefix(std::min(dot.find('"'), dot.size()));
    if (dot.empty()) return texts;
    std::string& text = texts.emplace_back();
    for (dot.remove_prefix(1); !dot.empty() && dot.front() != '"'; dot.remove_prefix(1)) {
      if (dot.front() == '\\') {
        dot.remove_prefix(1);
        text += dot.front() == 'n' ? '\n' : dot.front();
      } else {
        text += dot.front();
      }
    }
    dot.remove_prefix(1);
  }
}

std::string without_entities(std::string text) {
  for (std::size_t at = text.find('&'); at != std::string::npos; at = text.find('&', at + 1)) {
    EXPECT_EQ(text.substr(at, 5), "&amp;");
    text.erase(at + 1, 4);
  }
  return text;
}

TEST(StrangeNames, are_texts_in_dot) {
  const std::string dot = to_dot(strange_graph());
  EXPECT_TRUE(is_plain_text(dot));
  const auto texts = texts_in_dot(dot);
  const auto names = test::strange_names();
  ASSERT_EQ(texts.size(), 1 + names.size() + 3 * (names.size() - 1));
  for (std::size_t i = 0; i < names.size(); ++i)
    EXPECT_EQ(without_entities(texts[1 + i]), printable_lines(names[i]) + "\n[3.00 ns]");
  if (std::system("command -v dot > /dev/null") != 0) GTEST_SKIP() << "no dot; only parsed here";
  const test::TemporaryFolder folder;
  write_file(folder / "a.dot", dot);
  output_of("dot -Tcanon -o /dev/null " + (folder / "a.dot").string());
}

/// Whether any XML file may hold it.
bool is_xml_text(const std::string& name) {
  for (std::string_view rest = name; !rest.empty();) {
    const auto [length, c] = first_character(rest);
    const bool is_control_character = c < 0x20 && c != '\t' && c != '\n' && c != '\r';
    if (length == 0 || is_control_character || c == 0xfffe) return false;
    rest.remove_prefix(length);
  }
  return true;
}

TEST(StrangeNames, are_names_in_sdf3) {
  const dataflow::Graph graph = strange_graph();
  const std::string text = to_sdf3(graph);
  EXPECT_TRUE(is_plain_text(text));
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(text.c_str()));
  std::size_t i = 0;
  for (const auto& actor :
       document.child("sdf3").child("applicationGraph").child("sdf").children("actor")) {
    const std::string& name = graph.actors[i++].name;
    if (is_xml_text(name)) {
      EXPECT_EQ(actor.attribute("name").value(), name);
    }
  }
  EXPECT_EQ(i, graph.actors.size());
}

TEST(StrangeNames, are_texts_in_pictures) {
  const auto names = test::strange_names();
  Trace trace;
  trace.plans = names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    trace.stages.push_back({i, names[i], names[i]});
    trace.firings.push_back({i, 0, 0, 1, Time(1000 * i), Time(1000 * i + 900)});
    trace.frames.push_back({i, 0, Time(0), Time(1000 * i), Time(1000 * i + 900)});
  }
  const std::string svg = present::gantt_svg(trace, {.title = "</title><script>\x1b"});
  EXPECT_TRUE(is_plain_text(svg));
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(svg.c_str()));
  EXPECT_TRUE(document.select_nodes("//script").empty());
  std::vector<std::string> texts;
  for (const auto& node : document.select_nodes("//*[local-name() = 'text']"))
    texts.emplace_back(node.node().child_value());
  for (const std::string& name : names)
    if (!name.empty() && is_xml_text(name) && name.find_first_of(" \t\r\n") == name.npos) {
      EXPECT_NE(std::ranges::find(texts, printable(name)), texts.end()) << printable(name);
    }
}

TEST(StrangeNames, are_texts_in_json) {
  nlohmann::json names = nlohmann::json::array();
  for (const std::string& name : test::strange_names()) names.push_back({{name, name}});
  const std::string text = json_text(names, 1);
  EXPECT_TRUE(is_plain_text(text));
  const auto read = nlohmann::json::parse(text);
  std::size_t i = 0;
  for (const std::string& name : test::strange_names()) {
    if (is_xml_text(name)) {
      EXPECT_EQ(read[i].at(name), name);
    }
    ++i;
  }
}

TEST(StrangeNames, are_texts_in_markdown_and_manual_pages) {
  for (const std::string& name : test::strange_names()) {
    const std::string markdown = markdown_text(name), page = troff_text("\n" + name);
    std::string plain;
    for (std::size_t i = 0; i < markdown.size(); ++i) {
      const bool is_escaped = markdown[i] == '\\';
      if (is_escaped) ++i;
      EXPECT_EQ(is_escaped, std::ispunct(static_cast<unsigned char>(markdown[i])) != 0) << markdown;
      plain += markdown[i];
    }
    EXPECT_EQ(plain, printable(name));
    EXPECT_EQ(page.find("\n."), std::string::npos);
    EXPECT_EQ(page.find("\n'"), std::string::npos);
  }
}

}  // namespace
}  // namespace millrace
