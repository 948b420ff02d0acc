#include "formats/onnx/reading.h"

#include <onnx/onnx_pb.h>

#include <limits>

namespace millrace::formats::onnx {
namespace {

network::FoldingBudget budget_for(Purpose purpose) {
  network::FoldingBudget budget;
  if (purpose != Purpose::values) return budget;
  budget.memory = Bytes{std::numeric_limits<std::int64_t>::max()};
  budget.steps = std::numeric_limits<double>::infinity();
  return budget;
}

std::size_t node_count(const Functions& functions) {
  std::size_t count = 0;
  for (const auto& [key, function] : functions)
    count += static_cast<std::size_t>(function->node_size());
  return count;
}

void name_tensor(Reading& reading, TensorId id, const std::string& name) {
  if (!reading.network[id].name.empty()) return;
  std::string full = reading.names.prefix() + name;
  if (reading.names.is_inside()) reading.inside.count_name(full.size());
  reading.network.set_name(id, std::move(full));
}

}  // namespace

Reading::Reading(Source from, Functions all, Purpose why)
    : source(std::move(from)),
      functions(std::move(all)),
      purpose(why),
      files(source.folder),
      network(budget_for(why)),
      names(source.opset),
      inside(source.file, node_count(functions)) {}

void Reading::define(const std::string& name, TensorId id) {
  names.define(name, {id, std::nullopt});
  name_tensor(*this, id, name);
}

void Reading::define(const std::string& name, const Known& value) {
  if (value.id) return define(name, *value.id);
  names.define(name, value);
}

void Reading::replace(const std::string& name, TensorId id) {
  names.replace(name, {id, std::nullopt});
  name_tensor(*this, id, name);
}

const Shape* Reading::declared_shape(const std::string& name) const {
  if (names.is_inside()) return nullptr;  // names of functions and bodies are their own
  const auto found = declared.find(name);
  return found == declared.end() ? nullptr : &found->second;
}

}  // namespace millrace::formats::onnx
