// Ground truth as COCO has it: one file of JSON for all pictures.
#include <fmt/format.h>

#include <map>

#include "application/accuracy/truth.h"
#include "base/error.h"
#include "base/json.h"

namespace millrace::application {
namespace {

class CocoReader {
 public:
  CocoReader(const JsonView& root, const std::string& path, const ClassNames& names)
      : root_(root), path_(path), names_(names) {}

  GroundTruth read() {
    truth_.place = path_;
    read_categories(root_.at("categories"));
    for (const JsonView& image : root_.at("images").items()) add_image(image);
    if (keys_.empty()) root_.at("images").fail("found none, expected the pictures");
    for (const JsonView& annotation : root_.at("annotations").items()) add_annotation(annotation);
    return std::move(truth_);
  }

 private:
  /// Without labels the classes are the categories by rising number, as networks have them.
  void read_categories(const JsonView& categories) {
    for (const JsonView& category : categories.items())
      categories_[category.at("id").integer()] = category.at("name").text();
    if (categories_.empty()) categories.fail("found none, expected the classes");
    if (!names_.names.empty()) return;
    std::int64_t next = 0;
    for (const auto& [id, name] : categories_) numbers_[id] = next++;
  }

  void add_image(const JsonView& image) {
    MarkedPicture picture;
    picture.place = image.place();
    const Size size{image.at("width").integer(), image.at("height").integer()};
    if (size.width < 1 || size.height < 1) image.fail("has no area, expected width and height");
    picture.size = size;
    const std::string key = picture_key(image.at("file_name").text());
    if (!keys_.emplace(image.at("id").integer(), key).second)
      image.at("id").fail("has an earlier picture too; expected a number of its own");
    if (!truth_.pictures.emplace(key, std::move(picture)).second)
      image.at("file_name").fail(fmt::format("there are two pictures called '{}'", key));
  }

  std::int64_t class_of(const JsonView& category) {
    const std::int64_t id = category.integer();
    if (const auto known = numbers_.find(id); known != numbers_.end()) return known->second;
    const auto found = categories_.find(id);
    if (found == categories_.end())
      category.fail(fmt::format("found {}, which is none of the file's {} categories", id,
                                categories_.size()));
    return numbers_[id] = names_.of(found->second, category.place());
  }

  void add_annotation(const JsonView& annotation) {
    const std::int64_t id = annotation.at("image_id").integer();
    const auto key = keys_.find(id);
    if (key == keys_.end())
      annotation.at("image_id")
          .fail(fmt::format("found {}, which is none of the file's {} "
                            "pictures",
                            id, keys_.size()));
    MarkedPicture& picture = truth_.pictures.at(key->second);
    const JsonView box = annotation.at("bbox");
    const std::vector<JsonView> sides = box.items();
    if (sides.size() != 4) box.fail("expected left, top, width and height");
    MarkedObject object;
    object.label = class_of(annotation.at("category_id"));
    object.left = sides[0].number();
    object.top = sides[1].number();
    object.width = sides[2].number();
    object.height = sides[3].number();
    object.area =
        annotation.has("area") ? annotation.at("area").number() : object.width * object.height;
    object.crowd = annotation.has("iscrowd") && annotation.at("iscrowd").integer() != 0;
    check_inside(object, *picture.size, box.place());
    picture.objects.push_back(object);
  }

  JsonView root_;
  const std::string& path_;
  const ClassNames& names_;
  GroundTruth truth_;
  std::map<std::int64_t, std::string> categories_, keys_;  // by number in the file
  std::map<std::int64_t, std::int64_t> numbers_;           // the network's, by the file's
};

}  // namespace

GroundTruth read_coco(const std::string& path, const ClassNames& names) {
  const nlohmann::json document = read_json(path);
  return CocoReader(JsonView(document, path), path, names).read();
}

}  // namespace millrace::application
