#include "board/board_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace millrace::board {
namespace {

/// Every key that there is.
const std::string whole = R"(format: 1
name: my board
cpu_model: Cortex-A53
instruction_sets: [asimd]
idle_power_mw: 900
source: {idle_power_mw: guess}
sources:
  - {name: sheet, text: "data sheet, table 3", url: "https://example.org"}
  - {name: guess, text: from a similar board, estimated: true}
devices:
  - name: a53
    model: Arm Cortex-A53
    kind: cpu
    cores: [0, 1, 2, 3]
    clocks_mhz: [600, 1200.5, 1500]
    bandwidth_gb_per_s: 3.5
    units:
      - {name: asimd, peak_gops: {f32: 12.3, int8: 24.6}, source: sheet}
    power:
      - {clock_mhz: 600, static_mw: 10, dynamic_mw: 90, source: guess}
      - {clock_mhz: 1500, static_mw: 20, dynamic_mw: 450, source: guess}
    source: sheet
  - name: m7
    kind: cpu
    cores: [4, 5]
    together: true
  - name: gpu
    kind: gpu
    multiprocessors: 8
    multiprocessor_groups: 4
    units:
      - {name: cuda_cores, peak_gops: {f32: 100, f16: 200}}
      - {name: tensor_cores, peak_gops: {f16: 800, int8: 1600}}
  - name: npu
    kind: npu
    processors: [npu0, npu1]
    scheduling: fifo_by_subnet
    units: [{name: array, peak_gops: {int8: 2000}}]
    limits:
      operators: [Conv, Relu]
      not_operators: [Sigmoid]
      precisions: [int8]
      granularity: subnet
      subnets: 16
      subnets_together: 20
      streams: 2
      fallback: gpu
      source: sheet
    costs: {launch_us: 50, border_us: 120.5, transfer_gb_per_s: 2, feeding: 0.25, fed_by_core: 5,
            source: {launch_us: guess}}
    efficiency:
      - {operator: Conv, precision: int8, arithmetic: 0.5, memory: 0.75, source: guess}
      - {operator: other, arithmetic: 0.1}
memories:
  - {name: dram, size_gib: 4, bandwidth_gb_per_s: 12.8, shared_by: [a53, m7, gpu, npu],
     source: sheet}
  - {name: sram, size_mib: 1.5, shared_by: [npu], behind: dram}
caches:
  - {level: 2, size_kib: 512, cores: [0, 1, 2, 3], source: sheet}
)";

Board parse(const std::string& content) { return parse_board(content, "b.yaml"); }

/// The whole file with `old_text`, which must be there, replaced.
std::string with(const std::string& old_text, const std::string& new_text) {
  std::string content = whole;
  const std::size_t at = content.find(old_text);
  EXPECT_NE(at, std::string::npos) << old_text;
  return content.replace(at, old_text.size(), new_text);
}

TEST(BoardFile, every_key_finds_its_place) {
  const Board board = parse(whole);
  std::vector<std::string> names;
  for (const Processor& processor : board.processors) names.push_back(processor.name);
  EXPECT_EQ(names, (std::vector<std::string>{"core0", "core1", "core2", "core3", "cores4-5", "gpu",
                                             "npu0", "npu1"}));
  EXPECT_EQ(board.processors[4].cores, (std::vector{4, 5}));
  EXPECT_EQ(board.idle_power, Milliwatts{900});
  const Device& npu = *device_of(board, board.processors[7]);
  EXPECT_EQ(npu.name, "npu");
  EXPECT_EQ(npu.kind, ProcessorKind::npu);
  EXPECT_EQ(npu.limits.granularity, Granularity::subnet);
  EXPECT_EQ(npu.limits.subnets, 16);
  EXPECT_EQ(npu.limits.subnets_together, 20);
  EXPECT_EQ(npu.limits.fallback, "gpu");
  EXPECT_EQ(npu.costs.border, Time(120500));
  EXPECT_EQ(npu.costs.transfer, 2e9);
  EXPECT_EQ(npu.costs.feeding, 0.25);
  EXPECT_EQ(npu.costs.fed_by_core, 5);
  EXPECT_EQ(npu.efficiency[0].precision, Precision::int8);
  EXPECT_EQ(npu.efficiency[1].memory, 1);
  EXPECT_EQ(npu.costs.origins.by_key.at("launch_us"), "guess");
  EXPECT_EQ(board.devices[0].clocks[1], Megahertz{1200.5});
  EXPECT_EQ(board.devices[0].power[1].busy, Milliwatts{450});
  EXPECT_EQ(board.devices[2].scheduling, Scheduling::fifo_by_kernel);
  EXPECT_EQ(board.memories[1].size, Bytes{1536 * 1024});
  EXPECT_EQ(board.memories[1].behind, "dram");
  EXPECT_EQ(main_memory(board), Bytes{std::int64_t{4} << 30});
  EXPECT_TRUE(board.sources[1].estimated);
}

