#pragma once
// Operators that the reader does not know, and engines do.
#include <memory>
#include <string>
#include <vector>

#include "formats/network_names.h"
#include "network/operators/opaque.h"

namespace millrace::formats {

/// How a size became known.
enum class SizeFrom { the_model, a_run, varying_runs };

struct ForeignOutput {
  DataType type = DataType::float32;
  Shape shape;  // where it varies: the largest
  SizeFrom from = SizeFrom::the_model;
};

struct ForeignAnswer {
  std::shared_ptr<const network::OperatorOwner> owner = {};  // null: nobody runs it
  std::vector<ForeignOutput> outputs = {};  // in the order of the question's network
  std::string reason = {};  // why nobody runs it, in half a sentence
};

/// Asks the engines that are here. Thread-safe.
class ForeignOperators {
 public:
  virtual ~ForeignOperators() = default;
  /// Of a network with one layer, an Opaque, whose outputs have no types and shapes yet.
  virtual ForeignAnswer ask(const Network& question) const = 0;
};

}  // namespace millrace::formats
