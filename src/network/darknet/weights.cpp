#include "network/darknet/weights.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "base/error.h"
#include "network/folding.h"

namespace millrace::network::darknet {
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

WeightFile::WeightFile(std::string bytes, std::string file)
    : bytes_(std::move(bytes)), file_(std::move(file)) {
  constexpr std::size_t number = sizeof(std::int32_t);
  std::int32_t version[2] = {};
  if (bytes_.size() >= sizeof version) std::memcpy(version, bytes_.data(), sizeof version);
  const std::int64_t major = version[0], minor = version[1];
  long_count_ = major * 10 + minor >= 2 && major < 1000 && minor < 1000;
  header_ = 3 * number + (long_count_ ? sizeof(std::int64_t) : number);
  transposed_ = major > 1000 || minor > 1000;
  if (bytes_.size() < header_)
    throw InputError(file_,
                     fmt::format("has {} bytes, expected Darknet's weights, which begin with "
                                 "a header of {}; download the file again",
                                 bytes_.size(), header_));
  if (major < 0 || minor < 0)
    throw InputError(file_, fmt::format("its header says version {}.{}: it does not hold Darknet's "
                                        "weights",
                                        major, minor));
}

void WeightFile::fail_short(const Network& network, const std::vector<Wanted>& wanted) const {
  const std::uint64_t expected = header_ + bytes_of(network, wanted);
  std::uint64_t end = header_;
  std::size_t i = 0;
  while (end <= bytes_.size())
    end += static_cast<std::uint64_t>(network[wanted[i++].tensor].size().count);
  throw InputError(
      file_, fmt::format("has {} bytes, but the network needs {}: it ends in the weights of {}; "
                         "download it again, or give the file that belongs to the configuration",
                         bytes_.size(), expected, wanted[i - 1].place));
}

void WeightFile::fill(Network& network, const std::vector<Wanted>& wanted) const {
  const std::uint64_t expected = header_ + bytes_of(network, wanted);
  if (bytes_.size() < expected) fail_short(network, wanted);
  // Some programs write the long count under the version that has the short one.
  const std::size_t longer = long_count_ ? 0 : sizeof(std::int32_t);
  const bool has_longer = longer > 0 && bytes_.size() == expected + longer;
  if (bytes_.size() > expected && !has_longer)
    throw InputError(file_, fmt::format("has {} bytes, but the network needs only {}; give the "
                                        "file that belongs to the configuration",
                                        bytes_.size(), expected));
  const char* at = bytes_.data() + header_ + (has_longer ? longer : 0);
  for (const Wanted& one : wanted) {
    Tensor& tensor = network.tensors[one.tensor.index];
    Buffer memory = Buffer::uninitialized(tensor.size());
    std::memcpy(memory.data(), at, memory.bytes().size());
    at += memory.bytes().size();
    tensor.constant = make_array(tensor.type, tensor.shape, std::move(memory));
  }
}

void fill_seeded(Network& network, const std::vector<Wanted>& wanted, std::uint64_t seed) {
  Bytes total;
  for (const Wanted& one : wanted) {
    total += network[one.tensor].size();
    if (total > most_folded)
      throw InputError(one.place, fmt::format("the weights of the layers up to here take more than "
                                              "{}; check the numbers of filters and their sizes",
                                              millrace::to_text(most_folded)));
  }
  for (const Wanted& one : wanted) {
    Tensor& tensor = network.tensors[one.tensor.index];
    Buffer memory = Buffer::uninitialized(tensor.size());
    network::fill_seeded(memory.bytes(), tensor.name, seed, one.spread);
    tensor.constant = make_array(tensor.type, tensor.shape, std::move(memory));
  }
}

}  // namespace millrace::network::darknet
