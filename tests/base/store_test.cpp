#include "base/store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/files/removal.h"
#include "support/temporary_folder.h"

namespace millrace {
namespace {

constexpr Bytes plenty{1 << 20};

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string text_of(const std::optional<Stored>& stored) {
  if (!stored) return "nothing";
  return {reinterpret_cast<const char*>(stored->bytes.data()), stored->bytes.size()};
}

class StoreTest : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& key) const { return folder / (key + ".stored"); }

  test::TemporaryFolder folder;
  Store store{folder.path(), plenty};
};

TEST_F(StoreTest, what_one_keeps_another_finds) {
  EXPECT_FALSE(store.find("a"));
  store.keep("a", bytes("content"));
  EXPECT_EQ(text_of(Store(folder.path(), plenty).find("a")), "content");
  EXPECT_FALSE(store.find("b"));
}

TEST_F(StoreTest, content_is_aligned_and_outlives_its_file) {
  store.keep("a", bytes("content"));
  const auto found = store.find("a");
  ASSERT_TRUE(found);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(found->bytes.data()) % 64, 0u);
  store.shrink({});
  EXPECT_FALSE(store.find("a"));
  EXPECT_EQ(text_of(found), "content");
}

TEST_F(StoreTest, a_file_with_any_byte_changed_is_not_found_and_then_replaced) {
  store.keep("a", bytes("content"));
  const std::string good = read_file(file("a"));
  for (const std::size_t at : {std::size_t{0}, std::size_t{8}, std::size_t{16}, std::size_t{24},
                               std::size_t{32}, std::size_t{64}, good.size() - 1}) {
    std::string damaged = good;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    write_file(file("a"), damaged);
    EXPECT_FALSE(store.find("a")) << "byte " << at;
  }
  store.keep("a", bytes("content"));
  EXPECT_EQ(text_of(store.find("a")), "content");
}

TEST_F(StoreTest, a_file_of_any_other_length_is_not_found) {
  store.keep("a", bytes("content"));
  const std::string good = read_file(file("a"));
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{5}, std::size_t{64}, good.size() - 1}) {
    write_file(file("a"), good.substr(0, size));
    EXPECT_FALSE(store.find("a")) << size << " bytes";
  }
  write_file(file("a"), good + "x");
  EXPECT_FALSE(store.find("a"));
}

TEST_F(StoreTest, a_file_with_the_name_of_another_is_not_found) {
  store.keep("a", bytes("content a"));
  store.keep("b", bytes("content b"));
  const std::string a = read_file(file("a"));
  write_file(file("a"), read_file(file("b")));
  write_file(file("b"), a);
  EXPECT_FALSE(store.find("a"));
  EXPECT_FALSE(store.find("b"));
}

TEST_F(StoreTest, a_folder_that_cannot_be_written_is_told_once) {
  write_file(folder / "file", "in the way");
  std::vector<std::string> complaints;
  Store unwritable(folder / "file" / "store", plenty,
                   [&](const std::string& reason) { complaints.push_back(reason); });
  unwritable.keep("a", bytes("content"));
  unwritable.keep("b", bytes("content"));
  EXPECT_FALSE(unwritable.find("a"));
  ASSERT_EQ(complaints.size(), 1u);
  EXPECT_NE(complaints[0].find("cannot be written"), std::string::npos) << complaints[0];
}

TEST_F(StoreTest, a_full_disk_leaves_nothing_behind) {
  std::vector<std::string> complaints;
  Store full("/dev/full", plenty, [&](const std::string& reason) { complaints.push_back(reason); });
  full.keep("a", bytes("content"));
  EXPECT_EQ(complaints.size(), 1u);
  EXPECT_FALSE(full.find("a"));
}

