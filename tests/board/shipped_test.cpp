#include "board/shipped.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "board/board_file.h"
#include "support/message_of.h"
#include "support/schema.h"
#include "support/temporary_folder.h"

namespace millrace::board {
namespace {

const std::filesystem::path project = MILLRACE_SOURCE_DIR;

std::string file_of(const std::string& name) {
  return (project / "boards" / (name + ".yaml")).string();
}

class ShippedBoard : public testing::TestWithParam<std::string> {};

TEST_P(ShippedBoard, is_the_file_in_the_folder_boards) {
  EXPECT_EQ(find_board(GetParam()), read_board(file_of(GetParam())));
}

TEST_P(ShippedBoard, is_as_the_schema_says) {
  const auto schema = read_json(project / "schemas/board.schema.json");
  EXPECT_EQ(test::violations(test::to_json(read_yaml(file_of(GetParam()))), schema),
            std::vector<std::string>{});
}

TEST_P(ShippedBoard, is_written_and_read_back_equal) {
  const test::TemporaryFolder folder;
  const Board board = find_board(GetParam());
  write_board(folder / "b.yaml", board);
  EXPECT_EQ(read_board(folder / "b.yaml"), board);
  const auto schema = read_json(project / "schemas/board.schema.json");
  EXPECT_EQ(test::violations(test::to_json(read_yaml(folder / "b.yaml")), schema),
            std::vector<std::string>{});
}

bool holds_numbers(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::scalar) return test::to_json(node).is_number();
  return (node.kind == YamlNode::Kind::list || node.key == "peak_gops") && !node.items.empty() &&
         holds_numbers(node.items.front());
}

/// For each number below: whether the part that it is in says where it comes from. Names of cores
/// and levels of caches come with the part.
void expect_sources(const YamlNode& node, const std::string& place) {
  const std::set<std::string> free{"format", "cores", "level", "clock_mhz"};
  const YamlView view(node, place);
  for (const YamlNode& item : node.items) {
    const bool is_value = node.kind == YamlNode::Kind::map && holds_numbers(item);
    if (!is_value) expect_sources(item, place + "." + item.key);
    if (!is_value || free.contains(item.key)) continue;
    ASSERT_TRUE(view.has("source")) << place << ": " << item.key << ", line " << item.line;
    const YamlView source = view.at("source");
    EXPECT_TRUE(source.is_text() || source.has(item.key) || source.has("other"))
        << place << ": " << item.key << ", line " << item.line;
  }
}

TEST_P(ShippedBoard, says_where_each_number_comes_from) {
  expect_sources(read_yaml(file_of(GetParam())), GetParam());
}

void add_used_sources(const YamlNode& node, std::set<std::string>& used) {
  for (const YamlNode& item : node.items) {
    add_used_sources(item, used);
    if (item.key != "source") continue;
    used.insert(item.text);  // empty if there is one for each key
    for (const YamlNode& of_key : item.items) used.insert(of_key.text);
  }
}

TEST_P(ShippedBoard, uses_every_source_that_it_names) {
  std::set<std::string> used;
  add_used_sources(read_yaml(file_of(GetParam())), used);
  for (const Source& source : find_board(GetParam()).sources)
    EXPECT_TRUE(used.contains(source.name)) << source.name;
}

/// A model needs these of every processor.
TEST_P(ShippedBoard, says_how_fast_each_processor_and_its_memory_are_and_what_they_draw) {
  const Board board = find_board(GetParam());
  for (const Processor& processor : board.processors) {
    const Device* device = device_of(board, processor);
    ASSERT_NE(device, nullptr) << processor.name;
    const Peaks peaks = peaks_of(board, processor);
    EXPECT_FALSE(peaks.operations.empty()) << processor.name;
    EXPECT_GT(peaks.bytes, 0) << processor.name;
    EXPECT_FALSE(device->clocks.empty()) << processor.name;
    ASSERT_FALSE(device->power.empty()) << processor.name;
    EXPECT_EQ(device->power.back().clock, device->clocks.back()) << processor.name;
    EXPECT_GT(device->power.back().busy, Milliwatts{0}) << processor.name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShippedBoard, testing::ValuesIn(shipped_boards()),
                         [](const auto& board) {
                           std::string name = board.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(FindBoard, knows_every_file_of_the_folder) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(project / "boards"))
    files.insert(entry.path().stem().string());
  const std::vector<std::string> names = shipped_boards();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()), files);
}

TEST(FindBoard, answers_an_unknown_name_with_the_nearest) {
  const std::string message = test::message_of([] { find_board("jetson-tx3"); });
  EXPECT_NE(message.find("did you mean 'jetson-tx2'?"), std::string::npos) << message;
}

TEST(Documentation, the_example_of_a_board_file_is_one) {
  const std::string text = read_file(project / "docs/boards.md");
  const std::string opening = "```yaml\nformat: 1\n";
  const std::size_t begin = text.find(opening);
  ASSERT_NE(begin, std::string::npos);
  const std::size_t first = text.find('\n', begin) + 1, end = text.find("```", first);
  const std::string content = text.substr(first, end - first);
  const Board board = parse_board(content, "docs/boards.md");
  EXPECT_GE(board.processors.size(), 3u);
  const auto schema = read_json(project / "schemas/board.schema.json");
  EXPECT_EQ(test::violations(test::to_json(parse_yaml(content, "docs/boards.md")), schema),
            std::vector<std::string>{});
}

}  // namespace
}  // namespace millrace::board
