#include "plan/origin_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "formats/fixed_inputs.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace millrace::plan {
namespace {

/// The origin of a plan in a folder that has nothing.
Origin read(const nlohmann::json& json) {
  return read_origin(JsonView(json, "a.json", "origin"), "/nonexistent");
}

nlohmann::json with_options(const nlohmann::json& options) {
  return {{"model", "net.onnx"}, {"network", "1"},     {"board", "2"},
          {"profile", ""},       {"options", options}, {"version", "0.1.0"}};
}

TEST(OriginFile, all_fields_survive_the_way_there_and_back) {
  Origin origin;
  origin.network = "a", origin.board = "b", origin.profile = "c", origin.version = "0.1.0";
  origin.model.file = "/net.cfg";
  origin.model.shapes = {{"x y", {1, 2}}, {"z", {3}}};
  formats::add_all_fixed(origin.model, "n=1,2 sample rate=16000", "place");
  origin.model.size = 416;
  origin.model.divided = {{"fc 6=a", 2}, {"fc7", 3}};
  origin.model.weights = "/net.weights";
  origin.model.seed = 18446744073709551615u;
  origin.imported_from = "JEDI";
  origin.board_name = "TX2", origin.board_file = "/tx2.yaml", origin.limits = "limits.yaml";
  origin.streams = 4;
  origin.search = "auto", origin.fitness = "balance";
  origin.fallback = false;
  origin.precisions = {board::Precision::f32, board::Precision::int8};
  origin.max_error = 0.25, origin.max_loss = 0.01;
  origin.max_latency = std::chrono::milliseconds(100);
  origin.max_batch = 8;
  origin.clocks_mhz = {{"cpu0", 1800}, {"cpu1", 2400.5}};
  origin.max_memory = Bytes{std::int64_t{3} << 20};
  EXPECT_EQ(read(to_json(origin, "/nonexistent")), origin);
  EXPECT_EQ(to_json(origin, "/nonexistent")["options"]["max_latency"], "100ms");
  EXPECT_EQ(to_json(origin, "/nonexistent")["options"]["max_loss"], "1%");
  EXPECT_EQ(to_json(origin, "/nonexistent")["options"]["precision"], "f32,int8");
  EXPECT_EQ(to_json(origin, "/nonexistent")["options"]["clocks_mhz"], "cpu0=1800,cpu1=2400.5");
  EXPECT_EQ(to_json(origin, "/nonexistent")["options"]["divided"], "fc 6=a=2 fc7=3");
}

TEST(OriginFile, a_model_is_found_where_it_lies_from_the_plan_or_else_beside_it) {
  const millrace::test::TemporaryFolder folder;
  const auto make = [&](const std::string& name) {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << "net";
    return (folder / name).string();
  };
  Origin origin;
  origin.model.file = make("here/models/net.onnx");
  const auto json = to_json(origin, folder / "here");
  EXPECT_EQ(json["model_beside"], "models/net.onnx");
  const auto found = [&](const std::filesystem::path& plans) {
    return read_origin(JsonView(nlohmann::json(json), "a.json", "origin"), plans).model.file;
  };
  EXPECT_EQ(found(folder / "here"), origin.model.file);
  EXPECT_EQ(found(folder / "away"), origin.model.file);
  EXPECT_EQ(found(folder / "there"), origin.model.file);
  const std::string copy = make("away/models/net.onnx"), beside = make("there/net.onnx");
  EXPECT_EQ(found(folder / "away"), copy);
  std::filesystem::remove(origin.model.file);
  EXPECT_EQ(found(folder / "there"), beside);
}

TEST(OriginFile, options_of_earlier_plans_are_read) {
  const Origin origin = read(with_options({{"fitness", "bottleneck"},
                                           {"precision", "f32,bf16"},
                                           {"search", "genetic"},
                                           {"seed", "3"},
                                           {"shape", "image=1x1x8x8"},
                                           {"of_another_time", "yes"}}));
  EXPECT_EQ(origin.model.seed, 3u);
  EXPECT_EQ(origin.model.shapes.at("image"), (network::Shape{1, 1, 8, 8}));
  EXPECT_EQ(origin.precisions.size(), 2u);
  EXPECT_TRUE(origin.fallback);
}

TEST(OriginFile, a_wrong_option_is_named) {
  const auto message = [](const char* name, const char* text) {
    return test::message_of([&] { read(with_options({{name, text}})); });
  };
  EXPECT_NE(message("seed", "one").find("origin.options.seed: found 'one', expected a whole"),
            std::string::npos);
  EXPECT_NE(message("precision", "f31").find("origin.options.precision"), std::string::npos);
  EXPECT_NE(message("max_latency", "soon").find("origin.options.max_latency"), std::string::npos);
}

}  // namespace
}  // namespace millrace::plan
