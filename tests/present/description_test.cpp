#include "present/description.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::present {
namespace {

struct Part {
  std::string name;
  Time time{};
  double share = 0;
};

Description<Part> part_fields() {
  return Description<Part>({
      {"name", "part", [](const Part& part) { return Value::word(part.name); }, Align::left},
      {"time_ms", "time", [](const Part& part) { return Value::time(part.time); }},
      {"share", nullptr, [](const Part& part) { return Value::share(part.share); }},
      {"", "of all", [](const Part& part) { return Value::share(part.share); }},
      {"bound", "bound", [](const Part&) { return Value::none(); }},
  });
}

const std::vector<Part> parts{{"a", std::chrono::milliseconds(3), 0.75},
                              {"bc", std::chrono::microseconds(1500), 0.25}};

TEST(Description, gives_people_a_table_of_what_has_a_title) {
  EXPECT_EQ(part_fields().table(parts).text(),
            "part     time  of all  bound\n"
            "----  -------  ------  -----\n"
            "a     3.00 ms  75.0 %      -\n"
            "bc    1.50 ms  25.0 %      -\n");
}

TEST(Description, gives_programs_an_array_of_what_has_a_key) {
  const auto json = part_fields().array(parts);
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0].dump(), R"({"bound":null,"name":"a","share":0.75,"time_ms":3.0})");
  EXPECT_EQ(json[1]["time_ms"], 1.5);
}

TEST(Description, of_no_rows_is_an_empty_array_and_a_head) {
  EXPECT_EQ(part_fields().array(std::vector<Part>{}).dump(), "[]");
  EXPECT_EQ(part_fields().table(std::vector<Part>{}).text().substr(0, 4), "part");
}

TEST(Description, counts_rows_by_their_place_in_a_list) {
  std::string names;
  for (const std::size_t i : numbers_of(parts)) names += parts[i].name;
  EXPECT_EQ(names, "abc");
}

Description<Part> typed_fields() {
  const auto if_long = [](const Part& part) {
    return part.time > std::chrono::milliseconds(2) ? Value::word("long") : Value::absent();
  };
  return Description<Part>({
      {"name", "part", &Part::name},
      {"times/all_ms", "time", &Part::time},
      {"times/share", nullptr, &Part::share},
      {"is_long", "long", [](const Part& part) { return part.time.count() > 2'000'000; }},
      {"letters", "letters", [](const Part& part) { return part.name.size(); }},
      {"remark", "", if_long, Align::left},
      {"none", nullptr, [](const Part&) { return std::optional<Time>(); }},
      {"p99.9_ms", nullptr, &Part::share},
  });
}

TEST(Description, takes_members_and_functions_by_what_they_return) {
  EXPECT_EQ(typed_fields().text(parts, {"all", std::chrono::microseconds(4500), 1}),
            "part     time  long  letters\n"
            "----  -------  ----  -------  ----\n"
            "a     3.00 ms   yes        1  long\n"
            "bc    1.50 ms    no        2\n"
            "----  -------  ----  -------  ----\n"
            "all   4.50 ms   yes        3  long\n");
}

TEST(Description, puts_what_has_a_path_inside_and_leaves_out_what_is_absent) {
  const auto json = typed_fields().array(parts);
  EXPECT_EQ(json[0].dump(),
            R"({"is_long":true,"letters":1,"name":"a","none":null,"p99.9_ms":0.75,"remark":"long",)"
            R"("times":{"all_ms":3.0,"share":0.75}})");
  EXPECT_FALSE(json[1].contains("remark"));
}

TEST(or_null, is_null_without_a_value_and_of_an_empty_text) {
  EXPECT_TRUE(or_null(std::string()).is_null());
  EXPECT_EQ(or_null(std::string("a")), "a");
  EXPECT_TRUE(or_null(std::optional<double>()).is_null());
  EXPECT_EQ(or_null(std::optional<Time>(std::chrono::microseconds(1500))), 1.5);
}

}  // namespace
}  // namespace millrace::present
