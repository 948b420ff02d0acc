#pragma once
// What pictures really show, as people marked it.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "application/placement.h"

namespace millrace::application {

/// In pixels of the picture from its top left corner, or in shares of its size.
struct MarkedObject {
  std::int64_t label = 0;
  double left = 0, top = 0, width = 0, height = 0;
  double area = 0;       // of the object, which may fill a part of its box only
  bool crowd = false;    // many objects: any number of detections may lie in it
  bool ignored = false;  // neither missed nor found, such as what is too hard to see
};

struct MarkedPicture {
  std::string place;                        // for messages: a file, and what in it
  std::optional<Size> size = std::nullopt;  // as the file says
  bool in_shares = false;                   // boxes; areas are then not known
  std::vector<MarkedObject> objects = {};
};

/// The truth for detectors is in `pictures`, the truth for classifiers in one of the others.
struct GroundTruth {
  std::string place;                              // the file or folder
  std::map<std::string, MarkedPicture> pictures;  // by the name of the picture's file, no ending
  std::map<std::string, std::int64_t> classes;    // the same
  std::vector<std::int64_t> classes_in_order;     // of the frames

  bool is_of_detections() const { return !pictures.empty(); }
};

/// What the network's classes are called; without names they are known by number only.
struct ClassNames {
  std::vector<std::string> names;

  /// By its name, also by COCO's for one of Darknet's or the other way.
  std::optional<std::int64_t> find(const std::string& name) const;
  /// InputError at `place` if there is none.
  std::int64_t of(const std::string& name, const std::string& place) const;
  std::int64_t checked(std::int64_t number, const std::string& place) const;
};

/// A file's name without folders and ending.
std::string picture_key(const std::string& name);

/// InputError at the picture's place if the box reaches out of the picture by more than
/// rounding.
void check_inside(const MarkedObject& object, const Size& picture, const std::string& place);

/// A COCO file of JSON, a VOC file of XML or a folder of them, or a folder of text files as YOLO
/// has them. InputError naming the place.
GroundTruth read_objects(const std::string& path, const ClassNames& names);
/// A text file with a class on each line, by number or name: in the order of the frames, or behind
/// the picture's name. InputError naming the line.
GroundTruth read_classes(const std::string& path, const ClassNames& names);

// Formats that read_objects knows: coco.cpp, voc.cpp, yolo_text.cpp.
GroundTruth read_coco(const std::string& path, const ClassNames& names);
MarkedPicture read_voc(const std::string& path, const ClassNames& names);
MarkedPicture read_yolo_text(const std::string& path, const ClassNames& names);

}  // namespace millrace::application
