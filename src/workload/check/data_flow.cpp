#include "workload/check/data_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace millrace::workload {
namespace {

/// Tensors by index, each with a name for messages.
using Tensors = std::map<std::size_t, std::string>;

class DataFlow {
 public:
  DataFlow(const Program& program, const network::Network* network)
      : program_(program), network_(network) {
    for (const Workload& workload : program.workloads)
      for (const auto& [tensor, name] : written_by(workload)) ++writers_[tensor];
  }

  std::vector<std::string> violations() {
    add_given();
    for (const Workload& workload : program_.workloads) follow(workload);
    if (network_ != nullptr) check_outputs();
    return std::move(found_);
  }

 private:
  void fail(const Workload& workload, const std::string& text) {
    found_.push_back(fmt::format("workload '{}': {}", workload.name, text));
  }

  bool is_empty(std::size_t tensor) const {
    return network_ != nullptr && network_->tensors[tensor].size().count == 0;
  }

  void add(Tensors& tensors, TensorId id) const {
    if (id.valid() && !is_empty(id.index)) tensors[id.index] = (*network_)[id].name;
  }

  /// The layer's own loops find all its tensors, whatever the link says.
  bool runs_whole(const Workload& workload) const {
    return network_ != nullptr &&
           std::ranges::find(workload.links, TileOperation::whole, &Link::operation) !=
               workload.links.end();
  }

  Tensors written_by(const Workload& workload) const {
    Tensors tensors;
    for (const Link& link : workload.links) add_buffer(tensors, workload, link.sink);
    if (runs_whole(workload))
      for (const TensorId id : network_->layers[workload.layer].outputs) add(tensors, id);
    return tensors;
  }

  Tensors read_by(const Workload& workload) const {
    Tensors tensors;
    for (const Link& link : workload.links)
      for (const Joint& source : link.sources) add_buffer(tensors, workload, source);
    if (runs_whole(workload))
      for (const TensorId id : network_->layers[workload.layer].inputs) add(tensors, id);
    return tensors;
  }

  void add_buffer(Tensors& tensors, const Workload& workload, const Joint& joint) const {
    const Region& buffer = workload.buffers[static_cast<std::size_t>(joint.buffer)];
    if (buffer.memory == 0 && buffer.tensor && !is_empty(*buffer.tensor))
      tensors[*buffer.tensor] =
          network_ != nullptr ? network_->tensors[*buffer.tensor].name : buffer.name;
  }

  void add_given() {
    if (network_ == nullptr) return;
    for (std::size_t i = 0; i < network_->tensors.size(); ++i)
      if (network_->tensors[i].constant) there_.insert(i);
    if (program_.ends)
      there_.insert(program_.ends->inputs.begin(), program_.ends->inputs.end());
    else
      for (const TensorId id : network_->inputs) there_.insert(id.index);
  }

  void follow(const Workload& workload) {
    const Tensors written = written_by(workload);
    check_buffers(workload, written);
    for (const auto& [tensor, name] : read_by(workload)) {
      if (there_.contains(tensor) || written.contains(tensor)) continue;
      if (writers_.contains(tensor))
        fail(workload, fmt::format("it reads the tensor '{}' before the workload that writes it; "
                                   "change their order",
                                   name));
      else if (network_ != nullptr)
        fail(workload, fmt::format("it reads the tensor '{}', which no workload writes; add the "
                                   "workload of its layer",
                                   name));
    }
    for (const auto& [tensor, name] : written)
      if (!there_.insert(tensor).second)
        fail(workload, fmt::format("it writes the tensor '{}', which is there already; leave one "
                                   "of both out",
                                   name));
  }

  /// Steps mark the bytes of buffers, so a tensor that changes lies in one of them.
  void check_buffers(const Workload& workload, const Tensors& written) {
    std::set<std::size_t> seen;
    for (const Region& buffer : workload.buffers)
      if (buffer.memory == 0 && buffer.tensor && written.contains(*buffer.tensor) &&
          !seen.insert(*buffer.tensor).second)
        fail(workload, fmt::format("it writes the tensor of the buffer '{}', which another buffer "
                                   "holds too; name one of them in all its links",
                                   buffer.name));
  }

  void check_outputs() {
    std::vector<std::size_t> outputs;
    for (const TensorId id : network_->outputs) outputs.push_back(id.index);
    if (program_.ends) outputs = program_.ends->outputs;
    for (const std::size_t tensor : outputs)
      if (!is_empty(tensor) && !there_.contains(tensor))
        found_.push_back(fmt::format("no workload writes the output '{}'; add that of its layer",
                                     network_->tensors[tensor].name));
  }

  const Program& program_;
  const network::Network* network_;
  std::map<std::size_t, std::size_t> writers_;  // by tensor: workloads
  std::set<std::size_t> there_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> data_flow_violations(const Program& program,
                                              const network::Network* network) {
  return DataFlow(program, network).violations();
}

}  // namespace millrace::workload
