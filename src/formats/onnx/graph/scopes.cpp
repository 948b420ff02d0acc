#include "formats/onnx/graph/scopes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace millrace::formats::onnx {

const Known* Scopes::lookup(const std::string& name) const {
  for (std::size_t i = all_.size(); i-- > 0;) {
    const auto found = all_[i].values.find(name);
    if (found != all_[i].values.end()) return &found->second;
    if (!all_[i].sees_outer) break;
  }
  return nullptr;
}

Known Scopes::known(const std::string& name) const {
  const Known* value = lookup(name);
  return value != nullptr ? *value : Known{};
}

void Scopes::enter(const Inner& inner) {
  constexpr std::size_t most_inside = 32;  // graphs inside of graphs
  if (all_.size() > most_inside)
    throw InputError(inner.place, fmt::format("more than {} graphs or functions lie inside each "
                                              "other",
                                              most_inside));
  all_.push_back({inner.prefix, inner.opset.value_or(opset()), !inner.opset, inner.function, {}});
}

bool Scopes::is_inside(const ::onnx::FunctionProto& function) const {
  return std::any_of(all_.begin(), all_.end(),
                     [&](const Names& scope) { return scope.function == &function; });
}

}  // namespace millrace::formats::onnx
