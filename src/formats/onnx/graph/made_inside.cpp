#include "formats/onnx/graph/made_inside.h"

#include <fmt/format.h>

#include "base/units.h"

namespace millrace::formats::onnx {
namespace {

// A layer takes some 10 KB in engines.
constexpr std::size_t most_nodes = 1 << 17;
constexpr std::size_t most_layers = 1 << 13;
constexpr std::size_t most_values_read = 1 << 20;
constexpr std::size_t most_name_bytes = 64 << 20;
constexpr std::size_t most_copied_bytes = 256 << 20;

}  // namespace

InsideCounter::InsideCounter(std::string file, std::size_t function_nodes)
    : file_(std::move(file)), most_layers_(most_layers + 4 * function_nodes) {}

void InsideCounter::check_layers(const std::string& place, const std::string& by) const {
  if (made_.layers <= most_layers_) return;
  throw TooMuchInside(
      place, fmt::format("{}: loops, branches and functions up to here make {} layers, and at most "
                         "{} can be planned; export it with fewer rounds or calls, or recurrent "
                         "layers as LSTM, GRU or RNN",
                         by, made_.layers, most_layers_));
}

void InsideCounter::foresee(const MadeInside& before, std::size_t times, const std::string& place,
                            const std::string& by) {
  const MadeInside made = made_;
  made_.nodes += times * (made.nodes - before.nodes);
  made_.layers += times * (made.layers - before.layers);
  made_.values_read += times * (made.values_read - before.values_read);
  made_.name_bytes += times * (made.name_bytes - before.name_bytes);
  check_layers(place, by);
  check();
  if (!counts_repeats_) made_ = made;
}

void InsideCounter::count_node(std::size_t values_read) {
  made_.values_read += values_read;
  ++made_.nodes;
  check();
}

void InsideCounter::count_name(std::size_t bytes) {
  made_.name_bytes += bytes;
  check();
}

void InsideCounter::check() const {
  if (made_.nodes > most_nodes || made_.values_read > most_values_read)
    throw TooMuchInside(
        file_, fmt::format("its loops and functions make more than {} nodes, or nodes that "
                           "read more than {} values; export it with fewer rounds or calls",
                           most_nodes, most_values_read));
  if (made_.name_bytes > most_name_bytes)
    throw TooMuchInside(
        file_, fmt::format("the names inside of its loops and functions take more than {}; "
                           "give their nodes and tensors shorter names",
                           millrace::to_text(Bytes{most_name_bytes})));
}

void InsideCounter::count_copied(std::size_t bytes, const std::string& place) {
  made_.copied_bytes += bytes;
  if (made_.copied_bytes > most_copied_bytes)
    throw InputError(place,
                     fmt::format("the attributes of function calls up to here take more than {} "
                                 "where the functions use them; pass large values as inputs",
                                 millrace::to_text(Bytes{most_copied_bytes})));
}

}  // namespace millrace::formats::onnx