TEST(BoardFile, peaks_are_those_of_the_fastest_unit_and_the_nearest_memory) {
  const Board board = parse(whole);
  const Peaks gpu = peaks_of(board, board.processors[5]);
  EXPECT_EQ(gpu.operations.at(Precision::f32), 100e9);
  EXPECT_EQ(gpu.operations.at(Precision::f16), 800e9);
  EXPECT_EQ(gpu.bytes, 12.8e9);
  EXPECT_EQ(peaks_of(board, board.processors[0]).bytes, 3.5e9);
  EXPECT_TRUE(peaks_of(Board{}, board.processors[0]).operations.empty());
}

TEST(BoardFile, the_device_of_all_cores_is_that_of_the_first) {
  const Board cores = only(parse(whole), {"core1", "core2"});
  EXPECT_EQ(device_of(cores, all_cores(cores))->name, "a53");
}

TEST(BoardFile, what_is_written_is_read_back_equal) {
  const test::TemporaryFolder folder;
  for (const Board& board : {parse(whole), this_machine()}) {
    write_board(folder / "b.yaml", board);
    EXPECT_EQ(read_board(folder / "b.yaml"), board);
    EXPECT_EQ(hash_of(read_board(folder / "b.yaml")), hash_of(board));
  }
}

TEST(BoardFile, measured_peaks_are_written_and_read_back_equal) {
  const test::TemporaryFolder folder;
  const Board here = this_machine();
  const std::vector<Peaks> alone(
      here.processors.size(),
      {{{Precision::f32, 123456789012.3}, {Precision::int8, 7e11}}, 9.87654321e9});
  const Board board = with_peaks(here, alone, alone);
  write_board(folder / "b.yaml", board);
  EXPECT_EQ(read_board(folder / "b.yaml"), board);
  const Peaks peaks = peaks_of(board, board.processors.front());
  EXPECT_EQ(peaks.operations.at(Precision::f32), 123457e6);  // millions are exact enough
  EXPECT_EQ(peaks.bytes, 9877e6);
  const double together = 9.87654321e9 * static_cast<double>(alone.size());
  EXPECT_EQ(board.memories[0].bytes, 1e6 * std::round(together / 1e6));
}

TEST(BoardFile, numbers_count_for_the_hash_and_their_sources_do_not) {
  const std::string hash = hash_of(parse(whole));
  EXPECT_EQ(hash_of(parse(with("data sheet, table 3", "another"))), hash);
  EXPECT_EQ(hash_of(parse(with("my board", "your board"))), hash);
  EXPECT_NE(hash_of(parse(with("f32: 12.3", "f32: 12.4"))), hash);
  EXPECT_NE(hash_of(parse(with("subnets: 16", "subnets: 15"))), hash);
  EXPECT_NE(hash_of(parse(with("dynamic_mw: 450", "dynamic_mw: 460"))), hash);
}

struct Refused {
  const char *old_text, *new_text, *words;
};

class WrongBoardFile : public testing::TestWithParam<Refused> {};

TEST_P(WrongBoardFile, is_refused_with_the_line_and_the_remedy) {
  const auto [old_text, new_text, words] = GetParam();
  const std::string message = test::message_of([&] { parse(with(old_text, new_text)); });
  EXPECT_NE(message.find(words), std::string::npos) << message;
  EXPECT_EQ(message.rfind("b.yaml: line ", 0), 0u) << message;
}

INSTANTIATE_TEST_SUITE_P(
    Values, WrongBoardFile,
    testing::Values(
        Refused{"format: 1", "format: 2", "format: found 2, expected 1"},
        Refused{"format: 1\n", "", "'format' is missing"},
        Refused{"static_mw: 10,", "static_mw: -10,",
                "devices[0].power[0].static_mw: found -10, expected a number from 0"},
        Refused{"idle_power_mw: 900", "idle_power_mw: -1", "found -1"},
        Refused{"[600, 1200.5, 1500]", "[600, 1500, 1200.5]",
                "clocks_mhz[2]: 1200.5 MHz stands after 1500 MHz, expected ascending clocks"},
        Refused{"[600, 1200.5, 1500]", "[600, 600]", "expected ascending clocks"},
        Refused{"[600, 1200.5, 1500]", "[]", "found no clocks"},
        Refused{"[600, 1200.5, 1500]", "[0]", "expected a number above 0"},
        Refused{"clock_mhz: 1500, ", "clock_mhz: 500, ", "power[1].clock_mhz: 500 MHz"},
        Refused{"f32: 12.3", "f32: nan", "found 'nan'"},
        Refused{"f32: 12.3", "f32: .inf", "found '.inf', expected a number"},
        Refused{"f32: 12.3", "f32: 1e999", "expected a finite number"},
        Refused{"f32: 12.3", "f32: 1e7", "at most 1000000"},
        Refused{"f32: 12.3", "f32: 12.3 GOPS", "its unit is in the name of its key"},
        Refused{"{f32: 12.3, int8: 24.6}", "{}", "found no rates"},
        Refused{"size_gib: 4", "size_gib: 0", "above 0"},
        Refused{"size_gib: 4", "size_gib: 4, size_mib: 4096", "found a second size"},
        Refused{"size_gib: 4, ", "", "give size_kib, size_mib or size_gib"},
        Refused{"multiprocessor_groups: 4", "multiprocessor_groups: 9", "at most one for each"},
        Refused{"subnets: 16", "subnets: 0", "expected an integer from 1"},
        Refused{"subnets: 16", "subnets: 1.5", "expected an integer"},
        Refused{"arithmetic: 0.5", "arithmetic: 1.5", "at most 1"},
        Refused{"together: true", "together: yes", "expected true or false"},
        Refused{"launch_us: 50", "launch_us: -1", "found -1"}));

