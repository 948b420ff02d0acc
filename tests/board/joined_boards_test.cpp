#include "board/joined/joined_boards.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "board/power.h"
#include "board/shipped.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace millrace::board {
namespace {

using test::message_of;

JoinedBoards read(const std::string& text) {
  const YamlNode file = parse_yaml(text, "boards.yaml");
  return read_joined_boards(YamlView(file, "boards.yaml"));
}

constexpr const char* pair =
    "format: 1\nname: pair\nhere: raspberry-pi-5\nboards:\n"
    "  - {name: second, board: rk3588, reach: ssh second, gb_per_s: 0.1, latency_us: 150}\n";

TEST(JoinedBoards, have_the_processors_of_all_each_board_behind_its_link) {
  const JoinedBoards boards = read(pair);
  EXPECT_EQ(boards.boards[0].reach, "ssh second");
  const Board all = joined(boards, find_board), one = find_board("raspberry-pi-5"),
              other = find_board("rk3588");
  EXPECT_EQ(all.processors.size(), one.processors.size() + other.processors.size());
  const Device* const device = device_of(all, all.processors.back());
  ASSERT_NE(device, nullptr);
  EXPECT_EQ(space_of(*device), "second");
  EXPECT_EQ(device->costs.copy_engines, 2);
  EXPECT_EQ(device->costs.transfer, 1e8);
  EXPECT_EQ(device->costs.border, std::chrono::microseconds(150));
  EXPECT_EQ(space_of(*device_of(all, all.processors.front())), "");
}

TEST(JoinedBoards, prepare_for_the_loss_of_each_and_of_all) {
  JoinedBoards boards{"boards", {}, {{"c", {}, {}}, {"a", {}, {}}, {"b", {}, {}}}};
  using Sets = std::vector<std::vector<std::string>>;
  EXPECT_EQ(losses_of(boards),
            (Sets{{"a"}, {"b"}, {"c"}, {"a", "b"}, {"a", "c"}, {"b", "c"}, {"a", "b", "c"}}));
  boards.boards.push_back({"d", {}, {}});
  EXPECT_EQ(losses_of(boards), (Sets{{"a"}, {"b"}, {"c"}, {"d"}, {"a", "b", "c", "d"}}));
  for (const char* name : {"e", "f", "g", "h", "i"}) boards.boards.push_back({name, {}, {}});
  EXPECT_EQ(losses_of(boards).size(), 1u);
}

TEST(JoinedBoards, say_what_crosses_the_link_and_what_follows_a_loss) {
  EXPECT_EQ(read(pair).boards[0].wire, Precision::f32);
  EXPECT_FALSE(read(pair).replans);
  std::string text = pair;
  text.insert(text.find("here"), "on_loss: replan\n");
  text.insert(text.find(", latency_us"), ", wire: f16");
  text.insert(text.find(", latency_us"), ", memory_mib: 384");
  const JoinedBoards boards = read(text);
  EXPECT_TRUE(boards.replans);
  EXPECT_EQ(boards.boards[0].memory.count, 384 << 20);
  EXPECT_EQ(boards.boards[0].wire, Precision::f16);
  EXPECT_EQ(joined(boards, find_board).devices.back().costs.transfer, 2e8);
  text.replace(text.find("f16"), 3, "f12");
  EXPECT_EQ(message_of([&] { read(text); }),
            "boards.yaml: line 6: boards[0].wire: found 'f12', expected f32, f16 or int8");
}

TEST(JoinedBoards, draw_what_each_of_them_draws) {
  const Board all = joined(read(pair), find_board), one = find_board("raspberry-pi-5"),
              other = find_board("rk3588");
  const auto by_board = energy_by_board(energy_per_frame(all, {}, 2));
  ASSERT_EQ(by_board.size(), 2u);
  EXPECT_EQ(by_board[0].device, board_here);
  EXPECT_EQ(by_board[1].device, "second");
  const auto sum_of = [](const Board& board) {
    double sum = 0;
    for (const DeviceEnergy& each : energy_per_frame(board, {}, 2)) sum += each.together_mj();
    return sum;
  };
  EXPECT_NEAR(by_board[0].together_mj(), sum_of(one), 1e-6);
  EXPECT_NEAR(by_board[1].together_mj(), sum_of(other), 1e-6);
  EXPECT_TRUE(energy_by_board(energy_per_frame(one, {}, 2)).empty());
}

TEST(JoinedBoards, say_what_their_links_draw) {
  millrace::test::TemporaryFolder folder;
  std::string text = pair;
  text.insert(text.find(", latency_us"), ", wire: f16, nj_per_byte: 25");
  write_file(folder / "pair.yaml", text);
  EXPECT_EQ(links_of((folder / "pair.yaml").string()),
            (std::vector<Link>{{"second", 25, Precision::f16}}));
  EXPECT_TRUE(links_of("raspberry-pi-5").empty());
  text.replace(text.find("25"), 2, "-1");
  EXPECT_NE(message_of([&] { read(text); }).find("nj_per_byte: found -1"), std::string::npos);
}

TEST(JoinedBoards, that_lack_something_are_refused) {
  const auto message = [](const std::string& text) {
    return message_of([&] { joined(read(text), find_board); });
  };
  EXPECT_NE(message("format: 1\nname: a\nboards: []\n").find("expected at least one board"),
            std::string::npos);
  EXPECT_NE(message("format: 1\nname: a\nboards:\n  - {name: b}\n").find("add 'here'"),
            std::string::npos);
  EXPECT_NE(message("format: 1\nname: a\nhere: n100\nboards:\n  - {name: b, board: n100}\n")
                .find("add 'board' and 'gb_per_s'"),
            std::string::npos);
  EXPECT_NE(message("format: 1\nname: a\nhere: n100\nboards:\n"
                    "  - {name: b, board: hailo-8, gb_per_s: 1}\n")
                .find("a memory behind a link of its own"),
            std::string::npos);
  EXPECT_NE(message("format: 1\nname: a\nhere: n100\nboards:\n  - {name: b.c}\n")
                .find("a name without dots"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace::board
