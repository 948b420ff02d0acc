#include "base/json.h"

#include <gtest/gtest.h>

#include <array>

#include "base/error.h"
#include "base/file.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace millrace {
namespace {

TEST(Json, errors_name_the_file_and_the_field) {
  const auto document = nlohmann::json::parse(R"({"stages":[{"name":"a"},{"name":7}]})");
  const JsonView root(document, "plan.json");
  EXPECT_EQ(root.at("stages").items()[0].at("name").text(), "a");
  EXPECT_EQ(test::message_of([&] { root.at("stages").items()[1].at("name").text(); }),
            "plan.json: stages[1].name: found 7, expected a string");
  EXPECT_EQ(test::message_of([&] { root.at("stagse"); }),
            "plan.json: the field 'stagse' is missing");
}

TEST(Json, an_unknown_field_is_answered_with_the_nearest_known_one) {
  const auto document = nlohmann::json::parse(R"({"capacty":2})");
  constexpr std::array<std::string_view, 2> known{"capacity", "name"};
  const std::string message = test::message_of([&] { JsonView(document, "p").only(known); });
  EXPECT_NE(message.find("did you mean 'capacity'"), std::string::npos);
}

TEST(Json, broken_text_is_reported_with_line_and_column) {
  const test::TemporaryFolder folder;
  const auto path = folder / "broken.json";
  write_file(path, "{\n \"a\": 1,\n");
  EXPECT_NE(test::message_of([&] { read_json(path); }).find("line"), std::string::npos);
}

TEST(Json, deep_nesting_is_refused_and_long_values_are_shown_in_part) {
  const test::TemporaryFolder folder;
  const auto path = folder / "deep.json";
  const auto nested = [&](std::size_t levels) {
    write_file(path, std::string(levels, '[') + std::string(levels, ']'));
    return test::message_of([&] { read_json(path); });
  };
  EXPECT_EQ(nested(64), "no error");
  EXPECT_NE(nested(65).find("deep.json: has values that are nested in more than 64 levels"),
            std::string::npos);
  EXPECT_NE(nested(100000).find("nested"), std::string::npos);
  const nlohmann::json document = std::vector<int>(1000);
  EXPECT_LT(test::message_of([&] { JsonView(document, "p").integer(); }).size(), 200u);
}

TEST(Json, a_field_twice_is_refused) {
  const test::TemporaryFolder folder;
  const auto path = folder / "twice.json";
  write_file(path, R"({"a":{"b":1},"b":[{"b":1},{"b":2}]})");
  EXPECT_EQ(read_json(path)["b"][1]["b"], 2);
  write_file(path, R"({"a":{"b":1,"b":2}})");
  EXPECT_NE(test::message_of([&] { read_json(path); }).find("has the field \"b\" twice"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace
