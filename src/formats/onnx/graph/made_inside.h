#pragma once
// What loops, branches and functions make of a file: a small one may ask for very much.
#include <cstddef>
#include <string>

#include "base/error.h"

namespace millrace::formats::onnx {

/// Loops, branches and functions make too much of the file; no other node of it can change that.
class TooMuchInside : public InputError {
 public:
  using InputError::InputError;
};

/// What loops, branches and functions have made of the file so far.
struct MadeInside {
  std::size_t nodes = 0, layers = 0, values_read = 0, name_bytes = 0, copied_bytes = 0;
};

/// Counts it, and throws TooMuchInside where it is too much.
class InsideCounter {
 public:
  /// `function_nodes`: in all functions that the model brings.
  InsideCounter(std::string file, std::size_t function_nodes);

  const MadeInside& made() const { return made_; }
  void count_node(std::size_t values_read);
  void count_layers(std::size_t more) { made_.layers += more; }
  /// A name inside of them; its prefix is part of it.
  void count_name(std::size_t bytes);
  /// Copies of what functions get as attributes; InputError at `place`.
  void count_copied(std::size_t bytes, const std::string& place);
  /// Whether they have made too many layers, which engines need memory and searches time for.
  /// `by`: who made the last ones.
  void check_layers(const std::string& place, const std::string& by) const;
  /// Whether what was made since `before` is too much once it is made `times` more. A reading that
  /// counts repeats goes on as if it had been made.
  void foresee(const MadeInside& before, std::size_t times, const std::string& place,
               const std::string& by);
  /// From now on rounds of loops that repeat the one before are only counted, not read.
  void count_repeats() { counts_repeats_ = true; }
  bool counts_repeats() const { return counts_repeats_; }

 private:
  void check() const;

  std::string file_;  // for messages
  std::size_t most_layers_;
  MadeInside made_;
  bool counts_repeats_ = false;
};

}  // namespace millrace::formats::onnx
