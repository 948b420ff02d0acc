#include "application/jedi/jedi.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <libconfig.h++>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/utf8.h"

namespace millrace::application::jedi {
namespace {

constexpr std::size_t most_bytes = 256 * 1024;
constexpr int most_levels = 32;
constexpr int most_instances = 64;

constexpr std::array<std::string_view, 44> known{"app_type",
                                                 "aux_streams",
                                                 "batch",
                                                 "batch_thread_num",
                                                 "bin_path",
                                                 "buffer_num",
                                                 "calib_image_label_path",
                                                 "calib_image_path",
                                                 "calib_images_num",
                                                 "calib_table",
                                                 "cfg_path",
                                                 "cut_points",
                                                 "data_type",
                                                 "device_num",
                                                 "devices",
                                                 "dla_cores",
                                                 "dla_sram_sizes",
                                                 "fp16_ranges",
                                                 "fp32_ranges",
                                                 "gpu_ranges",
                                                 "image_label_path",
                                                 "image_norm_mean",
                                                 "image_norm_std",
                                                 "image_path",
                                                 "image_preprocessing",
                                                 "label_path",
                                                 "model_dir",
                                                 "model_type",
                                                 "name_path",
                                                 "names_path",
                                                 "network_name",
                                                 "offset",
                                                 "onnx_file_path",
                                                 "onnx_path",
                                                 "opencv_parallel_num",
                                                 "post_thread_num",
                                                 "pre_thread_num",
                                                 "sample_size",
                                                 "streams",
                                                 "timing_cache_path",
                                                 "instance_num",
                                                 "instances",
                                                 "configs",
                                                 "dla_sram_size"};

constexpr std::array<std::string_view, 8> own_applications{
    "YoloApplication",      "CenternetApplication",
    "YoloOnnxApplication",  "ImageClsOnnxApplication",
    "DETROnnxApplication",  "YoloEnd2EndOnnxApplication",
    "BasicOnnxApplication", "NuscenesDetectionOnnxApplication"};

[[noreturn]] void fail_at(const std::string& file, unsigned line, const std::string& text) {
  throw InputError(line == 0 ? file : fmt::format("{}: line {}", file, line), text);
}

/// Behind the text in quotation marks, the comment or the character that begins at `at`.
std::size_t end_of(const std::string& content, std::size_t at) {
  const auto behind = [&](std::string_view end, std::size_t from) {
    const std::size_t found = content.find(end, from);
    return found == content.npos ? content.size() : found + end.size();
  };
  if (content[at] == '#' || content.compare(at, 2, "//") == 0) return behind("\n", at);
  if (content.compare(at, 2, "/*") == 0) return behind("*/", at + 2);
  if (content[at] != '"') return at + 1;
  for (++at; at < content.size(); ++at) {
    if (content[at] == '"') return at + 1;
    if (content[at] == '\\') ++at;
  }
  return content.size();  // the library knows better where the mistake is
}

/// Brackets in texts and comments do not count.
void check_levels(const std::string& content, const std::string& file) {
  unsigned line = 1;
  int levels = 0;
  for (std::size_t at = 0; at < content.size();) {
    const char c = content[at];
    if (c == '(' || c == '[' || c == '{') ++levels;
    if (c == ')' || c == ']' || c == '}') --levels;
    if (levels > most_levels)
      fail_at(file, line, fmt::format("has more than {} levels of brackets", most_levels));
    const std::size_t end = end_of(content, at);
    line += static_cast<unsigned>(std::count(&content[at], &content[at] + (end - at), '\n'));
    at = end;
  }
}

/// Before the library sees it: it would open what a file includes, and end the program on some.
void check_text(const std::string& content, const std::string& file) {
  if (content.size() > most_bytes)
    throw InputError(file, fmt::format("has {} bytes, expected a configuration of at most {}",
                                       content.size(), most_bytes));
  if (content.find('\0') != std::string::npos)
    throw InputError(file, "holds a byte 0, expected a text in libconfig's format");
  if (const std::size_t at = content.find("@include"); at != content.npos)
    fail_at(file, static_cast<unsigned>(std::count(&content[0], &content[at], '\n') + 1),
            "includes another file, which is not read; put its settings here");
  check_levels(content, file);
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::optional<std::int64_t> whole(const std::string& text) {
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Numbers may stand there as such, though JEDI wants them in quotation marks.
std::string text_of(const libconfig::Setting& setting, const std::string& file) {
  std::string text;
  if (setting.getType() == libconfig::Setting::TypeString)
    text = trimmed(setting.c_str());
  else if (setting.getType() == libconfig::Setting::TypeInt)
    text = std::to_string(static_cast<int>(setting));
  else
    fail_at(file, setting.getSourceLine(),
            fmt::format("{}: expected a value in quotation marks", setting.getName()));
  if (!is_utf8(text))
    fail_at(file, setting.getSourceLine(),
            fmt::format("{}: holds a byte that is not UTF-8; save the file as UTF-8",
                        setting.getName()));
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (std::any_of(text.begin(), text.end(), is_control))
    fail_at(file, setting.getSourceLine(),
            fmt::format("{}: holds a control character", setting.getName()));
  return text;
}

Instance read_instance(const libconfig::Setting& group, const std::string& file) {
  const unsigned line = group.getSourceLine();
  if (!group.isGroup()) fail_at(file, line, "instances: expected { ... } for each application");
  Instance instance(file, line);
  for (int i = 0; i < group.getLength(); ++i)
    instance.add(group[i].getName(), {text_of(group[i], file), group[i].getSourceLine()});
  const std::string type = instance.text("app_type");
  if (!type.empty() && !is_own(type)) return instance;
  for (const auto& [key, setting] : instance.settings())
    if (const Key name = key_of(key); !name.known)
      fail_at(file, setting.line,
              fmt::format("'{}' is no key of JEDI's{}; correct or remove it", key, name.near));
  return instance;
}

const libconfig::Setting& needed(const libconfig::Setting& group, const char* key,
                                 const std::string& file) {
  if (!group.isGroup() || !group.exists(key)) {
    std::string found;
    if (group.isGroup())
      for (int i = 0; i < group.getLength(); ++i)
        found += fmt::format("{}'{}'", i == 0 ? "" : ", ", group[i].getName());
    fail_at(file, group.getSourceLine(),
            fmt::format("has no '{}' (found {}), expected configs = {{ instance_num = \"1\"; "
                        "instances = ( {{ ... }} ); }}",
                        key, found.empty() ? "nothing" : found));
  }
  return group[key];
}

Configuration read_root(const libconfig::Setting& root, const std::string& file) {
  Configuration result{file, {}, {}};
  const libconfig::Setting& configs = needed(root, "configs", file);
  const libconfig::Setting& number = needed(configs, "instance_num", file);
  const libconfig::Setting& instances = needed(configs, "instances", file);
  const std::string text = text_of(number, file);
  const auto wanted = whole(text);
  const int found = instances.isList() ? instances.getLength() : 0;
  if (!wanted || *wanted < 1 || *wanted > std::min(found, most_instances))
    fail_at(file, number.getSourceLine(),
            fmt::format("instance_num: found '{}', but there are {} instances; expected 1 to {}",
                        text, found, std::clamp(found, 1, most_instances)));
  for (int i = 0; i < *wanted; ++i) result.instances.push_back(read_instance(instances[i], file));
  if (found > *wanted)
    result.notes.push_back(fmt::format(
        "instance_num is {}, so that the last {} of {} instances were left out, as JEDI does",
        *wanted, found - *wanted, found));
  return result;
}

}  // namespace

bool is_own(const std::string& app_type) {
  return std::find(own_applications.begin(), own_applications.end(), app_type) !=
         own_applications.end();
}

Key key_of(const std::string& name) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return {};
  return {false, did_you_mean(name, known)};
}

std::string Instance::text(const std::string& key) const {
  const auto found = settings_.find(key);
  return found == settings_.end() ? std::string() : found->second.text;
}

std::int64_t Instance::count(const std::string& key, std::int64_t least, std::int64_t most) const {
  if (!has(key)) return 0;
  const auto value = whole(text(key));
  if (!value || *value < least || *value > most)
    fail(key,
         fmt::format("found '{}', expected a whole number from {} to {}", text(key), least, most));
  return *value;
}

std::vector<std::string> Instance::list(const std::string& key) const {
  std::vector<std::string> result;
  const std::string all = text(key);
  for (std::size_t at = 0; !all.empty() && at <= all.size();) {
    const std::size_t comma = std::min(all.find(',', at), all.size());
    result.push_back(trimmed(all.substr(at, comma - at)));
    at = comma + 1;
  }
  return result;
}

std::vector<std::int64_t> Instance::counts(const std::string& key, std::int64_t most) const {
  std::vector<std::int64_t> result;
  for (const std::string& item : list(key)) {
    const auto value = whole(item);
    if (!value || *value < 0 || *value > most)
      fail(key, fmt::format("found '{}', expected whole numbers from 0 to {}, separated by commas",
                            item, most));
    result.push_back(*value);
  }
  return result;
}

void Instance::fail(const std::string& key, const std::string& text) const {
  const auto found = settings_.find(key);
  fail_at(file_, found == settings_.end() ? line_ : found->second.line, key + ": " + text);
}

Configuration parse(const std::string& content, const std::string& file) {
  check_text(content, file);
  libconfig::Config config;
  try {
    config.readString(content);
    return read_root(config.getRoot(), file);
  } catch (const libconfig::ParseException& error) {
    fail_at(file, static_cast<unsigned>(error.getLine()),
            fmt::format("{}; expected libconfig's format", error.getError()));
  }
}

Configuration read(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored) &&
      std::filesystem::file_size(path, ignored) > most_bytes)
    throw InputError(path.string(), fmt::format("is larger than {} bytes", most_bytes));
  return parse(read_file(path), path.string());
}

}  // namespace millrace::application::jedi
