#pragma once
// Tensors by name in files; "#7" for one whose name is empty, or not its alone.
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "network/network.h"

namespace millrace::plan {

class TensorNames {
 public:
  explicit TensorNames(const network::Network& network);
  const std::string& operator[](TensorId tensor) const { return names_[tensor.index]; }
  std::optional<TensorId> find(const std::string& name) const;
  const std::vector<std::string>& all() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, TensorId> ids_;
};

}  // namespace millrace::plan
