#include "plan/tensor_names.h"

#include <fmt/format.h>

namespace millrace::plan {

TensorNames::TensorNames(const network::Network& network) {
  std::unordered_map<std::string_view, int> uses;
  for (const network::Tensor& tensor : network.tensors) ++uses[tensor.name];
  for (std::size_t i = 0; i < network.tensors.size(); ++i) {
    const std::string& name = network.tensors[i].name;
    const bool speaks = !name.empty() && name[0] != '#' && uses[name] == 1;
    names_.push_back(speaks ? name : fmt::format("#{}", i));
    ids_.emplace(names_.back(), TensorId(i));
  }
}

std::optional<TensorId> TensorNames::find(const std::string& name) const {
  const auto found = ids_.find(name);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

}  // namespace millrace::plan
