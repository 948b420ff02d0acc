#include "application/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "application/codecs/opencv.h"
#include "application/image_file.h"
#include "application/image_folder.h"
#include "base/error.h"
#include "base/file.h"
#include "network/evaluate/evaluate.h"
#include "network/npy.h"
#include "runtime/pool.h"

namespace millrace::application {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> images_of(const Input& input) {
  std::error_code error;
  std::vector<fs::path> files = images_in(input.path, error);
  if (error)
    throw InputError(input.place, fmt::format("the folder '{}' cannot be read: {}", input.path,
                                              error.message()));
  if (files.empty())
    throw InputError(input.place, fmt::format("the folder '{}' holds no image files", input.path));
  return files;
}

class ImageFiles : public Source {
 public:
  explicit ImageFiles(const Input& input) {
    const fs::path path = input.path;
    std::error_code ignored;
    if (fs::is_directory(path, ignored))
      files_ = images_of(input);
    else if (fs::exists(path, ignored))
      files_.push_back(path);
    else
      throw InputError(input.place, fmt::format("'{}' is neither a file nor a folder", input.path));
  }

  std::optional<Picture> next() override {
    if (next_ == files_.size()) return std::nullopt;
    Picture picture;
    picture.frame = static_cast<std::int64_t>(next_);
    picture.name = files_[next_++].filename().string();
    return picture;
  }
  void decode(Picture& picture) const override {
    picture.image = from_bgr(decode_image(files_[static_cast<std::size_t>(picture.frame)], false));
  }
  std::optional<std::int64_t> count() const override {
    return static_cast<std::int64_t>(files_.size());
  }

 private:
  std::vector<fs::path> files_;
  std::size_t next_ = 0;
};

/// Frames of one array, along its first dimension.
class ArrayFile : public Source {
 public:
  ArrayFile(const Input& input, const network::Network& network) {
    if (network.inputs.size() != 1)
      throw InputError(input.place, fmt::format("the network '{}' has {} inputs, and an array is "
                                                "for one",
                                                network.name, network.inputs.size()));
    const network::Tensor& tensor = network[network.inputs.front()];
    array_ = network::read_npy(input.path);
    shape_ = tensor.shape;
    name_ = fs::path(input.path).filename().string();
    const auto each = network::element_count(shape_, input.path);
    const auto all = network::element_count(array_.shape, input.path);
    const bool is_tail = array_.shape.size() >= shape_.size() && !shape_.empty() &&
                         std::equal(shape_.rbegin(), shape_.rend() - 1, array_.shape.rbegin());
    const bool is_one =
        array_.shape == network::Shape(shape_.begin() + (shape_.empty() ? 0 : 1), shape_.end());
    if (array_.type != tensor.type || (!is_tail && !is_one) || each == 0 || all % each != 0)
      throw InputError(
          input.path,
          fmt::format("holds {} {}, expected frames of {} {} for the input '{}'",
                      network::to_text(array_.type), network::to_text(array_.shape),
                      network::to_text(tensor.type), network::to_text(shape_), tensor.name));
    count_ = all / each;
    if (count_ == 0) throw InputError(input.path, "holds no frames");
  }

  std::optional<Picture> next() override {
    if (next_ == count_) return std::nullopt;
    Picture picture;
    picture.frame = next_++;
    picture.name = fmt::format("{} {}", name_, picture.frame);
    const std::size_t size = array_.bytes().size() / static_cast<std::size_t>(count_);
    const auto begin = static_cast<std::size_t>(picture.frame) * size;
    picture.arrays = {
        network::make_array(array_.type, shape_, array_.bytes().subspan(begin, size))};
    return picture;
  }
  std::optional<std::int64_t> count() const override { return count_; }

 private:
  network::Array array_;
  network::Shape shape_;
  std::string name_;
  std::int64_t count_ = 0, next_ = 0;
};

}  // namespace

namespace {

std::unique_ptr<Source> open_one(const Input& input, const network::Network& network) {
  switch (input.kind) {
    case InputKind::images:
      return std::make_unique<ImageFiles>(input);
    case InputKind::arrays:
      return std::make_unique<ArrayFile>(input, network);
    case InputKind::camera:
      return open_camera(input);
    case InputKind::video:
      break;
  }
  return open_video(input);
}

}  // namespace

std::unique_ptr<Source> open_source(const Application& application,
                                    const network::Network& network) {
  cv::setNumThreads(1);  // the pools' threads are what there is
  if (!application.has_several_inputs()) return open_one(application.input, network);
  const std::vector<Input> inputs = application.inputs();
  std::vector<std::unique_ptr<Source>> sources(inputs.size());
  std::size_t next = 0;
  const auto take = [&]() -> std::optional<runtime::Job> {
    if (next == inputs.size()) return std::nullopt;
    const std::size_t i = next++;
    return runtime::Job{[&, i] { sources[i] = open_one(inputs[i], network); },
                        [] { return true; }};
  };
  // A camera takes a second or more.
  const int threads = application.input.is_live() ? static_cast<int>(inputs.size()) : 1;
  runtime::Pool opening(take, {"input", threads});
  opening.wait();
  return join_sources(std::move(sources), inputs);
}

}  // namespace millrace::application
