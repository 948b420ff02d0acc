#include "board/board.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "board/clusters.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace millrace::board {
namespace {

Board two_cores() {
  Board board;
  board.cpu_model = "model";
  board.instruction_sets = {"avx"};
  board.processors = {{"core0", ProcessorKind::cpu, {0}}, {"core1", ProcessorKind::cpu, {1}}};
  board.caches = {{1, Bytes{1024}, {0}}, {1, Bytes{1024}, {1}}, {2, Bytes{4096}, {0, 1}}};
  return board;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void put(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  write_file(path, text);
}

std::string output_of(const char* command) {
  std::string text;
  FILE* const pipe = popen(command, "r");
  for (int c = 0; pipe != nullptr && (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  if (pipe != nullptr) pclose(pipe);
  return text;
}

/// Two cores of Intel's two kinds; the system's files are those of a hybrid processor.
void write_hybrid_machine(const test::TemporaryFolder& folder) {
  const std::filesystem::path devices = folder.path() / "sys/devices";
  put(devices / "cpu_core/cpus", "1\n");
  put(devices / "cpu_atom/cpus", "0\n");
  for (const int core : cores_of_this_thread())
    put(devices / fmt::format("system/cpu/cpu{}/topology/thread_siblings_list", core),
               fmt::format("{}\n", core));
}

TEST(ThisMachine, has_a_device_for_each_kind_of_cores) {
  const Board real = this_machine();
  if (cores_of_this_thread() != std::vector{0, 1} || real.processors.size() != 2)
    GTEST_SKIP() << "needs the cores 0 and 1, each with one thread";
  const test::TemporaryFolder folder;
  write_hybrid_machine(folder);
  const Board board = machine_at(folder.path());
  EXPECT_EQ(board.processors, real.processors);
  ASSERT_EQ(board.devices.size(), board.processors.size());
  EXPECT_EQ(board.devices[1].name, "cpu1");
  EXPECT_EQ(board.devices[1].cores, board.processors[1].cores);
  EXPECT_EQ(board.memories[0].shared_by.size(), board.devices.size());
  const Peaks slow{{{Precision::f32, 1e9}}, 1e9}, fast{{{Precision::f32, 3e9}}, 2e9};
  std::vector<Peaks> alone(board.processors.size(), slow);
  alone[1] = fast;
  const Board filled = with_peaks(board, alone, alone);
  EXPECT_EQ(peaks_of(filled, board.processors[0]).operations.at(Precision::f32), 1e9);
  EXPECT_EQ(peaks_of(filled, board.processors[1]).operations.at(Precision::f32), 3e9);
}

TEST(ThisMachine, has_processors_with_different_usable_cores) {
  const Board board = this_machine();
  const std::vector<int> usable = cores_of_this_thread();
  ASSERT_FALSE(board.processors.empty());
  std::set<int> seen;
  for (const Processor& processor : board.processors) {
    ASSERT_EQ(processor.cores.size(), 1u);
    EXPECT_TRUE(std::binary_search(usable.begin(), usable.end(), processor.cores[0]));
    EXPECT_TRUE(seen.insert(processor.cores[0]).second);
    EXPECT_EQ(processor.name, "core" + std::to_string(processor.cores[0]));
  }
}

TEST(ThisMachine, knows_its_memory_and_caches) {
  const Board board = this_machine();
  EXPECT_GT(main_memory(board).count, 0);
  for (const Cache& cache : board.caches) {
    EXPECT_GT(cache.size.count, 0);
    EXPECT_FALSE(cache.cores.empty());
  }
}

/// What util-linux reads of the same machine.
TEST(ThisMachine, has_the_caches_that_lscpu_lists) {
  const std::string list = output_of("lscpu --bytes --caches=NAME,ONE-SIZE 2>/dev/null");
  if (list.empty()) GTEST_SKIP() << "needs lscpu";
  std::set<std::string> expected, found;
  std::istringstream lines(list);
  for (std::string name, size; lines >> name >> size;)
    if (name != "NAME" && name != "L1i") expected.insert(name.substr(0, 2) + " " + size);
  for (const Cache& cache : this_machine().caches)
    found.insert(fmt::format("L{} {}", cache.level, cache.size.count));
  EXPECT_EQ(found, expected);
}

TEST(ThisMachine, that_tells_nothing_has_a_processor_for_each_usable_core) {
  const test::TemporaryFolder nothing;
  const Board board = machine_at(nothing.path());
  EXPECT_EQ(board.processors.size(), cores_of_this_thread().size());
  EXPECT_TRUE(board.caches.empty());
  EXPECT_EQ(board.cpu_model, "unknown");
}

TEST(ThisMachine, joins_hardware_threads_and_the_caches_that_they_share) {
  const std::vector<int> usable = cores_of_this_thread();
  if (usable.size() != 2) GTEST_SKIP() << "needs two cores";
  const test::TemporaryFolder folder;
  const std::string both = fmt::format("{}-{}\n", usable[0], usable[1]);
  for (const int core : usable) {
    const auto cpu = folder.path() / fmt::format("sys/devices/system/cpu/cpu{}", core);
    put(cpu / "topology/thread_siblings_list", both);
    const std::pair<const char*, const char*> caches[] = {{"1", "Data"}, {"1", "Instruction"}};
    for (int index = 0; index < 2; ++index) {
      const auto cache = cpu / fmt::format("cache/index{}", index);
      put(cache / "level", caches[index].first);
      put(cache / "type", caches[index].second);
      put(cache / "size", "48K\n");
      put(cache / "shared_cpu_list", both);
    }
  }
  const Board board = machine_at(folder.path());
  ASSERT_EQ(board.processors.size(), 1u);
  EXPECT_EQ(board.processors[0].cores, std::vector{usable[0]});
  ASSERT_EQ(board.caches.size(), 1u);
  EXPECT_EQ(board.caches[0].size, Bytes{48 * 1024});
  EXPECT_EQ(board.caches[0].cores, usable);
}

#if defined(__x86_64__)
TEST(ThisMachine, reports_the_instruction_sets_the_compiler_finds) {
  const std::vector<std::string> sets = this_machine().instruction_sets;
  EXPECT_EQ(std::count(sets.begin(), sets.end(), "avx2"), __builtin_cpu_supports("avx2") ? 1 : 0);
  EXPECT_EQ(std::count(sets.begin(), sets.end(), "avx512f"),
            __builtin_cpu_supports("avx512f") ? 1 : 0);
}
#endif

TEST(ThisMachine, is_restricted_to_the_cores_of_the_calling_thread) {
  const Board whole = this_machine();
  const Processor last = whole.processors.back();
  const PinGuard guard(last);
  EXPECT_EQ(this_machine().processors, std::vector<Processor>{last});
}

TEST(AllCores, is_one_processor_named_after_its_cores) {
  EXPECT_EQ(all_cores(two_cores()), (Processor{"cores0-1", ProcessorKind::cpu, {0, 1}}));
  Board board = two_cores();
  board.processors.push_back({"core5", ProcessorKind::cpu, {5}});
  EXPECT_EQ(all_cores(board).name, "cores0-1,5");
}

TEST(AllCores, of_one_processor_is_that_processor) {
  const Board board = only(two_cores(), {"core1"});
  EXPECT_EQ(all_cores(board), board.processors[0]);
}

TEST(Only, keeps_the_named_processors_in_the_named_order) {
  const Board board = only(two_cores(), {"core1", "core0"});
  ASSERT_EQ(board.processors.size(), 2u);
  EXPECT_EQ(board.processors[0].name, "core1");
  EXPECT_EQ(board.processors[1].name, "core0");
}

TEST(Only, refuses_unknown_and_repeated_names_and_an_empty_list) {
  const std::string unknown = test::message_of([] { only(two_cores(), {"cor1"}); });
  EXPECT_TRUE(contains(unknown, "core0, core1"));
  EXPECT_TRUE(contains(unknown, "did you mean"));
  EXPECT_TRUE(contains(test::message_of([] { only(two_cores(), {"core1", "core1"}); }), "twice"));
  EXPECT_TRUE(contains(test::message_of([] { only(two_cores(), {}); }), "empty"));
}

Board with_device(Board board) {
  Device cores;
  cores.name = "cores";
  cores.cores = {0, 1};
  cores.model = "core";
  board.devices = {cores};
  board.memories = {{"dram", Bytes{1}, 10e9, {"cores"}, {}}};
  return board;
}

TEST(WithLimits, makes_a_device_of_the_processors_that_have_some) {
  Board other = with_device(two_cores());
  other.devices[0].name = "npu";
  other.devices[0].model = "another";
  other.devices[0].cores = {1};
  other.devices[0].limits.operators = {"Conv"};
  other.devices[0].scheduling = Scheduling::fifo_by_subnet;
  const Board board = with_limits(with_device(two_cores()), other);
  EXPECT_EQ(board.processors, two_cores().processors);
  ASSERT_EQ(board.devices.size(), 2u);
  EXPECT_EQ(device_of(board, board.processors[0])->name, "cores");
  const Device& limited = *device_of(board, board.processors[1]);
  EXPECT_EQ(limited.name, "npu");
  EXPECT_EQ(limited.model, "core");
  EXPECT_EQ(limited.limits, other.devices[0].limits);
  EXPECT_EQ(limited.scheduling, Scheduling::fifo_by_subnet);
  EXPECT_EQ(peaks_of(board, board.processors[1]).bytes, 10e9);
}

TEST(Only, joins_cores_that_work_on_a_layer_together) {
  for (const char* name : {"core0+core1", "core1+core0", "cores0-1"}) {
    const Board board = only(two_cores(), {name});
    ASSERT_EQ(board.processors.size(), 1u) << name;
    EXPECT_EQ(board.processors[0], all_cores(two_cores())) << name;
  }
}

TEST(Only, joins_some_cores_and_leaves_others) {
  Board board = two_cores();
  for (int core = 2; core < 5; ++core)
    board.processors.push_back({"core" + std::to_string(core), ProcessorKind::cpu, {core}});
  board = only(board, {"cores1-3", "core4+core0"});
  ASSERT_EQ(board.processors.size(), 2u);
  EXPECT_EQ(board.processors[0].name, "cores1-3");
  EXPECT_EQ(board.processors[0].cores, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(board.processors[1].name, "cores0,4");
}

TEST(Only, refuses_a_core_in_two_processors_and_what_is_no_core) {
  const auto says = [](const std::vector<std::string>& names, const std::string& expected) {
    Board board = two_cores();
    board.processors.push_back({"gpu", ProcessorKind::gpu, {}});
    const std::string message = test::message_of([&] { only(board, names); });
    EXPECT_NE(message.find(expected), std::string::npos) << message;
  };
  says({"core0", "cores0-1"}, "'cores0-1' and core0 have a core in common");
  says({"core0+core1", "cores0-1"}, "'cores0-1' is named twice");
  says({"core0+core0"}, "'core0' is named twice");
  says({"core0+gpu"}, "gpu is not a core");
  says({"core0+core9"}, "'core9' is not a processor");
  says({"core0+"}, "'' is not a processor");
  says({"cores0-7"}, "'cores0-7' is not a processor");
}

TEST(WithLimits, leaves_no_device_without_processors) {
  Board other = with_device(two_cores());
  other.devices[0].name = "both";
  const Board board = with_limits(with_device(two_cores()), other);
  ASSERT_EQ(board.devices.size(), 1u);
  EXPECT_EQ(board.devices[0].name, "both");
}

TEST(WithLimits, refuses_a_board_of_other_processors) {
  Board other = with_device(two_cores());
  other.name = "elsewhere";
  other.devices[0].cores = {7};
  EXPECT_EQ(test::message_of([&] { with_limits(with_device(two_cores()), other); }),
            "elsewhere: has no device with a processor of this machine (core0, core1); use these "
            "names in the file");
}

TEST(HashOf, changes_with_the_hardware_and_not_with_the_host_name) {
  const std::string hash = hash_of(two_cores());
  Board board = two_cores();
  board.name = "another";
  EXPECT_EQ(hash_of(board), hash);
  board.cpu_model = "newer";
  EXPECT_NE(hash_of(board), hash);
  board = two_cores();
  board.instruction_sets.push_back("avx2");
  EXPECT_NE(hash_of(board), hash);
  board = two_cores();
  board.caches[0].size.count *= 2;
  EXPECT_NE(hash_of(board), hash);
  EXPECT_EQ(hash_of(only(two_cores(), {"core0"})), hash);
}

TEST(Pin, moves_the_thread_and_the_guard_brings_it_back) {
  const std::vector<int> before = cores_of_this_thread();
  for (const Processor& processor : this_machine().processors) {
    const PinGuard guard(processor);
    EXPECT_EQ(cores_of_this_thread(), processor.cores);
    EXPECT_EQ(::sched_getcpu(), processor.cores[0]);
  }
  EXPECT_EQ(cores_of_this_thread(), before);
}

TEST(Pin, to_a_core_that_is_not_there_is_an_engine_error_that_names_the_processor) {
  const std::vector<int> before = cores_of_this_thread();
  try {
    pin_this_thread({"core8000", ProcessorKind::cpu, {8000}});
    FAIL() << "no error";
  } catch (const EngineError& error) {
    EXPECT_TRUE(contains(error.what(), "core8000"));
  }
  EXPECT_EQ(cores_of_this_thread(), before);
}

}  // namespace
}  // namespace millrace::board
