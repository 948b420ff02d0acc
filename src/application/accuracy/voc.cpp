// Ground truth as PASCAL VOC has it: a file of XML for each picture.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <pugixml.hpp>

#include "application/accuracy/truth.h"
#include "base/error.h"
#include "base/file.h"

namespace millrace::application {
namespace {

constexpr std::size_t most_xml_bytes = 16 << 20;
constexpr double largest_number = 1e9;  // of pixels; more is a mistake

double number_in(const pugi::xml_node& node, const char* key, const std::string& place) {
  const std::string text = node.child_value(key);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool is_blank =
      std::string_view(end).find_first_not_of(" \t\r\n") == std::string_view::npos;
  if (text.empty() || end == text.c_str() || !is_blank || !(std::abs(value) <= largest_number))
    throw InputError(
        place, fmt::format("'{}' in '{}': found '{}', expected a number", key, node.name(), text));
  return value;
}

/// The first pixel of a picture is 1, and the last one of a box belongs to it.
MarkedObject object_of(const pugi::xml_node& node, const ClassNames& names,
                       const std::string& place) {
  const pugi::xml_node box = node.child("bndbox");
  if (!box) throw InputError(place, "has no 'bndbox', expected one with xmin, ymin, xmax, ymax");
  MarkedObject object;
  object.label = names.of(node.child_value("name"), place);
  object.left = number_in(box, "xmin", place) - 1;
  object.top = number_in(box, "ymin", place) - 1;
  object.width = number_in(box, "xmax", place) - object.left;
  object.height = number_in(box, "ymax", place) - object.top;
  object.area = object.width * object.height;
  object.ignored = std::string_view(node.child_value("difficult")) == "1";
  return object;
}

}  // namespace

MarkedPicture read_voc(const std::string& path, const ClassNames& names) {
  const std::string content = read_file(path);
  if (content.size() > most_xml_bytes)
    throw InputError(path, fmt::format("has {} bytes, expected the ground truth of one picture",
                                       content.size()));
  pugi::xml_document document;
  const auto parsed = document.load_buffer(content.data(), content.size());
  if (!parsed)
    throw InputError(path,
                     fmt::format("byte {}: is no XML: {}", parsed.offset, parsed.description()));
  const pugi::xml_node root = document.child("annotation");
  if (!root)
    throw InputError(path, fmt::format("begins with '{}', expected 'annotation', as PASCAL VOC has "
                                       "it",
                                       document.first_child().name()));
  MarkedPicture picture;
  picture.place = path;
  if (const pugi::xml_node size = root.child("size")) {
    picture.size = Size{static_cast<std::int64_t>(number_in(size, "width", path)),
                        static_cast<std::int64_t>(number_in(size, "height", path))};
    if (picture.size->width < 1 || picture.size->height < 1) picture.size.reset();  // not known
  }
  int number = 0;
  for (const pugi::xml_node& node : root.children("object")) {
    const std::string place = fmt::format("{}: object {}", path, ++number);
    picture.objects.push_back(object_of(node, names, place));
    if (picture.size) check_inside(picture.objects.back(), *picture.size, place);
  }
  return picture;
}

}  // namespace millrace::application
