// What a user sets, and what is said where NVIDIA's libraries or GPUs are missing.
#include "engine/cuda/settings.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "board/board.h"
#include "emulated_gpu.h"
#include "engine/cuda/cuda.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace millrace::engine::cuda {
namespace {

using Words = std::map<std::string, std::string>;

EngineOptions with(const Words& words) {
  EngineOptions options = emulated_gpu();
  options.settings["cuda"] = words;
  return options;
}

std::string message_for(const Words& words) {
  return test::message_of([&] { read_settings(with(words)); });
}

EngineOptions in_folder(const std::filesystem::path& folder) {
  EngineOptions options;
  options.libraries["cuda"] = folder;
  return options;
}

std::string reason_in(const std::filesystem::path& folder) {
  return can_start(in_folder(folder)).reason();
}

bool holds(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

const std::filesystem::path emulated = MILLRACE_EMULATED_CUDA;

/// Where a system has its own, a folder without libraries is enough.
bool system_has(const char* library) {
  void* const handle = ::dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle != nullptr) ::dlclose(handle);
  return handle != nullptr;
}

TEST(CudaSettings, an_unknown_key_is_answered_with_the_known_ones_and_the_nearest) {
  const std::string text = message_for({{"cudn", "1"}});
  EXPECT_TRUE(holds(text, "engine option of cuda: cudn: there is no such option")) << text;
  EXPECT_TRUE(holds(text, "known are cublas, cudnn, wait")) << text;
  EXPECT_TRUE(holds(text, "did you mean 'cudnn'?")) << text;
}

TEST(CudaSettings, a_wrong_value_is_answered_with_those_there_are) {
  EXPECT_TRUE(holds(message_for({{"cudnn", "yes"}}), "cudnn=yes: expected 0 or 1"));
  EXPECT_TRUE(holds(message_for({{"cublas", ""}}), "cublas=: expected 0 or 1"));
  EXPECT_TRUE(holds(message_for({{"wait", "Spin"}}), "wait=Spin: expected sleep or spin"));
}

TEST(CudaSettings, of_each_word_is_what_it_says) {
  const Settings settings =
      read_settings(with({{"cudnn", "0"}, {"cublas", "0"}, {"wait", "spin"}}));
  EXPECT_FALSE(settings.cudnn);
  EXPECT_FALSE(settings.cublas);
  EXPECT_TRUE(settings.spins);
  EXPECT_EQ(to_text(settings), "cudnn=0, cublas=0, wait=spin");
}

TEST(CudaSettings, that_are_the_usual_ones_have_no_text) {
  EXPECT_EQ(to_text(read_settings({})), "");
  EXPECT_EQ(to_text(read_settings(with({{"cudnn", "1"}, {"cublas", "1"}, {"wait", "sleep"}}))), "");
}

TEST(CudaSettings, that_change_what_runs_are_a_part_of_the_version) {
  EXPECT_FALSE(holds(make(emulated_gpu())->version(), "cudnn"));
  EXPECT_TRUE(holds(make(with({{"cudnn", "0"}}))->version(), ", cudnn=0"));
  EXPECT_TRUE(holds(make(with({{"wait", "spin"}}))->version(), ", wait=spin"));
}

TEST(CudaSettings, are_refused_before_a_library_is_looked_for) {
  EngineOptions options = in_folder("/no/such/folder");
  options.settings["cuda"] = {{"wait", "a minute"}};
  EXPECT_TRUE(holds(test::message_of([&] { can_start(options); }), "expected sleep or spin"));
  EXPECT_TRUE(holds(test::message_of([&] { make(options); }), "expected sleep or spin"));
}

TEST(CudaSettings, to_spin_keep_the_calling_thread_from_sleeping) {
  const board::Processor gpu{"gpu0", board::ProcessorKind::gpu, {}};
  EXPECT_TRUE(make(emulated_gpu())->traits(gpu)->lets_caller_sleep);
  EXPECT_FALSE(make(with({{"wait", "spin"}}))->traits(gpu)->lets_caller_sleep);
}

TEST(CudaLibraries, are_looked_for_in_the_named_folder_and_packages_in_it_alone) {
  const std::vector<std::filesystem::path> folders = library_folders(emulated_gpu());
  EXPECT_EQ(folders.front(), emulated);
  EXPECT_EQ(folders.at(1), emulated / "nvidia" / "cu13" / "lib");
  for (const std::filesystem::path& each : folders)
    EXPECT_TRUE(each.string().starts_with(emulated.string())) << each;
  EXPECT_TRUE(can_start(emulated_gpu()));
}

TEST(CudaLibraries, in_a_folder_that_is_not_there_are_missed_by_its_name) {
  const std::string text = reason_in("/no/such/folder");
  EXPECT_TRUE(holds(text, "/no/such/folder is no folder with NVIDIA's libraries")) << text;
  EXPECT_TRUE(holds(text, "tools/fetch_engines.py cuda")) << text;
  EXPECT_THROW(make(in_folder("/no/such/folder")), EngineError);
  EXPECT_TRUE(devices(in_folder("/no/such/folder")).empty());
}

TEST(CudaLibraries, named_by_a_file_instead_of_a_folder_are_refused) {
  const std::string text = reason_in(emulated / "libcuda.so.1");
  EXPECT_TRUE(holds(text, "libcuda.so.1 is no folder with NVIDIA's libraries")) << text;
}

TEST(CudaLibraries, missing_in_a_folder_are_named) {
  if (system_has("libcuda.so.1")) GTEST_SKIP() << "this system has a driver of NVIDIA's";
  const test::TemporaryFolder folder;
  const std::string text = reason_in(folder.path());
  EXPECT_TRUE(holds(text, "the library libcuda.so.1 is not found")) << text;
  EXPECT_TRUE(holds(text, "install NVIDIA's driver")) << text;
}

TEST(CudaLibraries, without_a_compiler_are_not_enough) {
  if (system_has("libnvrtc.so.12")) GTEST_SKIP() << "this system has NVRTC";
  const test::TemporaryFolder folder;
  std::filesystem::create_symlink(emulated / "libcuda.so.1", folder / "libcuda.so.1");
  const std::string text = reason_in(folder.path());
  EXPECT_TRUE(holds(text, "the library libnvrtc.so.13 or libnvrtc.so.12")) << text;
  EXPECT_TRUE(holds(text, "is not found")) << text;
}

TEST(CudaLibraries, that_are_something_else_are_refused_with_the_loaders_reason) {
  if (system_has("libcuda.so.1")) GTEST_SKIP() << "this system has a driver of NVIDIA's";
  const test::TemporaryFolder folder;
  std::ofstream(folder / "libcuda.so.1") << "no library, though its file has the name of one";
  const std::string text = reason_in(folder.path());
  EXPECT_TRUE(holds(text, "the library libcuda.so.1 is not found; ")) << text;
  EXPECT_TRUE(holds(text, (folder / "libcuda.so.1").string())) << text;
}

TEST(CudaLibraries, of_another_version_are_refused_with_the_function_they_lack) {
  const test::TemporaryFolder folder;
  std::filesystem::create_symlink(emulated / "libnvrtc.so.12", folder / "libcuda.so.1");
  const std::string text = reason_in(folder.path());
  EXPECT_TRUE(holds(text, "has no function cuInit: it is of another version")) << text;
}

TEST(CudaDevices, that_are_missing_keep_the_engine_from_starting) {
  const DriverVariable none("MILLRACE_TEST_CUDA_DEVICES", "0");
  const std::string text = can_start(emulated_gpu()).reason();
  EXPECT_TRUE(holds(text, "no CUDA-capable device is detected")) << text;
  EXPECT_TRUE(devices(emulated_gpu()).empty());
  EXPECT_THROW(make(emulated_gpu()), EngineError);
}

TEST(CudaDevices, are_gpu0_and_so_on_with_their_model_driver_and_memory) {
  const DriverVariable two("MILLRACE_TEST_CUDA_DEVICES", "2");
  const DriverVariable memory("MILLRACE_TEST_CUDA_MEMORY", "1048576");
  const std::vector<ReachedDevice> reached = devices(emulated_gpu());
  ASSERT_EQ(reached.size(), 2u);
  for (const std::size_t i : {0u, 1u}) {
    const board::Device& device = reached[i].device;
    EXPECT_EQ(device.name, "gpu" + std::to_string(i));
    EXPECT_EQ(device.kind, board::ProcessorKind::gpu);
    EXPECT_EQ(device.model, "Emulated GPU");
    EXPECT_EQ(board::processors_of(device).size(), 1u);
    EXPECT_EQ(reached[i].engine, "cuda");
    EXPECT_EQ(reached[i].driver, "CUDA 12.4");
    EXPECT_EQ(reached[i].memory, millrace::Bytes{1 << 20});
  }
}

TEST(CudaDevices, that_are_not_reached_are_refused_with_those_that_are) {
  const DriverVariable two("MILLRACE_TEST_CUDA_DEVICES", "2");
  const std::unique_ptr<Engine> engine = make(emulated_gpu());
  EXPECT_TRUE(engine->traits({"gpu1", board::ProcessorKind::gpu, {}}));
  for (const board::Processor& other :
       std::vector<board::Processor>{{"gpu2", board::ProcessorKind::gpu, {}},
                                     {"npu0", board::ProcessorKind::npu, {}},
                                     board::this_machine().processors.front()}) {
    EXPECT_FALSE(engine->traits(other)) << other.name;
    const Verdict verdict = engine->supports(network::Network{}, LayerId(0), other);
    EXPECT_EQ(verdict.reason(),
              "the engine cuda does not reach " + other.name + "; it reaches gpu0 to gpu1");
  }
}

}  // namespace
}  // namespace millrace::engine::cuda
