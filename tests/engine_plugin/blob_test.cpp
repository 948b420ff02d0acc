#include "engine/plugin/blob.h"

#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "base/file.h"
#include "engine/plugin/plugin.h"
#include "faulty_engine.h"
#include "support/message_of.h"
#include "support/network_builder.h"

namespace millrace::test {
namespace {

using engine::EngineOptions;

network::Network one_convolution(std::uint64_t seed = 1) {
  NetworkBuilder b(seed);
  b.output(b.conv(b.input({1, 3, 6, 6}), 4, window(1)));
  return b.build();
}

void prepare(const std::filesystem::path& library, const EngineOptions& options,
             const network::Network& network = one_convolution()) {
  const board::Processor npu{"npu0", board::ProcessorKind::npu, {}};
  engine::plugin::make_from(library, options)->prepare(engine::whole_network(network, npu));
}

/// How often a compiler was at work: the example tells once.
struct Counted {
  int compiled = 0;
  EngineOptions options(const std::filesystem::path& cache) {
    EngineOptions options;
    options.compiled = cache;
    options.compiling = [this](double) { return ++compiled > 0; };
    return options;
  }
};

/// The folder of a bundle with the blob of one_convolution().
void fill(const std::filesystem::path& folder) {
  EngineOptions options;
  options.take_blob = [&](const std::string& name, const std::string& file) {
    write_file(folder / name, file);
  };
  prepare(MILLRACE_EXAMPLE_ENGINE, options);
}

std::filesystem::path only_file_in(const std::filesystem::path& folder) {
  return std::filesystem::directory_iterator(folder)->path();
}

TEST(Blob, is_compiled_once_for_the_same_content) {
  TemporaryFolder cache;
  Counted counted;
  prepare(MILLRACE_EXAMPLE_ENGINE, counted.options(cache.path()));
  prepare(MILLRACE_EXAMPLE_ENGINE, counted.options(cache.path()));
  EXPECT_EQ(counted.compiled, 1);
  prepare(MILLRACE_EXAMPLE_ENGINE, counted.options(cache.path()), one_convolution(2));
  EXPECT_EQ(counted.compiled, 2) << "other weights";
}

TEST(Blob, is_compiled_again_for_another_version) {
  TemporaryFolder cache;
  Counted counted;
  prepare(MILLRACE_EXAMPLE_ENGINE, counted.options(cache.path()));
  const FaultyEngine other("other_sdk");
  prepare(other.file(), counted.options(cache.path()));
  EXPECT_EQ(counted.compiled, 2);
}

TEST(Blob, of_a_bundle_is_not_compiled_again) {
  TemporaryFolder folder;
  fill(folder.path());
  Counted counted;
  EngineOptions options = counted.options({});
  options.blobs = folder.path();
  prepare(MILLRACE_EXAMPLE_ENGINE, options);
  EXPECT_EQ(counted.compiled, 0);
}

TEST(Blob, of_another_version_or_device_is_refused_with_both) {
  TemporaryFolder folder;
  fill(folder.path());
  const EngineOptions options{.blobs = folder.path()};
  const FaultyEngine sdk("other_sdk");
  EXPECT_NE(message_of<InputError>([&] { prepare(sdk.file(), options); })
                .find("was compiled with version 1 of example, here is 2"),
            std::string::npos);
  const FaultyEngine model("other_model");
  EXPECT_NE(message_of<InputError>([&] { prepare(model.file(), options); })
                .find("was compiled for example NPU, here is other NPU"),
            std::string::npos);
}

TEST(Blob, that_is_truncated_or_damaged_is_refused) {
  TemporaryFolder folder;
  fill(folder.path());
  const std::filesystem::path file = only_file_in(folder.path());
  const std::string whole = read_file(file);
  const auto message = [&](const std::string& content) {
    write_file(file, content);
    return message_of<InputError>(
        [&] { prepare(MILLRACE_EXAMPLE_ENGINE, {.blobs = folder.path()}); });
  };
  for (const std::size_t size : {std::size_t{20}, whole.size() / 2, whole.size() - 1})
    EXPECT_NE(message(whole.substr(0, size)).find("is truncated"), std::string::npos) << size;
  std::string damaged = whole;
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  EXPECT_NE(message(damaged).find("is damaged"), std::string::npos);
  EXPECT_NE(message("text").find("is no blob"), std::string::npos);
}

TEST(Blob, is_made_for_a_device_that_is_not_here) {
  const FaultyEngine absent("absent");
  const auto engine = engine::plugin::make_from(absent.file(), {});
  const EngineOptions options{.libraries = {{"example", absent.file()}}};
  EXPECT_TRUE(engine::plugin::devices("example", options).empty());
  const network::Network network = one_convolution();
  const board::Processor npu{"npu0", board::ProcessorKind::npu, {}};
  const auto subnet = engine->prepare(engine::whole_network(network, npu));
  EXPECT_NE(message_of<EngineError>([&] { subnet->run({}, {}); }).find("npu0 is not here"),
            std::string::npos);
}

TEST(Blob, ends_when_somebody_asks_for_it) {
  EngineOptions options;
  options.compiling = [](double) { return false; };
  EXPECT_NE(message_of<EngineError>([&] { prepare(MILLRACE_EXAMPLE_ENGINE, options); })
                .find("compile() for npu0: interrupted"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace::test
