#include "network/calibration_file.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/file.h"
#include "base/json.h"
#include "support/message_of.h"
#include "support/network_builder.h"
#include "support/temporary_folder.h"

namespace millrace::network {
namespace {

CalibrationTable small_table() {
  return {{"n1", {{"image", {0, 1}}, {"conv1", {-3.25f, 0.1f}}}}, "percentile 99.99", 12};
}

class CalibrationFile : public testing::Test {
 protected:
  test::TemporaryFolder folder;
  std::filesystem::path path = folder / "small.calibration.json";

  /// What reading says after `change` was made to a good file.
  std::string message_after(const std::function<void(nlohmann::json&)>& change) const {
    write_calibration(path, small_table());
    nlohmann::json document = read_json(path);
    change(document);
    write_json(path, document);
    return test::message_of([&] { read_calibration(path); });
  }
};

TEST_F(CalibrationFile, comes_back_as_it_was_written) {
  write_calibration(path, small_table());
  EXPECT_EQ(read_calibration(path), small_table());
}

TEST_F(CalibrationFile, keeps_the_means_by_which_biases_are_corrected) {
  CalibrationTable table = small_table();
  table.calibration.means = {{"image", {0.5f, -0.25f, 0}}};
  write_calibration(path, table);
  EXPECT_EQ(read_calibration(path), table);
}

TEST_F(CalibrationFile, errors_name_the_field_and_say_what_to_do) {
  const std::vector<std::pair<std::function<void(nlohmann::json&)>, std::string>> damages{
      {[](auto& d) { d["ranges"]["image"].erase("high"); },
       "ranges.image: the field 'high' is missing"},
      {[](auto& d) { d["rangse"] = 1; }, "did you mean 'ranges'"},
      {[](auto& d) { d["ranges"]["conv1"]["low"] = 0.05; }, "ranges.conv1: the range must hold 0"},
      {[](auto& d) { d["ranges"]["conv1"]["high"] = "x"; }, "ranges.conv1.high: found \"x\""},
      {[](auto& d) { d["ranges"]["conv1"]["high"] = 1e300; }, "too large for float32"},
      {[](auto& d) {
         d["ranges"] = {1, 2};
       },
       "ranges: found array, expected an object"},
      {[](auto& d) {
         d["means"] = {{"image", {"x"}}};
       },
       "means.image"},
      {[](auto& d) { d["format"] = 2; }, "run `millrace calibrate` again"},
      {[](auto& d) { d["kind"] = "profile"; }, "kind: is not 'calibration'"}};
  for (const auto& [change, words] : damages) {
    const std::string message = message_after(change);
    EXPECT_NE(message.find(path.string()), std::string::npos) << message;
    EXPECT_NE(message.find(words), std::string::npos) << message;
  }
}

TEST_F(CalibrationFile, a_cut_file_is_refused_with_line_and_column) {
  write_calibration(path, small_table());
  write_file(path, read_file(path).substr(0, 60));
  EXPECT_NE(test::message_of([&] { read_calibration(path); }).find(": line "), std::string::npos);
}

TEST(CalibrationFits, only_its_own_network_and_only_if_complete) {
  test::NetworkBuilder builder;
  const TensorId x = builder.input({1, 4});
  builder.output(builder.unary(UnaryKind::relu, x));
  const Network network = builder.build();
  Calibration table;
  table.network = hash_of(network);
  for (const TensorId id : calibrated_tensors(network)) table.ranges[network[id].name] = {0, 1};
  EXPECT_EQ(table.ranges.size(), 2u);
  EXPECT_TRUE(fits(table, network));
  Calibration lacking = table;
  lacking.ranges.erase(network[x].name);
  EXPECT_NE(fits(lacking, network).reason().find("no range for the tensor"), std::string::npos);
  table.network = "another";
  EXPECT_NE(fits(table, network).reason().find("another network"), std::string::npos);
}

}  // namespace
}  // namespace millrace::network
