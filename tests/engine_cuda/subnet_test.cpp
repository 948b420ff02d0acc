// What the tests of all engines do not see: a whole network, threads, times, errors. The driver is
// emulated: kernels compute on the host.
#include "engine/cuda/cuda.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <thread>

#include "base/error.h"
#include "emulated_gpu.h"
#include "prepared.h"
#include "support/temporary_folder.h"

namespace millrace::engine::cuda {
namespace {

using network::Array;
using network::DataType;
using network::Network;

TEST(CudaSubnets, give_the_results_of_the_loops) {
  const std::unique_ptr<Engine> engine = make(emulated_gpu());
  const Network network = branches();
  Prepared whole(*engine, network);
  whole.run();
  EXPECT_LE(largest_error(whole, network), 1e-5);
}

TEST(CudaSubnets, give_them_while_the_calling_thread_spins_too) {
  EngineOptions options = emulated_gpu();
  options.settings["cuda"]["wait"] = "spin";
  const std::unique_ptr<Engine> engine = make(options);
  const Network network = branches();
  Prepared whole(*engine, network);
  whole.run();
  EXPECT_LE(largest_error(whole, network), 1e-5);
}

TEST(CudaSubnets, are_prepared_and_run_by_several_threads_at_once) {
  const std::unique_ptr<Engine> engine = make(emulated_gpu());
  const Network network = branches();
  const Array expected = network::evaluate(network, network::random_inputs(network, 5)).front();
  std::array<double, 4> errors{};
  {
    std::vector<std::jthread> threads;
    for (double& error : errors)
      threads.emplace_back([&] {
        Prepared whole(*engine, network);
        for (int i = 0; i < 3; ++i) whole.run();
        error = largest_error(whole.outputs[0], expected);
      });
  }
  for (const double error : errors) EXPECT_LE(error, 1e-5);
}

TEST(CudaSubnets, are_run_and_released_by_other_threads_than_the_one_that_prepared_them) {
  const std::unique_ptr<Engine> engine = make(emulated_gpu());
  const Network network = branches();
  auto whole = std::make_unique<Prepared>(*engine, network);
  std::jthread([&] { whole->run(); }).join();
  EXPECT_LE(largest_error(*whole, network), 1e-5);
  std::jthread([&] { whole.reset(); }).join();
  Prepared(*engine, network).run();
}

TEST(CudaSubnets, are_given_other_memory_at_each_run) {
  const std::unique_ptr<Engine> engine = make(emulated_gpu());
  const Network network = one_relu(4);
  Prepared whole(*engine, network);
  for (const float value : {1.0f, 2.0f, 3.0f}) {
    const std::vector<float> values(4, value);
    const Array input = network::make_array<float>(DataType::float32, {4}, values);
    network::Buffer output{millrace::Bytes{16}};
    const std::vector<const std::byte*> in{input.memory->data()};
    const std::vector<std::byte*> out{output.data()};
    whole.subnet->run(in, out);
    EXPECT_EQ(reinterpret_cast<const float*>(output.data())[3], value);
  }
}

TEST(CudaSubnets, take_inputs_of_any_size_whole) {
  const std::unique_ptr<Engine> engine = make(emulated_gpu());
  for (const std::int64_t count : {1, 65536, 65537, 200003}) {  // 256 KiB are 65536 elements
    const Network network = one_relu(count);
    Prepared whole(*engine, network);
    whole.run();
    EXPECT_EQ(largest_error(whole, network), 0) << count;
  }
}

TEST(CudaSubnets, of_equal_weights_share_them_on_the_gpu) {
  const std::unique_ptr<Engine> engine = make(emulated_gpu());
  test::NetworkBuilder builder;
  const TensorId weights = builder.constant({512, 512});  // 1 MiB
  builder.output(builder.layer(network::MatMul{}, {builder.input({1, 512}), weights}, {1, 512}));
  const Network network = builder.build();
  const DriverVariable memory("MILLRACE_TEST_CUDA_MEMORY", std::to_string(3 << 19));  // 1.5 MiB
  Prepared first(*engine, network), second(*engine, network);
  for (Prepared* each : {&first, &second}) {
    each->run();
    EXPECT_LE(largest_error(*each, network), 1e-5);
  }
  EXPECT_EQ(second.subnet->memory().weights, millrace::Bytes{1 << 20});
}

TEST(CudaSubnets, tell_the_times_of_groups_that_cover_each_layer_once) {
  const std::unique_ptr<Engine> engine = make(emulated_gpu());
  const Network network = branches();
  Prepared whole(*engine, network);
  for (int run = 0; run < 2; ++run) {
    const std::vector<GroupTime> times = whole.subnet->run_timed(whole.in, whole.out);
    std::vector<LayerId> layers;
    for (const GroupTime& group : times) {
      EXPECT_FALSE(group.kernel.empty());
      EXPECT_GE(group.time, Time{});
      layers.insert(layers.end(), group.layers.begin(), group.layers.end());
    }
    std::sort(layers.begin(), layers.end());
    EXPECT_EQ(layers, whole_network(network, gpu0).layers);
    EXPECT_LE(largest_error(whole, network), 1e-5);
  }
  whole.run();
  EXPECT_LE(largest_error(whole, network), 1e-5);
}

TEST(CudaSubnets, that_fail_name_the_first_layer_the_processor_and_what_the_driver_says) {
  const std::unique_ptr<Engine> engine = make(emulated_gpu());
  const Network network = branches();
  Prepared whole(*engine, network);
  const std::string expected =
      "layer0 and the layers after it on gpu0: CUDA reports 'unspecified launch failure' "
      "(CUDA_ERROR_LAUNCH_FAILED)";
  {
    const DriverVariable second("MILLRACE_TEST_CUDA_FAIL_AFTER", "2");
    EXPECT_EQ(error_of([&] { whole.run(); }), "no error");
    EXPECT_EQ(error_of([&] { whole.run(); }), expected);
    EXPECT_EQ(error_of([&] { whole.subnet->run_timed(whole.in, whole.out); }), expected);
  }
  whole.run();
  EXPECT_LE(largest_error(whole, network), 1e-5);
}

TEST(CudaSubnets, of_one_layer_are_named_by_it_alone) {
  const std::unique_ptr<Engine> engine = make(emulated_gpu());
  const Network network = one_relu(4);
  Prepared whole(*engine, network);
  const DriverVariable first("MILLRACE_TEST_CUDA_FAIL_AFTER", "1");
  const std::string text = error_of([&] { whole.run(); });
  EXPECT_EQ(text.find("layer0 on gpu0: CUDA reports "), 0u) << text;
}

TEST(CudaSubnets, too_large_for_the_gpu_say_what_they_need_and_what_is_free) {
  const std::unique_ptr<Engine> engine = make(emulated_gpu());
  const Network network = one_relu(1 << 18);  // 1 MiB in, 1 MiB out
  {
    const DriverVariable memory("MILLRACE_TEST_CUDA_MEMORY", std::to_string(1 << 20));
    EXPECT_EQ(error_of([&] { Prepared whole(*engine, network); }),
              "layer0 on gpu0: 2.00 MiB of memory are needed, but only 1.00 MiB of the GPU's 1.00 "
              "MiB are free");
  }
  Prepared whole(*engine, network);
  whole.run();
  EXPECT_EQ(largest_error(whole, network), 0);
}

TEST(CudaSubnets, that_were_too_large_leave_no_memory_behind) {
  const std::unique_ptr<Engine> engine = make(emulated_gpu());
  test::NetworkBuilder builder;
  const TensorId weights = builder.constant({256, 256});  // 256 KiB
  const TensorId x = builder.input({1024, 256});          // 1 MiB
  builder.output(builder.layer(network::MatMul{}, {x, weights}, {1024, 256}));
  const Network network = builder.build();
  const DriverVariable memory("MILLRACE_TEST_CUDA_MEMORY", std::to_string(1 << 20));
  const std::string first = error_of([&] { Prepared whole(*engine, network); });
  EXPECT_NE(first.find("but only 768 KiB of the GPU's 1.00 MiB are free"), std::string::npos)
      << first;
  EXPECT_EQ(error_of([&] { Prepared whole(*engine, network); }), first);
}

TEST(CudaSubnets, fail_for_an_index_out_of_range_and_are_right_again_with_good_ones) {
  const std::unique_ptr<Engine> engine = make(emulated_gpu());
  test::NetworkBuilder builder;
  const TensorId data = builder.input({5, 3}), indices = builder.input({2}, DataType::int64);
  builder.output(builder.layer(network::Gather{0}, {data, indices}, {2, 3}));
  const Network network = builder.build();
  Prepared whole(*engine, network);
  const auto run_with = [&](std::array<std::int64_t, 2> values) {
    whole.inputs[1] = network::make_array<std::int64_t>(DataType::int64, {2}, values);
    whole.in[1] = whole.inputs[1].memory->data();
    return error_of([&] { whole.run(); });
  };
  for (const std::int64_t wrong : {std::int64_t{5}, std::int64_t{-6}, std::int64_t{1} << 40}) {
    const std::string text = run_with({1, wrong});
    EXPECT_NE(text.find("layer0 on gpu0: "), std::string::npos) << text;
    EXPECT_NE(text.find("an index is not within the 5 elements of the axis"), std::string::npos)
        << text;
    EXPECT_EQ(run_with({4, -5}), "no error");
    EXPECT_EQ(largest_error(whole, network), 0);
  }
  EXPECT_NE(run_with({5, 0}), "no error");
  EXPECT_NE(error_of([&] { whole.subnet->run_timed(whole.in, whole.out); }), "no error");
}

TEST(CudaSubnets, that_read_damaged_kernels_replace_them) {
  const test::TemporaryFolder folder;
  EngineOptions options = emulated_gpu();
  options.compiled = folder.path();
  const Network network = branches();
  const auto files = [&] {
    std::map<std::filesystem::path, std::string> texts;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "cuda")) {
      std::ifstream file(entry.path(), std::ios::binary);
      texts[entry.path()] = {std::istreambuf_iterator<char>(file), {}};
    }
    return texts;
  };
  Prepared(*make(options), network).run();
  const auto kept = files();
  ASSERT_FALSE(kept.empty());
  for (const auto& [path, text] : kept) {
    std::string damaged = text;
    damaged.back() ^= 1;
    std::ofstream(path, std::ios::binary) << damaged;
  }
  std::filesystem::resize_file(kept.begin()->first, 3);
  ASSERT_NE(files(), kept);
  const std::unique_ptr<Engine> engine = make(options);
  Prepared whole(*engine, network);
  whole.run();
  EXPECT_LE(largest_error(whole, network), 1e-5);
  EXPECT_EQ(files(), kept);
}

TEST(CudaSubnets, are_prepared_though_compiled_kernels_cannot_be_kept) {
  EngineOptions options = emulated_gpu();
  options.compiled = "/proc/no_such_folder";
  const std::unique_ptr<Engine> engine = make(options);
  Prepared(*engine, branches()).run();
}

TEST(CudaSubnets, run_on_each_of_two_gpus) {
  const DriverVariable two("MILLRACE_TEST_CUDA_DEVICES", "2");
  const std::unique_ptr<Engine> engine = make(emulated_gpu());
  const Network network = branches();
  Prepared first(*engine, network, gpu0), second(*engine, network, gpu1);
  for (Prepared* each : {&first, &second, &first}) {
    std::ranges::for_each(each->outputs,
                          [](network::Buffer& b) { std::ranges::fill(b.bytes(), std::byte{}); });
    each->run();
    EXPECT_LE(largest_error(*each, network), 1e-5);
  }
  const DriverVariable failing("MILLRACE_TEST_CUDA_FAIL_AFTER", "1");
  const std::string text = error_of([&] { second.run(); });
  EXPECT_NE(text.find(" on gpu1: "), std::string::npos) << text;
}

}  // namespace
}  // namespace millrace::engine::cuda
