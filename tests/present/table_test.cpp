#include "present/text/table.h"

#include <gtest/gtest.h>

namespace millrace::present {
namespace {

TEST(Table, columns_are_as_wide_as_their_widest_cell) {
  Table table({{"name", Align::left}, {"ms"}});
  table.add({"a", "1.5"});
  table.add_rule();
  table.add({"Überlänge", "12"});
  EXPECT_EQ(table.text(),
            "name        ms\n"
            "---------  ---\n"
            "a          1.5\n"
            "---------  ---\n"
            "Überlänge   12\n");
}

TEST(Table, missing_cells_are_empty) {
  Table table({{"a", Align::left}, {"b"}});
  table.add({"x"});
  EXPECT_EQ(table.text(), "a  b\n-  -\nx\n");
}

TEST(Table, cells_move_no_cursor_and_end) {
  Table table({{"a", Align::left}});
  table.add({"x\033[2J\ny"});
  EXPECT_EQ(table.text(), "a\n-------------\nx\\x1b[2J\\x0ay\n");
  Table wide({{"a", Align::left}});
  wide.add({std::string(100'000, 'x')});
  EXPECT_LT(wide.text().size(), 1000u);
}

TEST(Counts, are_written_with_the_fitting_unit) {
  EXPECT_EQ(count_text(1'819'066'368), "1.82 G");
  EXPECT_EQ(count_text(568'000'000), "568 M");
  EXPECT_EQ(count_text(12), "12");
}

}  // namespace
}  // namespace millrace::present
