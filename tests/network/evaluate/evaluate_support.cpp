#include "evaluate_support.h"

namespace millrace::test {

std::vector<network::Array> evaluate_all(const network::Operator& op,
                                         const std::vector<network::Array>& inputs,
                                         const std::vector<OutputType>& outputs) {
  std::vector<network::ConstView> in;
  for (const network::Array& input : inputs)
    in.push_back({input.type, input.shape, input.memory->data()});
  std::vector<network::Buffer> memory;
  std::vector<network::View> out;
  for (const OutputType& output : outputs) {
    memory.emplace_back(size_of(output.type) * network::element_count(output.shape));
    out.push_back({output.type, output.shape, memory.back().data()});
  }
  network::evaluate({"tested", op, {}, {}}, in, out);
  std::vector<network::Array> results;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    results.push_back(make_array(outputs[i].type, outputs[i].shape, std::move(memory[i])));
  return results;
}

}  // namespace millrace::test
