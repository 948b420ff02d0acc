#include "application/heads/segmentation.h"

#include <fmt/format.h>

#include "application/heads/as_float.h"
#include "application/heads/metadata.h"
#include "application/heads/sampling.h"
#include "application/preprocess.h"
#include "base/error.h"

namespace millrace::application {
namespace {

constexpr std::int64_t most_classes = 256;

/// How the values of a grid of pixels lie in an output.
struct MapLayout {
  Size grid;
  std::int64_t classes = 1;
  std::int64_t class_step = 0, pixel_step = 1;
  bool is_final = false;  // integers that are classes
};

bool is_whole_number(network::DataType type) {
  using enum network::DataType;
  return type != float32 && type != float16 && type != float64;
}

/// How far a grid is from the proportions of the input.
std::int64_t distance_of(std::int64_t rows, std::int64_t columns, const Size& input) {
  return std::abs(rows * input.width - columns * input.height);
}

/// Nothing if the shape is none of a map.
std::optional<MapLayout> map_layout_of(network::Shape shape, bool is_final, const Size& input) {
  if (shape.size() == 3) shape.insert(shape.begin() + 1, 1);
  if (shape.size() != 4 || shape[0] != 1 || *std::ranges::min_element(shape) < 1)
    return std::nullopt;
  const std::int64_t if_planes = distance_of(shape[2], shape[3], input);
  const std::int64_t if_last = distance_of(shape[1], shape[2], input);
  const bool planes = if_planes <= if_last;
  const std::int64_t rounding = std::max(input.width, input.height);
  if (std::min(if_planes, if_last) > rounding) return std::nullopt;
  MapLayout layout;
  layout.is_final = is_final;
  layout.grid = planes ? Size{shape[3], shape[2]} : Size{shape[2], shape[1]};
  layout.classes = planes ? shape[1] : shape[3];
  layout.class_step = planes ? layout.grid.width * layout.grid.height : 1;
  layout.pixel_step = planes ? 1 : layout.classes;
  return layout.is_final && layout.classes > 1 ? std::nullopt : std::optional(layout);
}

/// The values of one frame.
class Grid {
 public:
  Grid(const network::Array& output, const MapLayout& layout)
      : values_(output.values<float>()), layout_(layout) {
    if (layout.classes == 1 && !layout.is_final) {
      const auto [least, most] = std::ranges::minmax(values_);
      border_ = least >= 0 && most <= 1 ? 0.5 : 0;  // probabilities, or not yet
    }
    const std::int64_t pixels = layout.grid.width * layout.grid.height;
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel)
      best_.push_back(best([&](std::int64_t label) { return at(label, pixel); }));
  }

  std::uint8_t class_at(const Sample& sample) const {
    const std::uint8_t first = best_at(sample.x0, sample.y0);
    if (layout_.is_final) return nearest(sample);
    // What is largest in all corners is largest between them.
    if (layout_.classes > 1 && first == best_at(sample.x1, sample.y0) &&
        first == best_at(sample.x0, sample.y1) && first == best_at(sample.x1, sample.y1))
      return first;
    return best([&](std::int64_t label) {
      return sample.interpolated(
          [&](std::int64_t x, std::int64_t y) { return at(label, y * layout_.grid.width + x); });
    });
  }

 private:
  double at(std::int64_t label, std::int64_t pixel) const {
    return values_[static_cast<std::size_t>(label * layout_.class_step +
                                            pixel * layout_.pixel_step)];
  }
  std::uint8_t best_at(std::int64_t x, std::int64_t y) const {
    return best_[static_cast<std::size_t>(y * layout_.grid.width + x)];
  }
  std::uint8_t nearest(const Sample& sample) const {
    return best_at(sample.across < 0.5 ? sample.x0 : sample.x1,
                   sample.down < 0.5 ? sample.y0 : sample.y1);
  }

  template <class Value>
  std::uint8_t best(const Value& value) const {
    if (layout_.is_final)
      return static_cast<std::uint8_t>(std::clamp(value(0), 0.0, most_classes - 1.0));
    if (layout_.classes == 1) return value(0) > border_ ? 1 : 0;
    std::int64_t best = 0;
    double largest = value(0);
    for (std::int64_t label = 1; label < layout_.classes; ++label)
      if (const double other = value(label); other > largest) {
        largest = other;
        best = label;
      }
    return static_cast<std::uint8_t>(best);
  }

  std::span<const float> values_;
  MapLayout layout_;
  double border_ = 0;
  std::vector<std::uint8_t> best_;  // by cell
};

class Segmentation : public Processing {
 public:
  Segmentation(const MapLayout& layout, const Size& input, Fit fit)
      : layout_(layout), input_(input), fit_(fit) {}

  Findings after(const Picture& picture, std::span<const network::Array> outputs) const override {
    const network::Array output = as_float(outputs.front());
    const Grid grid(output, layout_);
    const Size size =
        picture.image.empty() ? input_ : Size{picture.image.width, picture.image.height};
    const View view{input_, place(size, input_, fit_), size};
    ClassMap map{size.width, size.height};
    map.classes.reserve(static_cast<std::size_t>(size.width * size.height));
    for (std::int64_t y = 0; y < size.height; ++y)
      for (std::int64_t x = 0; x < size.width; ++x)
        map.classes.push_back(grid.class_at(sample_at(x, y, view, layout_.grid)));
    Findings findings;
    findings.map = std::move(map);
    return findings;
  }

 private:
  MapLayout layout_;
  Size input_;
  Fit fit_;
};

}  // namespace

std::unique_ptr<Processing> make_segmentation(const Application& application,
                                              const network::Network& network) {
  const std::string& place = application.postprocess.place;
  const Size input = input_size(network, application.preprocess.image, place);
  if (network.outputs.empty()) throw InputError(place, "the network has no outputs");
  const network::Tensor& output = network[network.outputs.front()];
  const auto layout = map_layout_of(output.shape, is_whole_number(output.type), input);
  if (!layout || layout->classes > most_classes)
    throw InputError(
        place, fmt::format("segmentation needs 1 x classes x rows x columns with at most {} "
                           "classes, but the first output '{}' is {} {}; use detect, top_k or raw",
                           most_classes, output.name, network::to_text(output.type),
                           network::to_text(output.shape)));
  if (!layout->is_final) check_labels(application, layout->classes == 1 ? 2 : layout->classes);
  const bool is_image = application.preprocess.kind == "image";
  return std::make_unique<Segmentation>(*layout, input,
                                        is_image ? application.preprocess.image.fit : Fit::stretch);
}

}  // namespace millrace::application
