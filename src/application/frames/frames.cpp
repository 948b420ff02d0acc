#include "application/frames/frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "application/frames/image.h"
#include "application/image_file.h"
#include "application/image_folder.h"
#include "base/error.h"
#include "network/evaluate/evaluate.h"
#include "network/npy.h"
#include "network/random_values.h"

namespace millrace::application {
namespace {

using network::Array;
using network::DataType;
using network::Network;
using network::Tensor;

/// Arrays of other number types are converted where the network wants floating point.
Array as_type(const Array& array, const Tensor& tensor, const std::string& path) {
  if (array.type == tensor.type) return array;
  const auto is_real = [](DataType type) {
    return type == DataType::float32 || type == DataType::float16;
  };
  if (!is_real(tensor.type) || (!is_real(array.type) && array.type != DataType::uint8 &&
                                array.type != DataType::float64 && array.type != DataType::int64))
    throw InputError(
        path, fmt::format("holds {}, expected {} for the input '{}'", network::to_text(array.type),
                          network::to_text(tensor.type), tensor.name));
  return network::converted(array, tensor.type);
}

/// The frames in an array: it is one input, or several along the first dimension.
class ArrayFrames {
 public:
  ArrayFrames(const std::string& path, const Tensor& tensor)
      : array_(as_type(network::read_npy(path), tensor, path)), shape_(tensor.shape) {
    const auto per_frame = network::element_count(shape_, path);
    const auto total = network::element_count(array_.shape, path);
    const bool tail = shape_.size() <= array_.shape.size() &&
                      std::equal(shape_.rbegin(), shape_.rend() - (shape_.empty() ? 0 : 1),
                                 array_.shape.rbegin());
    const bool without_batch = !shape_.empty() && shape_[0] == 1 &&
                               array_.shape == network::Shape(shape_.begin() + 1, shape_.end());
    if (per_frame == 0)
      throw InputError(path, fmt::format("the input '{}' has the shape {} and so no elements, "
                                         "which is not supported; export the model with another "
                                         "shape",
                                         tensor.name, network::to_text(shape_)));
    if ((!tail && !without_batch) || total % per_frame != 0 || total == 0)
      throw InputError(
          path, fmt::format("has the shape {}, expected frames of {} for the input '{}'",
                            network::to_text(array_.shape), network::to_text(shape_), tensor.name));
    count_ = static_cast<std::size_t>(total / per_frame);
  }

  std::size_t count() const { return count_; }
  Array at(std::size_t i) const {
    const std::size_t size = array_.bytes().size() / count_;
    return network::make_array(array_.type, shape_, array_.bytes().subspan(i * size, size));
  }

 private:
  Array array_;
  network::Shape shape_;
  std::size_t count_ = 0;
};

Frames image_frames(const Network& network, std::vector<std::filesystem::path> files,
                    const FrameOptions& options) {
  if (network.inputs.size() != 1)
    throw InputError(network.name, fmt::format("has {} inputs; give each a NAME=FILE.npy",
                                               network.inputs.size()));
  const Tensor tensor = network[network.inputs[0]];
  return {files.size(), [files, tensor, options](std::size_t i) {
            return NamedFrame{files[i].filename().string(),
                              {read_image(files[i], tensor, options)}};
          }};
}

std::vector<std::filesystem::path> images_of(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> files = images_in(folder, error);
  if (error)
    throw InputError(folder.string(),
                     fmt::format("the folder cannot be read: {}; allow it", error.message()));
  if (files.empty())
    throw InputError(folder.string(),
                     "holds no image files (PNG, JPEG, BMP, PPM, TIFF, WebP); name a "
                     "folder with images, an image or a .npy array");
  return files;
}

/// Videos are frames of applications, which say how each becomes an input.
void refuse_video(const std::string& path) {
  constexpr std::array<std::string_view, 7> endings{".mp4",  ".mkv",  ".avi", ".mov",
                                                    ".webm", ".mpeg", ".m4v"};
  const std::string ending = std::filesystem::path(path).extension().string();
  if (std::find(endings.begin(), endings.end(), ending) != endings.end())
    throw InputError(path,
                     "is a video, which only an application reads: name it in a file such as "
                     "app.yaml (docs/applications.md), then 'millrace run app.yaml'");
}

TensorId input_named(const Network& network, const std::string& name) {
  for (const TensorId id : network.inputs)
    if (network[id].name == name) return id;
  throw InputError("⟨input⟩ " + name, fmt::format("{} has no input of this name", network.name));
}

/// Where the name ends in NAME=FILE: names may have such signs too. Nothing if it is only a file.
std::optional<std::size_t> end_of_name(const Network& network, const std::string& text) {
  std::error_code no_such_file;
  if (text.find('=') == std::string::npos || std::filesystem::exists(text, no_such_file))
    return std::nullopt;
  std::size_t end = 0;
  for (const TensorId id : network.inputs)
    if (const std::string& name = network[id].name; text.starts_with(name + "="))
      end = std::max(end, name.size());
  return end > 0 ? end : text.find('=');
}

Frames array_frames(const Network& network, const std::vector<std::string>& inputs) {
  std::vector<ArrayFrames> arrays;
  std::vector<std::string> paths(network.inputs.size());
  for (const std::string& text : inputs) {
    const std::optional<std::size_t> equals = end_of_name(network, text);
    const TensorId id = equals ? input_named(network, text.substr(0, *equals)) : network.inputs[0];
    const auto place = std::find(network.inputs.begin(), network.inputs.end(), id);
    std::string& path = paths[static_cast<std::size_t>(place - network.inputs.begin())];
    if (!path.empty())
      throw InputError("⟨input⟩ " + text, fmt::format("'{}' already has {}; give one file for each "
                                                      "input",
                                                      network[id].name, path));
    path = equals ? text.substr(*equals + 1) : text;
  }
  std::size_t count = 0;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const Tensor& tensor = network[network.inputs[i]];
    if (paths[i].empty())
      throw InputError("⟨input⟩", fmt::format("nothing is given for '{}'", tensor.name));
    arrays.emplace_back(paths[i], tensor);
    count = i == 0 ? arrays[i].count() : std::min(count, arrays[i].count());
  }
  return {count, [arrays](std::size_t i) {
            NamedFrame frame{fmt::format("frame {}", i), {}};
            for (const ArrayFrames& array : arrays) frame.inputs.push_back(array.at(i));
            return frame;
          }};
}

/// InputError, with the frame's number, unless each fits the network.
Frames frames_of(const Network& network,
                 const std::shared_ptr<const std::vector<std::vector<Array>>>& given) {
  for (std::size_t f = 0; f < given->size(); ++f) {
    const std::string place = fmt::format("frame {}", f);
    const std::vector<Array>& arrays = (*given)[f];
    if (arrays.size() != network.inputs.size())
      throw InputError(place, fmt::format("has {} tensors, expected one for each of the {} inputs "
                                          "of {}",
                                          arrays.size(), network.inputs.size(), network.name));
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const Tensor& tensor = network[network.inputs[i]];
      if (arrays[i].type != tensor.type || arrays[i].shape != tensor.shape)
        throw InputError(place,
                         fmt::format("holds {} of shape {}, expected {} of shape {} for the input "
                                     "'{}'",
                                     network::to_text(arrays[i].type),
                                     network::to_text(arrays[i].shape),
                                     network::to_text(tensor.type), network::to_text(tensor.shape),
                                     tensor.name));
    }
  }
  return {given->size(), [given](std::size_t i) {
            return NamedFrame{fmt::format("frame {}", i), given->at(i)};
          }};
}

