#pragma once
// The values of a network's weights: from a file of Darknet's, or seeded.
#include <cstdint>
#include <filesystem>
#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/network_names.h"
#include "formats/seeded_values.h"

namespace millrace::formats::darknet {

/// A constant whose values are still to come, in the order of the file.
struct Wanted {
  TensorId tensor;
  Spread spread;      // of seeded values
  std::string place;  // of the section that it belongs to
};

/// A file of weights: a version, the number of images seen in training, then float32 numbers.
class WeightFile {
 public:
  /// Reads the header. InputError if there is no whole one.
  explicit WeightFile(const std::filesystem::path& path);
  /// The same of a file that a program holds; `name` is for messages.
  WeightFile(std::string_view bytes, std::string name);

  /// Whether matrices of connected layers are stored input by input.
  bool is_transposed() const { return transposed_; }
  /// Gives the constants their values. InputError unless the file has exactly as many as they need,
  /// before any is read.
  void fill(Network& network, const std::vector<Wanted>& wanted);

 private:
  [[noreturn]] void fail_short(const Network& network, const std::vector<Wanted>& wanted) const;

  void read_header();

  std::unique_ptr<std::istream> in_;
  std::string file_;
  std::uintmax_t size_ = 0, header_ = 0;  // bytes
  bool long_count_ = false;               // of images: 8 bytes
  bool transposed_ = false;
};

/// Gives the constants values by chance. InputError if they take too much memory.
void fill_seeded(Network& network, const std::vector<Wanted>& wanted, std::uint64_t seed);

}  // namespace millrace::formats::darknet
