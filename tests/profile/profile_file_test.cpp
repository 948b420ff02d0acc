#include "profile/profile_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "support/temporary_folder.h"

namespace millrace::profile {
namespace {

Profile small_profile() {
  Profile profile;
  profile.network = "n1";
  profile.board = "b1";
  profile.network_name = "small";
  profile.layer_names = {"conv", "relu"};
  profile.tokens = {0.25, 0.5};
  ProcessorProfile& p = profile.processors.emplace_back();
  p.processor = {"core0", board::ProcessorKind::cpu, {0}};
  p.engine = "reference";
  p.engine_version = "1";
  p.whole = statistics_of({Time(3000), Time(3100)});
  p.layers.resize(2);
  p.layers[0].together = p.layers[0].alone = statistics_of({Time(3000)});
  p.layers[0].contended = statistics_of({Time(3300), Time(3500)});
  p.layers[0].kernel = "loops";
  p.layers[0].variant = {board::Precision::f32, "jit_wino:avx512"};
  p.layers[0].alternatives = {{{}, Time(5000), 1e-7},
                              {p.layers[0].variant, Time(3000), 2.5e-5},
                              {{board::Precision::f32, "gemm"}, Time(9000), std::nullopt}};
  p.layers[0].batches = {{1, Time(2900)}, {8, Time(4000), p.layers[0].variant}};
  p.max_error = 1e-3;
  p.layers[1].alone = statistics_of({Time(40)});
  p.layers[1].fused_into = LayerId(0);
  ProcessorProfile& npu = profile.processors.emplace_back(p);
  npu.processor = {"dla0", board::ProcessorKind::npu, {}};
  npu.layers[1].refusal = "its SDK does not run Relu";
  npu.layers[1].refused_by_board = true;
  npu.borders = {0.5, 0.25, Time(7000), Time(50000), 0.125, Time(300), true};
  profile.modelled = true;
  return profile;
}

class ProfileFile : public testing::Test {
 protected:
  test::TemporaryFolder folder;
  std::filesystem::path path = folder.path() / "small.profile.json";

  /// What reading says after `change` was made to a good file.
  std::string message_after(const std::function<void(nlohmann::json&)>& change) const {
    write_profile(path, small_profile());
    nlohmann::json document = read_json(path);
    change(document);
    write_json(path, document);
    try {
      read_profile(path);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }
};

TEST_F(ProfileFile, comes_back_as_it_was_written) {
  write_profile(path, small_profile());
  EXPECT_EQ(read_profile(path), small_profile());
}

TEST_F(ProfileFile, errors_name_the_field) {
  EXPECT_NE(message_after([](auto& d) {
              d["processors"][0]["whole"].erase("count");
            }).find("processors[0].whole: the field 'count' is missing"),
            std::string::npos);
  EXPECT_NE(message_after([](auto& d) { d["proccessors"] = 1; }).find("did you mean 'processors'"),
            std::string::npos);
  EXPECT_NE(message_after([](auto& d) {
              d["processors"][0]["layers"].erase(1);
            }).find("one entry per layer"),
            std::string::npos);
  EXPECT_NE(message_after([](auto& d) {
              d["processors"][0]["layers"][1]["fused_into"] = "x";
            }).find("names no layer"),
            std::string::npos);
  EXPECT_NE(message_after([](auto& d) {
              d["processors"][0]["layers"][0]["alternatives"][0]["variant"] = "f31";
            })
                .find("layers[0].alternatives[0].variant: found 'f31', expected one of f32, f16, "
                      "bf16, int8"),
            std::string::npos);
  EXPECT_NE(message_after([](auto& d) {
              d["processors"][0]["precision"] = "double";
            }).find("processors[0].precision: found 'double'"),
            std::string::npos);
  for (const std::int64_t time : {std::int64_t{-1}, std::int64_t{4} << 60})
    EXPECT_NE(message_after([&](auto& d) {
                d["processors"][0]["layers"][0]["alternatives"][0]["time_ns"] = time;
              }).find("alternatives[0].time_ns: found " + std::to_string(time)),
              std::string::npos);
  EXPECT_NE(message_after([](auto& d) {
              d["tokens"]["read_ns"] = -1;
            }).find("tokens.read_ns: found -1, expected 0 to"),
            std::string::npos);
  EXPECT_NE(message_after([](auto& d) { d["format"] = 99; }).find("run `millrace profile` again"),
            std::string::npos);
}

TEST_F(ProfileFile, fits_only_the_network_machine_and_engine_it_was_measured_for) {
  board::Board board;
  board.processors = {{"core0", board::ProcessorKind::cpu, {0}}};
  Profile profile = small_profile();
  profile.board = board::hash_of(board);
  EXPECT_TRUE(fits(profile, {"n1", &board, "reference", "1"}));
  EXPECT_FALSE(fits(profile, {"n2", &board, "reference", "1"}));
  EXPECT_FALSE(fits(profile, {"n1", &board, "reference", "2"}));
  board.processors.push_back({"core1", board::ProcessorKind::cpu, {1}});
  EXPECT_FALSE(fits(profile, {"n1", &board, "reference", "1"}));
}

}  // namespace
}  // namespace millrace::profile