TEST_F(StoreTest, the_longest_unused_go_when_it_grows_too_large) {
  const std::string content(1000, 'x');
  {
    Store small(folder.path(), {2500});
    for (const char* key : {"a", "b", "c"}) small.keep(key, bytes(content));
    const auto now = std::filesystem::file_time_type::clock::now();
    std::filesystem::last_write_time(file("a"), now - std::chrono::hours(72));
    std::filesystem::last_write_time(file("b"), now - std::chrono::hours(48));
    EXPECT_TRUE(small.find("a"));  // which is a use
  }
  EXPECT_TRUE(store.find("a"));
  EXPECT_FALSE(store.find("b"));
  EXPECT_TRUE(store.find("c"));
  EXPECT_EQ(store.contents().files, 2);
}

TEST_F(StoreTest, other_files_in_the_folder_are_left_alone) {
  write_file(folder / "notes.txt", "mine");
  store.keep("a", bytes("content"));
  store.shrink({});
  EXPECT_EQ(read_file(folder / "notes.txt"), "mine");
  EXPECT_EQ(store.contents().files, 0);
}

TEST_F(StoreTest, what_a_killed_process_left_goes_but_not_what_one_is_writing) {
  write_file(folder / "a.stored.Xy12ab", "");
  write_file(folder / "b.stored.Xy12ab", "half");
  const int writer = ::open((folder / "b.stored.Xy12ab").c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(writer, LOCK_EX | LOCK_NB), 0);
  store.shrink({});
  EXPECT_FALSE(std::filesystem::exists(folder / "a.stored.Xy12ab"));
  EXPECT_TRUE(std::filesystem::exists(folder / "b.stored.Xy12ab"));
  ::close(writer);
  store.shrink({});
  EXPECT_FALSE(std::filesystem::exists(folder / "b.stored.Xy12ab"));
}

/// Keeps the same content under the same keys again and again; true if all found was whole.
bool keep_and_find(const std::filesystem::path& folder) {
  Store own(folder, plenty);
  bool whole = true;
  for (int i = 0; i < 200; ++i) {
    const std::string key(1, static_cast<char>('a' + i % 4)), content(5000, key[0]);
    const auto found = own.find(key);
    whole = whole && (!found || text_of(found) == content);
    own.keep(key, bytes(content));
  }
  return whole;
}

TEST_F(StoreTest, processes_and_threads_that_keep_the_same_do_not_disturb_each_other) {
  std::vector<pid_t> children;
  for (int i = 0; i < 2; ++i) {
    children.push_back(::fork());
    if (children.back() == 0) ::_exit(keep_and_find(folder.path()) ? 0 : 1);
  }
  std::vector<char> whole(2);
  {
    std::vector<std::jthread> threads;
    for (char& answer : whole)
      threads.emplace_back([&] { answer = keep_and_find(folder.path()) ? 1 : 0; });
  }
  EXPECT_TRUE(std::ranges::all_of(whole, [](char answer) { return answer == 1; }));
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(store.contents().files, 4);
}

TEST_F(StoreTest, what_is_no_file_is_not_there_and_is_replaced) {
  mkfifo(file("pipe").c_str(), 0600);
  std::filesystem::create_symlink("nowhere", file("link"));
  for (const char* name : {"pipe", "link"}) {
    EXPECT_FALSE(store.find(name));
    store.keep(name, bytes("content"));
    EXPECT_EQ(text_of(store.find(name)), "content");
  }
}

TEST_F(StoreTest, clearing_says_what_went_and_what_stayed) {
  store.keep("a", bytes("content"));
  mkfifo(file("pipe").c_str(), 0600);
  mkfifo((folder / "b.stored.Xy12ab").c_str(), 0600);
  std::filesystem::create_symlink("nowhere", file("link"));
  std::filesystem::create_directories(file("full") / "x");
  mkfifo((folder / "foreign").c_str(), 0600);
  const Removal removal = clear_store(folder.path());
  EXPECT_EQ(removal.files, 4);
  EXPECT_EQ(removal.size, Bytes{64 + 7});
  EXPECT_TRUE(removal.failed);
  std::vector<std::string> left = removal.left;
  std::ranges::sort(left);
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0], (folder / "foreign").string() + ": is nothing that the cache keeps");
  EXPECT_EQ(left[1], file("full").string() + ": cannot be removed: Directory not empty");
}

}  // namespace
}  // namespace millrace
