#include <algorithm>

#include "network/evaluate/loops.h"
#include "network/evaluate/product.h"
#include "network/evaluate/sliding.h"
#include "network/evaluate/types.h"

namespace millrace::network::loops {
namespace {

/// For each position of the kernel, where the windows of one panel's outputs read in a channel.
class PanelOffsets {
 public:
  explicit PanelOffsets(const Sliding& s)
      : sliding_(s), rows_(static_cast<std::size_t>(volume(s.kernel))) {}

  struct Row {
    std::array<std::int64_t, panel_width> offsets;  // -1: in the padding
    bool contiguous = false;
  };

  /// Sets the positions of the kernel that the panel has rows for.
  void set(const PanelPlace& place) {
    std::array<Three, panel_width> outputs;
    for (std::size_t j = 0; j < outputs.size(); ++j)
      outputs[j] = position(
          place.column + std::min(static_cast<std::int64_t>(j), place.columns - 1), sliding_.out);
    const auto kernel = static_cast<std::int64_t>(rows_.size());
    for (std::int64_t i = 0; i < std::min(place.depth, kernel); ++i) {
      const std::int64_t k = (place.k + i) % kernel;
      Row& row = rows_[static_cast<std::size_t>(k)];
      const Three at = position(k, sliding_.kernel);
      for (std::size_t j = 0; j < outputs.size(); ++j)
        row.offsets[j] = offset_in(sliding_, outputs[j], at);
      row.contiguous = row.offsets[0] >= 0;
      for (std::size_t j = 1; j < outputs.size(); ++j)
        row.contiguous &= row.offsets[j] == row.offsets[j - 1] + 1;
    }
  }

  const Sliding& geometry() const { return sliding_; }
  const Row& operator[](std::int64_t k) const { return rows_[static_cast<std::size_t>(k)]; }

 private:
  Sliding sliding_;
  std::vector<Row> rows_;
};

/// Rows of the panel: channel by channel, in each the positions of the kernel.
template <class T>
void fill_panel(const PanelOffsets& offsets, const T* x, const PanelPlace& at, T* panel) {
  const std::int64_t kernel = volume(offsets.geometry().kernel);
  const std::int64_t plane = volume(offsets.geometry().in);
  const T* channel = x + at.k / kernel * plane;
  std::int64_t k = at.k % kernel;
  for (std::int64_t row = 0; row < at.depth; ++row, panel += panel_width) {
    const PanelOffsets::Row& from = offsets[k];
    if (from.contiguous) {
      std::copy_n(channel + from.offsets[0], panel_width, panel);
    } else {
      for (std::size_t j = 0; j < panel_width; ++j)
        panel[j] = from.offsets[j] < 0 ? T{} : channel[from.offsets[j]];
    }
    if (++k < kernel) continue;
    k = 0;
    channel += plane;
  }
}

template <class T>
void conv(const Conv& op, Inputs in, const View& out) {
  const Sliding s = sliding(op.window, in[0].shape, out.shape);
  const std::int64_t images = out.shape[0], filters = out.shape[1] / op.groups;
  const std::int64_t depth = in[1].shape[1] * volume(s.kernel), plane = volume(s.out);
  const ConstView bias = optional_input(in, 2);
  for (std::int64_t i = 0; i < images * out.shape[1]; ++i)
    std::fill_n(out.as<T>() + i * plane, plane,
                bias.present() ? bias.as<T>()[i % out.shape[1]] : T{});
  PanelOffsets offsets(s);
  for (std::int64_t i = 0; i < images * op.groups; ++i) {
    const T* w = in[1].as<T>() + i % op.groups * filters * depth;
    const T* x = in[0].as<T>() + i * in[1].shape[1] * volume(s.in);
    const Product<T> product{w,     depth,   1,     out.as<T>() + i * filters * plane,
                             plane, filters, plane, depth};
    multiply(product, [&](const PanelPlace& at, T* panel) {
      offsets.set(at);
      fill_panel(offsets, x, at, panel);
    });
  }
}

}  // namespace

void run(const Conv& op, Inputs in, Outputs out) {
  visit_product(out[0].type, [&]<class T>(std::type_identity<T>) { conv<T>(op, in, out[0]); });
}

}  // namespace millrace::network::loops
