#pragma once
// Results of a run, written as JSON lines or as one array.
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "network/network.h"
#include "runtime/session.h"

namespace millrace::product {

/// One line of JSON: frame, source, latency_ms, and per output the five largest values with their
/// positions ("top") or, for up to 16 elements, all values.
std::string json_line(const network::Network& network, const std::string& source,
                      const runtime::Result& result);

/// The index of the largest value of the first output; nothing if none is a number.
std::optional<std::int64_t> top_class(const runtime::Result& result);

/// One integer per line. InputError naming the line.
std::vector<std::int64_t> read_labels(const std::string& path);

/// The files for raw outputs: `path` if there is one output, else one for each, as out.NAME.npy is
/// for out.npy. Characters of a name that a file's cannot have become '_'.
std::vector<std::string> output_files(const network::Network& network, const std::string& path);

/// Keeps one raw output of all frames for a .npy file of shape frames x output.
class OutputArray {
 public:
  void add(const network::Array& output);
  void write(const std::string& path) const;

 private:
  network::Shape shape_;
  network::DataType type_ = network::DataType::float32;
  std::vector<std::byte> bytes_;
  std::int64_t frames_ = 0;
};

}  // namespace millrace::product
