#pragma once
// A model and how to read it: what every verb, every application and every plan says alike.
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "formats/network_names.h"

namespace millrace {
class YamlView;
}

namespace millrace::formats {

class ForeignOperators;

/// Who is asked for operators that the reader does not know: foreign_operators.h. It is no part of
/// what the model is.
struct Foreign {
  std::shared_ptr<const ForeignOperators> operators = {};  // shared by copies; null: nobody
  bool operator==(const Foreign&) const { return true; }
};

struct ModelSource {
  std::string file = {};  // or the name of a zoo network
  /// Shapes for inputs by name; needed where the file leaves a dimension open.
  std::map<std::string, Shape> shapes = {};
  /// Values for inputs by name that are known already, such as a target shape: they become
  /// constants and take part in folding.
  std::map<std::string, Array> constants = {};
  /// Width and height of the input, in place of the file's: of Darknet's networks and detectors of
  /// the zoo.
  std::optional<std::int64_t> size = std::nullopt;
  /// Weights of a Darknet configuration; empty: those beside it, if they are there. Or "random".
  std::filesystem::path weights = {};
  std::uint64_t seed = 1;  // of weights where there are none
  /// Into how many parts layers are divided once the network is read, by name: network/simplify.
  std::map<std::string, std::int64_t> divided = {};
  Foreign foreign = {};
  bool operator==(const ModelSource&) const = default;
};

/// Reads the keys `model`, `weights`, `size` and `shapes`. InputError for what is not for such a
/// model.
ModelSource read_model_source(const YamlView& view);

/// Adds "input=1x3x224x224". InputError if it is none, or the second for this input; its place is
/// `place` and the text.
void add_shape(ModelSource& source, const std::string& text, const std::string& place);
/// The shapes as add_shape takes them, with blanks between them; and the other way round. Names may
/// hold blanks.
std::string shapes_text(const ModelSource& source);
void add_shapes(ModelSource& source, const std::string& text, const std::string& place);

/// The layers that are divided, "fc6=2 fc7=3"; and the other way round. Names may hold blanks.
std::string divided_text(const ModelSource& source);
void add_divided(ModelSource& source, const std::string& text, const std::string& place);

/// With the paths of files that are there made absolute, so that it means the same everywhere.
ModelSource absolute(ModelSource source);

}  // namespace millrace::formats
