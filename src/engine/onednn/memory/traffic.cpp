#include <functional>
#include <numeric>

#include "engine/onednn/program.h"

namespace millrace::engine::onednn {
namespace {

/// Without the gaps of a slice of something wider.
Bytes content_of(const Desc& desc) {
  const auto blocking = blocking_of(desc);
  if (!blocking) return size_of(desc);
  const auto size = static_cast<std::int64_t>(dnnl::memory::data_type_size(blocking->type));
  const Dims& dims = blocking->padded;
  return Bytes{std::accumulate(dims.begin(), dims.end(), size, std::multiplies<>())};
}

class Traffic {
 public:
  explicit Traffic(const Program& program) : program_(program) {}

  Bytes operator()(const PrimitiveWork& work) const {
    Bytes sum;
    for (const auto* operands : {&work.reads, &work.writes})
      for (const Operand& operand : *operands)
        if (operand.argument != DNNL_ARG_SCRATCHPAD) sum += tensor(operand.value);
    return sum;
  }
  Bytes operator()(const LoopWork& work) const {
    Bytes sum;
    for (const auto* values : {&work.reads, &work.writes})
      for (const auto& value : *values)
        if (value) sum += tensor(*value);
    return sum;
  }
  Bytes operator()(const CopyWork& work) const {
    const Bytes bytes{static_cast<std::int64_t>(work.count * work.bytes)};
    return is_constant(work.from) ? bytes : bytes + bytes;
  }
  Bytes operator()(const NormalizeWork& work) const { return tensor(work.from) + tensor(work.to); }
  Bytes operator()(const OwnWork& work) const {
    const Bytes result = tensor(work.to);
    Bytes read = tensor(work.from);
    for (const Value& other : work.others) read += tensor(other);
    return read + (work.adds ? result + result : result);
  }

 private:
  bool is_constant(const Value& value) const {
    return program_.storages[value.storage].place == Storage::Place::constant;
  }
  Bytes tensor(const Value& value) const {
    if (is_constant(value)) return {};
    return value.desc.is_zero() ? program_.storages[value.storage].size : content_of(value.desc);
  }

  const Program& program_;
};

}  // namespace

Bytes moved_bytes(const Program& program) {
  Bytes sum;
  for (const Step& step : program.steps) sum += std::visit(Traffic(program), step.work);
  return sum;
}

}  // namespace millrace::engine::onednn
