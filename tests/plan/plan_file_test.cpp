#include "plan/plan_file.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "networks.h"
#include "schedule/read_plan.h"
#include "support/schema.h"
#include "support/temporary_folder.h"

namespace millrace::plan {
namespace {

using namespace test;
using millrace::test::TemporaryFolder;
using Json = nlohmann::json;

network::Network sample_network() {
  return network_of(4, {{0, 1}, {0, 2}, {0, 3}, {1, 3}, {2, 3}});
}

Plan sample_plan(const network::Network& network) {
  return build(network, board_of(2), mapping_of({0, 1, 1, 0}));
}

PlanFile file_of(const Plan& plan) {
  Origin origin;
  origin.network = plan.network_hash;
  origin.board = "def";
  origin.model.file = "net.onnx";
  origin.profile = "abc";
  origin.search = "genetic";
  origin.version = "0.1.0";
  return {plan, origin, no_evidence(plan)};
}

PlanFile sample_file(const network::Network& network) {
  PlanFile file = file_of(sample_plan(network));
  file.evidence.replicas[0].predicted = Time(123'456'789);
  file.evidence.replicas[1].measured = Time(1);
  file.evidence.replicas[0].phases[1] = Time(123'500'000);
  file.evidence.replicas[0].feeding = {Time(2'000'000), ""};
  file.evidence.replicas[1].feeding = {Time(0), "core0"};
  file.evidence.replicas[0].borders = {{}, {Time(1'500'000), Time(500'000)}};
  file.evidence.period = Time(7'654'321);
  return file;
}

TEST(PlanFile, there_and_back_is_the_same_plan) {
  const TemporaryFolder folder;
  const network::Network network = sample_network();
  const PlanFile file = sample_file(network);
  write_plan(folder / "plan.json", file, network);
  EXPECT_EQ(read_plan(folder / "plan.json", network), file);
  EXPECT_EQ(read_plan_origin(folder / "plan.json"), file.origin);
}

TEST(PlanFile, has_borders_of_a_first_phase_without_those_of_the_next) {
  const TemporaryFolder folder;
  const network::Network network = sample_network();
  PlanFile file = sample_file(network);
  file.evidence.replicas[0].phases[0] = Time(2'000'000);
  file.evidence.replicas[0].borders = {{Time(1'000'000), Time(0)}, {}};
  write_plan(folder / "plan.json", file, network);
  EXPECT_EQ(read_plan(folder / "plan.json", network), file);
  file.evidence.replicas[0].borders.pop_back();
  EXPECT_FALSE(file.evidence.fits(file.plan));
}

TEST(PlanFile, random_plans_survive_the_way_there_and_back) {
  const TemporaryFolder folder;
  Random random(5);
  for (int i = 0; i < 50; ++i) {
    const network::Network network = random_network(random, 30);
    const board::Board board = board_of(4);
    const Plan plan = build(network, board, random_mapping(random, network.layers.size(), 4));
    write_plan(folder / "plan.json", file_of(plan), network);
    ASSERT_EQ(read_plan(folder / "plan.json", network).plan, plan) << i;
  }
}

TEST(PlanFile, tensors_without_a_name_of_their_own_go_by_number) {
  const TemporaryFolder folder;
  network::Network network = sample_network();
  network.tensors[0].name = "";
  network.tensors[1].name = network.tensors[2].name = "same";
  network.tensors[3].name = "#1";
  const Plan plan = sample_plan(network);
  write_plan(folder / "plan.json", file_of(plan), network);
  EXPECT_EQ(read_plan(folder / "plan.json", network).plan, plan);
}

TEST(PlanFile, variants_stand_by_layer_and_only_where_they_are_not_the_engines_choice) {
  const TemporaryFolder folder;
  const network::Network network = sample_network();
  Plan plan = sample_plan(network);
  plan.variants.resize(network.layers.size());
  plan.variants[1] = {board::Precision::f32, "jit_wino:avx512_core"};
  plan.variants[3].precision = board::Precision::bf16;
  write_plan(folder / "plan.json", file_of(plan), network);
  EXPECT_EQ(read_plan(folder / "plan.json", network).plan, plan);
  EXPECT_EQ(read_json(folder / "plan.json")["variants"],
            Json::parse(R"({"1":"f32:jit_wino:avx512_core","3":"bf16"})"));
  EXPECT_FALSE(read_json(folder / "plan.json").contains("one_frame_variants"));
}

TEST(PlanFile, variants_of_one_frame_stand_where_they_are_others) {
  const TemporaryFolder folder;
  const network::Network network = sample_network();
  Plan plan = sample_plan(network);
  plan.variants.resize(network.layers.size());
  plan.variants[1].algorithm = "winograd_4x4";
  plan.one_frame_variants = plan.variants;
  plan.one_frame_variants[1].algorithm.clear();
  plan.one_frame_variants[2].algorithm = "gemm";
  write_plan(folder / "plan.json", file_of(plan), network);
  EXPECT_EQ(read_plan(folder / "plan.json", network).plan, plan);
  EXPECT_EQ(read_json(folder / "plan.json")["one_frame_variants"],
            Json::parse(R"({"1":"f32","2":"f32:gemm"})"));
}

TEST(PlanFile, int8_brings_its_calibration) {
  const TemporaryFolder folder;
  const network::Network network = sample_network();
  const auto path = folder / "plan.json";
  Plan plan = sample_plan(network);
  plan.variants.resize(network.layers.size());
  plan.variants[2].precision = board::Precision::int8;
  plan.calibration = network::Calibration{
      plan.network_hash, {{"t1", {-0.5f, 2.25f}}, {"x", {0, 1}}}, {{"x", {0.5f}}}};
  write_plan(path, file_of(plan), network);
  EXPECT_EQ(read_plan(path, network).plan, plan);
  const Json good = read_json(path);
  const auto message_after = [&](const char* pointer, const char* value) {
    Json bad = good;
    bad[Json::json_pointer(pointer)] = Json::parse(value);
    write_json(path, bad);
    return message_of([&] { read_plan(path, network); });
  };
  EXPECT_NE(message_after("/calibration/network", "\"f00\"").find("made for another network (f00)"),
            std::string::npos);
  EXPECT_NE(message_after("/calibration/ranges/x", "[2,1]").find("2 is above 1; swap them"),
            std::string::npos);
  EXPECT_NE(message_after("/calibration/ranges/x", "[1]").find("expected two numbers"),
            std::string::npos);
  Json without = good;
  without.erase("calibration");
  write_json(path, without);
  EXPECT_NE(message_of([&] { read_plan(path, network); })
                .find("2: is planned in int8, but the plan "
                      "has no calibration"),
            std::string::npos);
}

TEST(PlanFile, batches_stand_only_where_a_phase_has_one) {
  const TemporaryFolder folder;
  const network::Network network = sample_network();
  const Plan plan =
      build(network, board_of(2), mapping_of({0, 1, 1, 0}), {.batches = {1, 1, 1, 4}});
  write_plan(folder / "plan.json", file_of(plan), network);
  EXPECT_EQ(read_plan(folder / "plan.json", network).plan, plan);
  const Json json = read_json(folder / "plan.json");
  EXPECT_EQ(json["stages"][0]["phases"],
            Json::parse(R"([{"offset":0,"layers":["0"]},{"offset":2,"batch":4,"layers":["3"]}])"));
}

TEST(PlanFile, names_layers_and_tensors) {
  const TemporaryFolder folder;
  const network::Network network = sample_network();
  write_plan(folder / "plan.json", sample_file(network), network);
  const Json json = read_json(folder / "plan.json");
  EXPECT_EQ(json["stages"][0]["phases"],
            Json::parse(R"([{"offset":0,"layers":["0"]},{"offset":2,"layers":["3"],)"
                        R"("predicted_ms":123.5,"in_ms":1.5,"out_ms":0.5}])"));
  EXPECT_EQ(json["channels"][0],
            Json::parse(R"({"tensor":"x","from":"outside","to":{"stage":"stage0","phase":0},
                            "capacity":2})"));
  EXPECT_DOUBLE_EQ(json["stages"][0]["predicted_ms"].get<double>(), 123.456789);
}

/// A mistake made in the sample's file, and words of the answer.
struct Mistake {
  const char* pointer;  // where
  const char* value;    // JSON text; empty: remove
  const char* expected;
};

constexpr Mistake mistakes[] = {
    {"/format", "2", "format: found 2, expected 3; make the plan again with this version"},
    {"/format", "4", "format: found 4, expected 3"},
    {"/format", "", "the field 'format' is missing"},
    {"/stagse", "[]", "unknown field 'stagse'; did you mean 'stages'?"},
    {"/origin/modell", "\"a\"", "origin: unknown field 'modell'; did you mean 'model'?"},
    {"/origin", "7", "origin: found number, expected an object"},
    {"/origin/options", "[]", "origin.options: found array, expected an object"},
    {"/origin/options/seed", "1", "origin.options.seed: found 1, expected a string"},
    {"/origin/network", "\"f00\"", "was made for another network (hash f00, from 'net.onnx')"},
    {"/stages", "{}", "stages: found object, expected an array"},
    {"/stages", "[]", "channels[0].to.stage: there is no stage 'stage0'"},
    {"/stages/0/nme", "1", "stages[0]: unknown field 'nme'; did you mean 'name'?"},
    {"/stages/0/engine", "", "stages[0]: the field 'engine' is missing"},
    {"/stages/1/name", "\"stage0\"", "stages[1].name: a second stage 'stage0'"},
    {"/stages/0/processor/kind", "\"tpu\"",
     "processor.kind: found 'tpu', expected cpu, gpu or npu"},
    {"/stages/0/processor/cores", "[]", "its processor 'core0' has no cores"},
    {"/stages/0/processor/cores", "[-1]", "processor.cores[0]: found -1, expected a number"},
    {"/stages/0/processors", "[]", "processor: found beside 'processors'; remove one of the two"},
    {"/stages/0/dispatch", "\"round robin\"", "dispatch: found beside a single 'processor'"},
    {"/stages/0/turn", "{}", "stages[0]: unknown field 'turn'"},
    {"/stages/0/predicted_ms", "-1", "stages[0].predicted_ms: found -1, expected 0 to"},
    {"/stages/0/predicted_ms", "1e300", "stages[0].predicted_ms: found 1e+300"},
    {"/stages/0/phases/0/predicted_ms", "1000000001",
     "phases[0].predicted_ms: found 1000000001, expected 0 to 1000000000 milliseconds"},
    {"/stages/0/phases/1/in_ms", "123.1",
     "phases[1].in_ms: found 124 ms with 'out_ms', expected at most the 124 ms"},
    {"/stages/0/phases/0/in_ms", "1", "phases[0]: the field 'out_ms' is missing"},
    {"/stages/0/feeding", "[]", "feeding: found 0 entries, expected one for each of 1 replicas"},
    {"/stages/0/feeding/0/ms", "124",
     "stages[0].feeding[0].ms: found 124 ms, expected at most the 123 ms that are predicted"},
    {"/stages/0/phases", "[]", "stages[0].phases: found none, expected at least one"},
    {"/stages/0/phases/1/layers", "[]", "stage0, phase 1: has no layers"},
    {"/stages/0/phases/0/layers/0", "\"O\"", "phases[0].layers[0]: the network has no layer 'O'"},
    {"/stages/0/phases/0/layers", "[\"0\",\"1\"]", "stage1, phase 0: has the layer '1', but "},
    {"/stages/0/phases/0/layers", "[\"3\",\"0\"]",
     "'0' stands after '3', but the network computes it earlier"},
    {"/stages/0/phases", R"([{"offset":0,"layers":["3"]},{"offset":0,"layers":["0"]}])",
     "'3' needs the result of '0'"},
    {"/stages/0/phases", R"([{"offset":0,"layers":["0","3"]}])",
     "channels[1].to.phase: found 1, expected a number"},
    {"/stages/0/phases/0", "[\"0\"]", "stages[0].phases[0]: found array, expected an object"},
    {"/stages/0/phases/0/offset", "-1",
     "stage0, phase 0: found an offset of -1 frames, expected 0 to"},
    {"/stages/0/phases/1/offset", "0",
     "its reader is 1 frames ahead of its writer; give the reader a larger"},
    {"/stages/0/phases/1/offset", "2000000", "stage0, phase 1: found an offset of 2000000 frames"},
    {"/stages/0/phases/1/offset", "9", "offset of 9 frames, so a capacity of 3 is too small"},
    {"/stages/0/phases/0/batch", "0", "stage0, phase 0: found a batch of 0 frames, expected 1 to"},
    {"/stages/0/phases/0/batch", "1000", "found a batch of 1000 frames, expected 1 to 256"},
    {"/stages/0/phases/1/batch", "4", "stage0, phase 1 works on 4 frames at once, so a capacity"},
    {"/stages/0/phases/0/batch", "2.5", "phases[0].batch: found 2.5, expected an integer"},
    {"/stages/0/phases",
     R"([{"offset":0,"batch":2,"layers":["0"]},{"offset":2,"batch":3,"layers":["3"]}])",
     "stage0, phase 0: its batch of 2 frames does not divide 3, the largest batch of the plan"},
    {"/stages/1/phases/0/layers", "[\"1\"]", "2: this layer is in no stage"},
    {"/channels/0/tensor", "\"y\"", "channels[0].tensor: the network has no tensor 'y'"},
    {"/channels/0/tensor", "\"t9\"", "did you mean 't"},
    {"/channels/0/from", "\"inside\"", "channels[0].from: found 'inside', expected \"outside\""},
    {"/channels/0/to/phase", "7", "channels[0].to.phase: found 7, expected a number from 0 to 1"},
    {"/channels/0/to/stage", "\"stag0\"", "there is no stage 'stag0'; did you mean 'stage0'?"},
    {"/channels/0/to/phase", "1", "no layers need this channel"},
    {"/channels/1", "", "channel of 't0' from stage0, phase 0 to stage0, phase 1: this channel "},
    {"/channels/0/capacity", "0", "found a capacity of 0 frames"},
    {"/channels/0/capacity", "9223372036854775807", "found a capacity of 9223372036854775807"},
    {"/channels/1/capacity", "4", "they share slots"},
    {"/variants", R"({"0": "f8"})", "variants.0: found 'f8', expected one of f32, f16, bf16, int8"},
    {"/variants", R"({"0": "f32:"})", "variants.0: found 'f32:', expected an algorithm"},
    {"/one_frame_variants", R"({"9": "f32"})", "one_frame_variants: the network has no layer '9'"},
    {"/variants", R"({"9": "f32"})", "variants: the network has no layer '9'"},
    {"/variants", "[]", "variants: found array, expected an object"},
    {"/channels/0/capacity", "2.5", "channels[0].capacity: found 2.5, expected an integer"},
};

TEST(PlanFile, each_mistake_is_answered_with_its_place) {
  const TemporaryFolder folder;
  const network::Network network = sample_network();
  const auto path = folder / "plan.json";
  write_plan(path, sample_file(network), network);
  const Json good = read_json(path);
  for (const Mistake& mistake : mistakes) {
    Json bad = good;
    const Json::json_pointer pointer(mistake.pointer);
    if (*mistake.value != '\0')
      bad[pointer] = Json::parse(mistake.value);
    else if (bad[pointer.parent_pointer()].is_array())
      bad[pointer.parent_pointer()].erase(std::stoul(pointer.back()));
    else
      bad[pointer.parent_pointer()].erase(pointer.back());
    write_json(path, bad);
    const std::string message = message_of([&] { read_plan(path, network); });
    EXPECT_NE(message.find(mistake.expected), std::string::npos)
        << mistake.pointer << " = " << mistake.value << "\n"
        << message;
    EXPECT_EQ(message.rfind(path.string(), 0), 0u) << message;
  }
}

TEST(PlanFile, phases_that_wait_for_each_other_are_refused) {
  const TemporaryFolder folder;
  const network::Network network = network_of(4, {{0, 1}, {2, 3}});
  const auto path = folder / "plan.json";
  write_plan(path, file_of(build(network, board_of(2), mapping_of({0, 1, 1, 0}))), network);
  Json json = read_json(path);
  json["stages"][0]["phases"] = Json::parse(R"([{"offset":0,"layers":["0","3"]}])");
  json["stages"][1]["phases"][0]["offset"] = 0;
  for (Json& channel : json["channels"])
    for (const char* end : {"from", "to"})
      if (channel[end].is_object() && channel[end]["phase"] == 1) channel[end]["phase"] = 0;
  write_json(path, json);
  const std::string message = message_of([&] { schedule::read_plan(path, network); });
  EXPECT_NE(message.find("deadlock: phase 0 of 'stage0' waits for 1 tokens in channel 't2' from "
                         "'stage1'"),
            std::string::npos)
      << message;
}

TEST(PlanFile, a_plan_for_another_network_is_refused_before_its_layers_are_read) {
  const TemporaryFolder folder;
  const network::Network network = sample_network();
  write_plan(folder / "plan.json", sample_file(network), network);
  const std::string message = message_of([&] {
    read_plan(folder / "plan.json", network_of(3, {{0, 1}, {1, 2}}));
  });
  EXPECT_NE(message.find("was made for another network"), std::string::npos) << message;
}

TEST(PlanFile, processors_that_the_board_lacks_are_named) {
  const network::Network network = sample_network();
  const Plan plan = sample_plan(network);
  EXPECT_NO_THROW(check_board(plan, board_of(2)));
  const std::string message = message_of([&] { check_board(plan, board_of(1)); });
  EXPECT_EQ(message.rfind("stage1: needs processor 'core1' (core 1), which this machine does not "
                          "have; it has core0",
                          0),
            0u)
      << message;
}

TEST(PlanFile, a_plan_for_an_accelerator_names_it_without_cores) {
  const TemporaryFolder folder;
  const network::Network network = sample_network();
  Plan plan = sample_plan(network);
  plan.stages[1].processors[0] = {"gpu", board::ProcessorKind::gpu, {}};
  write_plan(folder / "plan.json", file_of(plan), network);
  EXPECT_EQ(read_plan(folder / "plan.json", network).plan, plan);
  board::Board board = board_of(2);
  const std::string message = message_of([&] { check_board(plan, board); });
  EXPECT_EQ(message.rfind("stage1: needs the gpu 'gpu', which this machine does not have", 0), 0u)
      << message;
  board.processors.push_back(plan.stages[1].processors[0]);
  EXPECT_NO_THROW(check_board(plan, board));
}

TEST(PlanFile, simulated_stages_need_neither_their_processors_nor_a_calibration) {
  const TemporaryFolder folder;
  const network::Network network = sample_network();
  Plan plan = sample_plan(network);
  plan.variants.assign(network.layers.size(), {board::Precision::int8, {}});
  plan.stages[0].engine = plan.stages[1].engine = simulated_engine;
  write_plan(folder / "plan.json", file_of(plan), network);
  EXPECT_EQ(read_plan(folder / "plan.json", network).plan, plan);
  EXPECT_NO_THROW(check_board(plan, board_of(1)));
  plan.stages[1].engine = "onednn";
  write_plan(folder / "plan.json", file_of(plan), network);
  EXPECT_NE(message_of([&] { read_plan(folder / "plan.json", network); }).find("no calibration"),
            std::string::npos);
  EXPECT_THROW(check_board(plan, board_of(1)), InputError);
}

TEST(PlanFile, files_that_are_no_plans_are_refused) {
  const TemporaryFolder folder;
  for (const char* content : {"", "{", "[]", "7", "{\"format\":1", "\x89PNG", "null"}) {
    write_file(folder / "plan.json", content);
    EXPECT_THROW(read_plan_origin(folder / "plan.json"), InputError) << content;
  }
  EXPECT_THROW(read_plan_origin(folder / "missing.json"), InputError);
}

TEST(PlanFile, is_described_by_its_schema) {
  const TemporaryFolder folder;
  const network::Network network = network_of(3, {{0, 1}, {1, 2}});
  const BuildOptions options{.replicas = {{ProcessorId(1), {ProcessorId(3)}}}};
  const Plan plan = build(network, board_of(4), mapping_of({0, 1, 2}), options);
  const Json schema =
      read_json(std::filesystem::path(MILLRACE_SOURCE_DIR) / "schemas/plan.schema.json");
  for (const Evidence& evidence : {no_evidence(plan), predicted(PhaseTimes(plan, Time(7)))}) {
    PlanFile file = file_of(plan);
    file.evidence = evidence;
    write_plan(folder / "plan.json", file, network);
    EXPECT_EQ(millrace::test::violations(read_json(folder / "plan.json"), schema),
              std::vector<std::string>{});
  }
  write_plan(folder / "plan.json", sample_file(sample_network()), sample_network());
  EXPECT_EQ(millrace::test::violations(read_json(folder / "plan.json"), schema),
            std::vector<std::string>{});
}

}  // namespace
}  // namespace millrace::plan