void check_normalisation(const FrameOptions& options) {
  const auto check = [](const char* option, const std::vector<float>& values, bool divides) {
    if (values.size() == 2 || values.size() > 3)
      throw InputError(option, fmt::format("found {} values, expected one for all channels or one "
                                           "for each of 3",
                                           values.size()));
    for (const float value : values)
      if (!std::isfinite(value) || (divides && value <= 0))
        throw InputError(option, fmt::format("found {}, expected a {} number", value,
                                             divides ? "positive" : "finite"));
  };
  check("⟨mean⟩", options.mean, false);
  check("⟨std⟩", options.deviation, true);
}

}  // namespace

Frames open_frames(const Network& network, const FrameOptions& given, std::uint64_t seed) {
  if (given.given != nullptr) return frames_of(network, given.given);
  check_normalisation(given);
  FrameOptions options = given;
  options.mean.resize(3, options.mean.empty() ? 0.0f : options.mean.front());
  options.deviation.resize(3, options.deviation.empty() ? 1.0f : options.deviation.front());
  if (options.inputs.empty()) {
    if (options.random == 0)
      throw InputError("input", "nothing to run on; give ⟨input⟩ PATH or ⟨random⟩ N");
    const auto kept = std::make_shared<const Network>(network);  // shared by the frames' copies
    return {static_cast<std::size_t>(options.random), [kept, seed](std::size_t i) {
              return NamedFrame{fmt::format("random {}", i),
                                network::random_inputs(*kept, seed + i)};
            }};
  }
  const std::filesystem::path first = options.inputs.front();
  refuse_video(first.string());
  if (network.inputs.empty()) throw InputError(network.name, "has no inputs; use ⟨random⟩");
  std::error_code no_folder;
  if (options.inputs.size() == 1 && std::filesystem::is_directory(first, no_folder))
    return image_frames(network, images_of(first), options);
  if (std::all_of(options.inputs.begin(), options.inputs.end(), is_image_name))
    return image_frames(network, {options.inputs.begin(), options.inputs.end()}, options);
  return array_frames(network, options.inputs);
}

std::int64_t pictures_at_once(const Network& network, const FrameOptions& options) {
  const bool are_pictures =
      !options.inputs.empty() &&
      std::none_of(options.inputs.begin(), options.inputs.end(), [](const std::string& input) {
        return input.ends_with(".npy") || input.find('=') != std::string::npos;
      });
  if (!are_pictures || network.inputs.size() != 1) return 1;
  const network::Shape& shape = network[network.inputs.front()].shape;
  return shape.size() == 4 ? std::max<std::int64_t>(shape[0], 1) : 1;
}

profile::Samples samples_of(const Network& network, const Frames& frames) {
  constexpr Bytes most{std::int64_t{1} << 30};
  Bytes needed;
  for (const TensorId input : network.inputs)
    needed += network[input].size() * static_cast<std::int64_t>(frames.count);
  if (needed > most) return {frames.count, [frames](std::size_t i) { return frames.at(i).inputs; }};
  std::vector<std::vector<Array>> kept;
  for (std::size_t i = 0; i < frames.count; ++i) kept.push_back(frames.at(i).inputs);
  return {frames.count, [kept = std::move(kept)](std::size_t i) { return kept[i]; }};
}

}  // namespace millrace::application
