#include "application/accuracy/truth.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <utility>

#include "application/image_file.h"
#include "base/error.h"
#include "base/file.h"
#include "base/utf8.h"

namespace millrace::application {
namespace {

namespace fs = std::filesystem;

/// Darknet's names of COCO's classes, where they differ.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> other_names{{
    {"aeroplane", "airplane"},
    {"motorbike", "motorcycle"},
    {"sofa", "couch"},
    {"pottedplant", "potted plant"},
    {"diningtable", "dining table"},
    {"tvmonitor", "tv"},
}};

std::optional<std::int64_t> position_in(const std::vector<std::string>& names,
                                        std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return found - names.begin();
}

std::string nearest_class(const std::string& name, const std::vector<std::string>& names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  return did_you_mean(name, views);
}

std::string lower_ending(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending;
}

std::vector<fs::path> marked_files_in(const std::string& folder) {
  std::error_code error, ignored;
  std::vector<fs::path> texts, documents;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const fs::path& path = entry->path();
    if (path.filename().string().starts_with('.') || !fs::is_regular_file(path, ignored)) continue;
    if (lower_ending(path) == ".xml") documents.push_back(path);
    if (lower_ending(path) == ".txt" && path.filename() != "classes.txt") texts.push_back(path);
  }
  if (error)
    throw InputError(folder, fmt::format("the folder cannot be read: {}", error.message()));
  if (!texts.empty() && !documents.empty())
    throw InputError(folder, fmt::format("holds '{}' and '{}'; expected ground truth in one form: "
                                         "text files (YOLO) or XML files (VOC)",
                                         texts.front().filename().string(),
                                         documents.front().filename().string()));
  std::vector<fs::path> files = texts.empty() ? documents : texts;
  if (files.empty())
    throw InputError(folder,
                     "holds no ground truth; expected text files (YOLO) or XML files "
                     "(VOC), one for each picture");
  std::sort(files.begin(), files.end());
  return files;
}

MarkedPicture read_marked(const fs::path& path, const ClassNames& names) {
  return lower_ending(path) == ".xml" ? read_voc(path.string(), names)
                                      : read_yolo_text(path.string(), names);
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A name, or else a number.
std::int64_t class_of(const std::string& text, const ClassNames& names, const std::string& place) {
  if (const auto found = names.find(text)) return *found;
  if (const auto number = whole_number(text)) return names.checked(*number, place);
  return names.of(text, place);
}

std::string without_edges(const std::string& line) {
  const auto first = line.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t") - first + 1);
}

/// Frames that follow an empty line would be compared with the class of another one.
void check_without_gap(const GroundTruth& truth, int empty_line) {
  if (empty_line > 0 && !truth.classes_in_order.empty())
    throw InputError(fmt::format("{}: line {}", truth.place, empty_line),
                     "is empty; expected a class on each line, in the order of the frames");
}

void add_class_line(GroundTruth& truth, const std::string& line, const ClassNames& names,
                    const std::string& place) {
  const std::size_t end = line.find_first_of(" \t,");
  const bool is_named = end != line.npos && is_image_name(line.substr(0, end));
  if (is_named ? !truth.classes_in_order.empty() : !truth.classes.empty())
    throw InputError(place,
                     "only some lines begin with the name of a picture; expected all or "
                     "none");
  if (!is_named) {
    truth.classes_in_order.push_back(class_of(line, names, place));
    return;
  }
  const std::string text = without_edges(line.substr(end + 1));
  const std::string key = picture_key(line.substr(0, end));
  if (!truth.classes.emplace(key, class_of(text, names, place)).second)
    throw InputError(place, fmt::format("the picture '{}' is named twice", key));
}

}  // namespace

std::optional<std::int64_t> ClassNames::find(const std::string& name) const {
  if (const auto found = position_in(names, name)) return found;
  for (const auto& [one, other] : other_names) {
    if (name == one) return position_in(names, other);
    if (name == other) return position_in(names, one);
  }
  return std::nullopt;
}

std::int64_t ClassNames::of(const std::string& name, const std::string& place) const {
  if (names.empty())
    throw InputError(place, fmt::format("has the class '{}', and the application has no labels to "
                                        "find its number; give the application 'labels'",
                                        name));
  if (const auto found = find(name)) return *found;
  throw InputError(place, fmt::format("has the class '{}', which is none of the application's {} "
                                      "labels{}",
                                      name, names.size(), nearest_class(name, names)));
}

std::int64_t ClassNames::checked(std::int64_t number, const std::string& place) const {
  const auto count = static_cast<std::int64_t>(names.size());
  if (number < 0 || (count > 0 && number >= count))
    throw InputError(place,
                     count > 0 ? fmt::format("has the class {}, but the application has {} labels; "
                                             "expected 0 to {}",
                                             number, count, count - 1)
                               : fmt::format("has the class {}, expected 0 or more", number));
  return number;
}

std::string picture_key(const std::string& name) {
  const std::string file = name.substr(name.find_last_of("/\\") + 1);
  return fs::path(file).stem().string();
}

void check_inside(const MarkedObject& object, const Size& picture, const std::string& place) {
  const double across = static_cast<double>(picture.width);
  const double down = static_cast<double>(picture.height);
  const double rounding = std::max(1.0, 0.005 * std::max(across, down));
  const bool inside = object.left >= -rounding && object.top >= -rounding &&
                      object.left + object.width <= across + rounding &&
                      object.top + object.height <= down + rounding;
  if (!inside || !(object.width >= 0) || !(object.height >= 0))
    throw InputError(place, fmt::format("the box from ({:.6g}, {:.6g}) to ({:.6g}, {:.6g}) is not "
                                        "inside of the picture, which has {} x {} pixels",
                                        object.left, object.top, object.left + object.width,
                                        object.top + object.height, picture.width, picture.height));
}

GroundTruth read_objects(const std::string& path, const ClassNames& names) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(path, ignored);
  const std::string ending = is_folder ? "" : lower_ending(path);
  if (ending == ".json") return read_coco(path, names);
  if (!is_folder && ending != ".xml" && ending != ".txt")
    throw InputError(path, fs::exists(path, ignored)
                               ? "is no ground truth of boxes; expected a COCO file (.json), a VOC "
                                 "file (.xml), a YOLO file (.txt), or a folder of VOC or YOLO files"
                               : "is neither a file nor a folder");
  GroundTruth truth;
  truth.place = path;
  const auto files = is_folder ? marked_files_in(path) : std::vector<fs::path>{path};
  for (const fs::path& file : files)
    truth.pictures.emplace(picture_key(file.string()), read_marked(file, names));
  return truth;
}

GroundTruth read_classes(const std::string& path, const ClassNames& names) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored) || lower_ending(path) == ".json" ||
      lower_ending(path) == ".xml")
    throw InputError(path,
                     "is no ground truth of classes; expected a text file with a class on "
                     "each line, or a picture and its class");
  GroundTruth truth;
  truth.place = path;
  const std::string content = read_file(path);
  std::string_view rest = without_byte_order_mark(content);
  int empty_line = 0;
  for (int number = 1; !rest.empty(); ++number) {
    const std::string line = without_edges(std::string(take_line(rest)));
    if (line.empty()) {
      if (empty_line == 0) empty_line = number;
      continue;
    }
    add_class_line(truth, line, names, fmt::format("{}: line {}", path, number));
    check_without_gap(truth, empty_line);
  }
  if (truth.classes.empty() && truth.classes_in_order.empty())
    throw InputError(path, "is empty, expected a class on each line");
  return truth;
}

}  // namespace millrace::application
