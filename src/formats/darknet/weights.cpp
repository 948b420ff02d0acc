#include "formats/darknet/weights.h"

#include <fmt/format.h>

#include <bit>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "network/simplify/folding.h"

namespace millrace::formats::darknet {
namespace {

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

/// Together; each is at most 2^42.
std::uint64_t bytes_of(const Network& network, const std::vector<Wanted>& wanted) {
  std::uint64_t total = 0;
  for (const Wanted& one : wanted)
    total += static_cast<std::uint64_t>(network[one.tensor].size().count);
  return total;
}

}  // namespace

WeightFile::WeightFile(const std::filesystem::path& path)
    : in_(std::make_unique<std::ifstream>(open_regular_file(path))),
      file_(path.string()),
      size_(std::filesystem::file_size(path)) {
  read_header();
}

WeightFile::WeightFile(std::string_view bytes, std::string name)
    : in_(std::make_unique<std::istringstream>(std::string(bytes))),
      file_(std::move(name)),
      size_(bytes.size()) {
  read_header();
}

void WeightFile::read_header() {
  constexpr std::size_t number = sizeof(std::int32_t);
  std::int32_t version[2] = {};
  if (size_ >= sizeof version) in_->read(reinterpret_cast<char*>(version), sizeof version);
  const std::int64_t major = version[0], minor = version[1];
  long_count_ = major * 10 + minor >= 2 && major < 1000 && minor < 1000;
  header_ = 3 * number + (long_count_ ? sizeof(std::int64_t) : number);
  transposed_ = major > 1000 || minor > 1000;
  if (size_ < header_)
    throw InputError(file_,
                     fmt::format("has {} bytes, expected Darknet's weights, which begin with "
                                 "a header of {}; download the file again",
                                 size_, header_));
  if (major < 0 || minor < 0)
    throw InputError(file_, fmt::format("its header says version {}.{}: it does not hold Darknet's "
                                        "weights",
                                        major, minor));
}

void WeightFile::fail_short(const Network& network, const std::vector<Wanted>& wanted) const {
  const std::uint64_t expected = header_ + bytes_of(network, wanted);
  std::uint64_t end = header_;
  std::size_t i = 0;
  while (end <= size_) end += static_cast<std::uint64_t>(network[wanted[i++].tensor].size().count);
  throw InputError(
      file_, fmt::format("has {} bytes, but the network needs {}: it ends in the weights of {}; "
                         "download it again, or give the file that belongs to the configuration",
                         size_, expected, wanted[i - 1].place));
}

void WeightFile::fill(Network& network, const std::vector<Wanted>& wanted) {
  const std::uint64_t expected = header_ + bytes_of(network, wanted);
  if (size_ < expected) fail_short(network, wanted);
  // Some programs write the long count under the version that has the short one.
  const std::size_t longer = long_count_ ? 0 : sizeof(std::int32_t);
  const bool has_longer = longer > 0 && size_ == expected + longer;
  if (size_ > expected && !has_longer)
    throw InputError(file_, fmt::format("has {} bytes, but the network needs only {}; give the "
                                        "file that belongs to the configuration",
                                        size_, expected));
  in_->seekg(static_cast<std::streamoff>(header_ + (has_longer ? longer : 0)));
  for (const Wanted& one : wanted) {
    Tensor& tensor = network.tensors[one.tensor.index];
    Buffer memory = Buffer::uninitialized(tensor.size());
    in_->read(reinterpret_cast<char*>(memory.data()), memory.size().count);
    if (!*in_) throw InputError(file_, "cannot be read to its end; copy or download it again");
    tensor.constant = make_array(tensor.type, tensor.shape, std::move(memory));
  }
}

void fill_seeded(Network& network, const std::vector<Wanted>& wanted, std::uint64_t seed) {
  Bytes total;
  for (const Wanted& one : wanted) {
    total += network[one.tensor].size();
    if (total > network::most_folded)
      throw InputError(one.place, fmt::format("the weights of the layers up to here take more than "
                                              "{}; check the numbers of filters and their sizes",
                                              millrace::to_text(network::most_folded)));
  }
  for (const Wanted& one : wanted) {
    Tensor& tensor = network.tensors[one.tensor.index];
    Buffer memory = Buffer::uninitialized(tensor.size());
    formats::fill_seeded(memory.bytes(), tensor.name, seed, one.spread);
    tensor.constant = make_array(tensor.type, tensor.shape, std::move(memory));
  }
}

}  // namespace millrace::formats::darknet
