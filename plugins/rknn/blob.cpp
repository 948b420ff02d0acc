#include "blob.h"

#include <cstddef>
#include <numeric>
#include <sstream>

#include "failure.h"

namespace millrace_rknn {
namespace {

constexpr std::string_view magic = "rknn of millrace 1";

Sizes shape_of(const MillraceTensor& tensor) { return {tensor.shape, tensor.shape + tensor.rank}; }

void write(std::ostream& out, std::string_view word, const Sizes& shape) {
  out << word;
  for (const std::int64_t size : shape) out << ' ' << size;
  out << '\n';
}

Sizes read(std::istream& line) {
  Sizes shape;
  for (std::int64_t size = 0; line >> size;) shape.push_back(size);
  return shape;
}

}  // namespace

Blob blob_of(const std::string& platform, const MillraceSubnet& subnet) {
  Blob blob{platform, {}, {}, {}};
  for (std::size_t i = 0; i < subnet.input_count; ++i)
    blob.inputs.push_back(shape_of(subnet.tensors[subnet.inputs[i]]));
  for (std::size_t i = 0; i < subnet.output_count; ++i)
    blob.outputs.push_back(shape_of(subnet.tensors[subnet.outputs[i]]));
  return blob;
}

std::string to_bytes(const Blob& blob) {
  std::ostringstream out;
  out << magic << "\nplatform " << blob.platform << '\n';
  for (const Sizes& shape : blob.inputs) write(out, "input", shape);
  for (const Sizes& shape : blob.outputs) write(out, "output", shape);
  out << "model\n" << blob.model;
  return out.str();
}

Blob blob_in(std::string_view bytes) {
  Blob blob;
  std::string_view rest = bytes;
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    std::istringstream line{std::string(rest.substr(0, end))};
    const bool is_first = rest.size() == bytes.size();
    if (is_first && line.str() != magic) break;
    rest.remove_prefix(end + 1);
    if (is_first) continue;
    std::string word;
    line >> word;
    if (word == "platform") line >> blob.platform;
    if (word == "input") blob.inputs.push_back(read(line));
    if (word == "output") blob.outputs.push_back(read(line));
    if (word != "model") continue;
    blob.model = rest;
    return blob;
  }
  throw SdkFailure("the blob is none of this engine; compile it again");
}

std::int64_t elements_of(const Sizes& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

}  // namespace millrace_rknn
