#include "product/cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "base/file.h"
#include "engine/registry.h"
#include "product/heard.h"
#include "product/profile.h"
#include "support/network_builder.h"
#include "support/temporary_folder.h"

namespace millrace::product {
namespace {

using test::Heard;
using test::TemporaryFolder;

network::Network small_network() {
  test::NetworkBuilder builder;
  const TensorId x = builder.input({1, 4});
  builder.output(builder.unary(network::UnaryKind::relu, x));
  return builder.build();
}

/// Each test is a process of its own, so the folder is asked for once.
class Cache : public testing::Test {
 protected:
  Cache() { setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1); }

  profile::Profile load(bool fresh = false, bool cache = true) {
    ProfileSource source;
    source.fresh = fresh;
    source.measure.least = source.measure.most = 1;
    source.measure.duration = Time(1);
    source.context = {cache, &heard_};
    const board::Board board = board::only(board::this_machine(), {"core0"});
    return load_profile(small_network(), board, *engine_, source);
  }
  std::filesystem::path kept() const {
    std::filesystem::path found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path()))
      if (entry.path().string().ends_with(".profile.json")) found = entry.path();
    return found;
  }

  const TemporaryFolder folder_;
  Heard heard_;
  const std::unique_ptr<engine::Engine> engine_ = engine::make_engine("reference");
};

TEST_F(Cache, a_profile_is_measured_once) {
  const profile::Profile first = load();
  EXPECT_EQ(heard_.work.size(), 1u);
  EXPECT_EQ(load(), first);
  EXPECT_EQ(heard_.work.size(), 1u);
  EXPECT_EQ(cache_contents().profiles, 1u);
}

TEST_F(Cache, its_name_tells_network_engine_and_processors) {
  load();
  const std::string name = kept().filename();
  EXPECT_TRUE(name.starts_with(network::hash_of(small_network()).substr(0, 16))) << name;
  EXPECT_TRUE(name.ends_with("-reference-core0.profile.json")) << name;
}

TEST_F(Cache, fresh_measures_again) {
  load();
  load(true);
  EXPECT_EQ(heard_.work.size(), 2u);
  EXPECT_EQ(cache_contents().profiles, 1u);
}

TEST_F(Cache, a_damaged_profile_is_measured_again_and_said) {
  load();
  write_file(kept(), "{");
  load();
  EXPECT_TRUE(heard_.has_note("measuring again, the stored profile cannot be read"));
  EXPECT_EQ(heard_.work.size(), 2u);
}

TEST_F(Cache, without_it_nothing_is_kept) {
  load(false, false);
  load(false, false);
  EXPECT_EQ(heard_.work.size(), 2u);
  EXPECT_EQ(kept(), "");
}

TEST_F(Cache, a_folder_that_others_may_write_is_not_used) {
  std::filesystem::create_directory(folder_ / "millrace");
  std::filesystem::permissions(folder_ / "millrace", std::filesystem::perms::all);
  load();
  EXPECT_TRUE(heard_.has_note("others may write to"));
  EXPECT_EQ(kept(), "");
}

TEST_F(Cache, a_pipe_in_the_place_of_a_profile_is_replaced) {
  load();
  const std::filesystem::path path = kept();
  std::filesystem::remove(path);
  mkfifo(path.c_str(), 0600);
  load();
  EXPECT_TRUE(heard_.has_note("measuring again, the stored profile cannot be read"));
  EXPECT_TRUE(heard_.has_note("is a pipe or a device"));
  EXPECT_TRUE(std::filesystem::is_regular_file(path));
}

TEST_F(Cache, clearing_says_what_went_and_what_stayed) {
  load();
  const std::filesystem::path cache = folder_ / "millrace";
  mkfifo((cache / "a.profile.json").c_str(), 0600);
  std::filesystem::create_symlink("nowhere", cache / "b.profile.json");
  std::filesystem::create_directories(cache / "c.profile.json/x");
  mkfifo((cache / "other").c_str(), 0600);
  std::filesystem::create_directory(cache / "compiled");
  mkfifo((cache / "compiled/blob").c_str(), 0600);
  std::filesystem::remove_all(cache / "packed");
  mkfifo((cache / "packed").c_str(), 0600);
  const ClearedCache cleared = clear_cache();
  EXPECT_EQ(cleared.removed.profiles, 3u);
  EXPECT_TRUE(cleared.failed);
  std::vector<std::string> left = cleared.left;
  std::ranges::sort(left);
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0], (cache / "c.profile.json").string() +
                         ": cannot be removed: Directory not empty");
  EXPECT_EQ(left[1], (cache / "other").string() + ": is nothing that the cache keeps");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(cache), {}), 2);
}

TEST_F(Cache, what_engines_keep_is_not_read_beside_a_pipe) {
  std::filesystem::create_directories(folder_ / "millrace/compiled/onnxruntime");
  mkfifo((folder_ / "millrace/compiled/onnxruntime/blob").c_str(), 0600);
  EXPECT_TRUE(measuring_options({true, &heard_}).compiled.empty());
  EXPECT_TRUE(heard_.has_note("holds what is no file"));
}

TEST_F(Cache, clearing_leaves_nothing) {
  load();
  EXPECT_FALSE(clear_cache().failed);
  EXPECT_EQ(cache_contents().profiles, 0u);
}

}  // namespace
}  // namespace millrace::product
