#include "profile.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

#include "failure.h"

namespace millrace_onnxruntime {
namespace {

/// The file is an array of objects; each has texts, numbers, and an object with more of them.
class Json {
 public:
  explicit Json(std::string_view text) : text_(text) {}

  /// The members of the next event, those of its objects as "object.member". False: no more.
  bool next_event(std::map<std::string, std::string>& event) {
    event.clear();
    skip("[], \n\r\t");
    if (at_ >= text_.size() || text_[at_] != '{') return false;
    return object({}, event);
  }

 private:
  void skip(std::string_view letters) {
    at_ = std::min(text_.find_first_not_of(letters, at_), text_.size());
  }

  bool object(const std::string& before, std::map<std::string, std::string>& members) {
    ++at_;
    while (true) {
      skip(", \n\r\t");
      if (at_ >= text_.size()) return false;
      if (text_[at_] == '}') return ++at_, true;
      if (text_[at_] != '"') return false;
      const std::string key = before + string();
      skip(": \n\r\t");
      if (!value(key, members)) return false;
    }
  }

  bool value(const std::string& key, std::map<std::string, std::string>& members) {
    if (at_ >= text_.size()) return false;
    if (text_[at_] == '{') return object(key + ".", members);
    if (text_[at_] == '[') return array();
    if (text_[at_] == '"') {
      members[key] = string();
      return true;
    }
    const std::size_t end = std::min(text_.find_first_of(",}]", at_), text_.size());
    members[key] = text_.substr(at_, end - at_);
    at_ = end;
    return true;
  }

  /// Passed over: shapes and types, which nobody here reads.
  bool array() {
    int depth = 0;
    while (at_ < text_.size()) {
      const char letter = text_[at_];
      if (letter == '"') {
        string();
        continue;
      }
      ++at_;
      if (letter == '[' || letter == '{') ++depth;
      if ((letter == ']' || letter == '}') && --depth == 0) return true;
    }
    return false;
  }

  std::string string() {
    std::string result;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
      if (at_ < text_.size()) result += text_[at_];
    }
    ++at_;
    return result;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::vector<NodeTime> read_profile(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw LibraryFailure(file.string() + ": this profile cannot be read");
  std::ostringstream content;
  content << stream.rdbuf();
  const std::string text = content.str();
  constexpr std::string_view ending = "_kernel_time";
  std::vector<NodeTime> nodes;
  std::vector<std::vector<double>> times;
  std::map<std::string, std::size_t> known;
  std::map<std::string, std::string> event;
  for (Json json(text); json.next_event(event);) {
    std::string name = event["name"];
    if (event["cat"] != "Node" || !name.ends_with(ending)) continue;
    name.resize(name.size() - ending.size());
    const auto [at, is_new] = known.try_emplace(name, nodes.size());
    const std::string& kernel = event["args.op_name"];
    if (is_new) nodes.push_back({name, kernel.empty() ? "onnxruntime" : kernel});
    times.resize(nodes.size());
    times[at->second].push_back(std::strtod(event["dur"].c_str(), nullptr));
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].time = median(times[i]);
  return nodes;
}

}  // namespace millrace_onnxruntime