INSTANTIATE_TEST_SUITE_P(
    Keys, WrongBoardFile,
    testing::Values(
        Refused{"clocks_mhz", "clock_mhz", "did you mean 'clocks_mhz'?"},
        Refused{"clocks_mhz", "clocks", "a name says its unit: did you mean 'clocks_mhz'?"},
        Refused{"size_gib: 4", "size: 4", "a name says its unit: did you mean 'size_kib'?"},
        Refused{"bandwidth_gb_per_s: 12.8", "bandwidth: 12.8",
                "a name says its unit: did you mean 'bandwidth_gb_per_s'?"},
        Refused{"static_mw", "static", "a name says its unit: did you mean 'static_mw'?"},
        Refused{"memories:", "memores:", "did you mean 'memories'?"},
        Refused{"f32: 12.3", "fp32: 12.3", "did you mean 'f32'?"},
        Refused{"granularity: subnet", "granularity: subnets",
                "expected one of layer, subnet; did you mean 'subnet'?"},
        Refused{"kind: gpu", "kind: tpu", "expected one of cpu, gpu, npu"},
        Refused{"scheduling: fifo_by_subnet", "scheduling: fifo", "expected one of preemptive"}));

INSTANTIATE_TEST_SUITE_P(
    Names, WrongBoardFile,
    testing::Values(
        Refused{"processors: [npu0, npu1]", "processors: [npu0, npu0]",
                "a second processor 'npu0'; each needs a name of its own"},
        Refused{"processors: [npu0, npu1]", "processors: [npu0, core2]",
                "a second processor 'core2'"},
        Refused{"processors: [npu0, npu1]", "processors: []", "found no processors"},
        Refused{"processors: [npu0, npu1]", "cores: [6]", "of kind cpu only"},
        Refused{"cores: [0, 1, 2, 3]", "cores: []", "found no cores"},
        Refused{"cores: [0, 1, 2, 3]", "cores: [0, 2, 1]", "expected ascending numbers"},
        Refused{"cores: [0, 1, 2, 3]", "cores: [0, -1]", "expected an integer from 0"},
        Refused{"cores: [4, 5]", "cores: [3, 4]", "core 3 is of device 'a53' too"},
        Refused{"    cores: [4, 5]\n", "", "'cores' is missing"},
        Refused{"- name: m7", "- name: a53", "a second device 'a53'"},
        Refused{"- name: m7", "- name: ''", "expected 1 to 200"},
        Refused{"- name: m7", "- name: 7", "expected text; put it in quotes"},
        Refused{
            "fallback: gpu", "fallback: gpus",
            "'gpus' is no device of this file, which has a53, m7, gpu, npu; did you mean 'gpu'?"},
        Refused{"shared_by: [npu]", "shared_by: [npuu]", "did you mean 'npu'?"},
        Refused{"shared_by: [npu]", "shared_by: []", "found no devices"},
        Refused{"source: sheet", "source: shet", "is no source of this file"},
        Refused{"source: {launch_us: guess}", "source: {lunch_us: guess}", "no key 'lunch_us'"},
        Refused{"name: sram,", "name: dram,", "a second memory 'dram'"},
        Refused{"behind: dram", "behind: sram", "in a circle (sram behind sram)"},
        Refused{"name: dram,", "name: dram, behind: sram,",
                "in a circle (sram behind dram behind sram)"},
        Refused{"operator: other", "operator: Conv, precision: int8", "is there twice"},
        Refused{"level: 2, size_kib: 512, cores: [0, 1, 2, 3]",
                "level: 2, size_kib: 512, cores: [9]", "none of these cores"}));

TEST(BoardFile, without_devices_is_refused) {
  const auto refusal = [](const std::string& text) {
    return test::message_of([&] { parse(text); });
  };
  EXPECT_NE(refusal("format: 1\nname: a\n").find("'devices' is missing"), std::string::npos);
  EXPECT_NE(refusal("format: 1\nname: a\ndevices: []\n").find("found no devices"),
            std::string::npos);
}

TEST(BoardFile, what_is_no_board_file_is_refused) {
  for (const char* content :
       {"", "7", "[]", "{", "~", "text", "\x89PNG\r\n\x1a\n", "%PDF-1.4", "{}"})
    EXPECT_THROW(parse(content), InputError) << content;
  const test::TemporaryFolder folder;
  EXPECT_THROW(read_board(folder / "missing.yaml"), InputError);
  EXPECT_THROW(read_board(folder / "."), InputError);
}

}  // namespace
}  // namespace millrace::board
