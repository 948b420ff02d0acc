#include "remote/command_line.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace millrace::remote {
namespace {

namespace fs = std::filesystem;

constexpr OptionUse word_alone{.reads = true};

class Splitter {
 public:
  Splitter(const UseOf& use_of, NeededFile belonging)
      : use_of_(use_of), belonging_(std::move(belonging)) {}

  void take(const std::string& word) {
    if (expected_) return take_value("", word, *std::exchange(expected_, std::nullopt));
    const bool is_option = word.size() > 1 && word.front() == '-';
    if (!is_option) return take_value("", word, word_alone);
    const bool is_long = word.starts_with("--");
    const std::size_t end = is_long ? std::min(word.find('='), word.size()) : 2;
    const OptionUse use = use_of_(word.substr(0, end));
    const std::size_t begin = end + (is_long && end < word.size() ? 1 : 0);
    const bool has_value = begin > end || (!is_long && end < word.size());
    if (use.takes_value && has_value)
      return take_value(word.substr(0, begin), word.substr(begin), use);
    if (use.takes_value) expected_ = use;
    if (!use.is_ours) command.words.push_back({word});
  }

  Command command;

 private:
  void take_value(const std::string& before, const std::string& value, const OptionUse& use) {
    if (use.is_ours) return;
    if (use.reads && read(before, value, use)) return;
    const bool is_file = use.writes && value != "-" && !value.starts_with("/dev/");
    if (!is_file) return command.words.push_back({before + value});
    command.words.push_back({before, value});
    write(value);
  }

  void write(const std::string& file) {
    const bool is_numbered = file.ends_with(".npy");
    command.writes.push_back(
        {file, is_numbered ? Written::Kind::numbered : Written::Kind::file});
    command.writes.push_back({file, Written::Kind::tree});  // some write a folder there
  }

  /// Whether there is such a file; also of NAME=FILE.
  bool read(const std::string& before, const std::string& value, const OptionUse& use) {
    std::error_code error;
    const std::size_t equals = fs::exists(value, error) ? value.npos : value.find('=');
    const std::size_t begin = equals == value.npos ? 0 : equals + 1;
    const std::string file = value.substr(begin);
    if (file.empty() || file.starts_with("/dev/") || !fs::exists(file, error)) return false;
    command.words.push_back({before + value.substr(0, begin), file});
    NeededFile needed = belonging_;
    needed.file = file;
    add_needs(needed, command);
    if (use.writes) write(file);
    return true;
  }

  const UseOf& use_of_;
  NeededFile belonging_;
  std::optional<OptionUse> expected_;  // whose value is the next word
};

}  // namespace

Command command_of(const std::vector<std::string>& words, const UseOf& use_of,
                   const NeededFile& belonging) {
  Splitter splitter(use_of, belonging);
  splitter.command.words.push_back({words.front()});
  for (std::size_t i = 1; i < words.size(); ++i) splitter.take(words[i]);
  return std::move(splitter.command);
}

}  // namespace millrace::remote
