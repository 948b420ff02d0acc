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
      for (const auto& [tensor, name] : written_by(workload))
        writers_.try_emplace(tensor, workload.name);
  }

  std::vector<std::string> violations() {
    add_given();
    for (const Workload& workload : program_.workloads) follow(workload);
    if (network_ != nullptr || program_.ends) check_outputs();
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
    return std::ranges::find(workload.links, TileOperation::whole, &Link::operation) !=
           workload.links.end();
  }

  Tensors written_by(const Workload& workload) const {
    Tensors tensors;
    for (const Link& link : workload.links) add_buffer(tensors, workload, link.sink);
    if (!runs_whole(workload)) return tensors;
    if (network_ == nullptr)
      add_unread_buffers(tensors, workload);
    else
      for (const TensorId id : network_->layers[workload.layer].outputs) add(tensors, id);
    return tensors;
  }

  /// A layer's own loops write to them, if there are several outputs.
  void add_unread_buffers(Tensors& tensors, const Workload& workload) const {
    std::vector<bool> is_read(workload.buffers.size());
    for (const Link& link : workload.links)
      for (const Joint& source : link.sources)
        is_read[static_cast<std::size_t>(source.buffer)] = true;
    for (std::size_t i = 0; i < is_read.size(); ++i)
      if (!is_read[i]) add_buffer(tensors, workload.buffers[i]);
  }

  Tensors read_by(const Workload& workload) const {
    Tensors tensors;
    for (const Link& link : workload.links)
      for (const Joint& source : link.sources) add_buffer(tensors, workload, source);
    if (network_ != nullptr && runs_whole(workload))
      for (const TensorId id : network_->layers[workload.layer].inputs) add(tensors, id);
    return tensors;
  }

  void add_buffer(Tensors& tensors, const Workload& workload, const Joint& joint) const {
    add_buffer(tensors, workload.buffers[static_cast<std::size_t>(joint.buffer)]);
  }

  void add_buffer(Tensors& tensors, const Region& buffer) const {
    if (buffer.memory == 0 && buffer.tensor && !is_empty(*buffer.tensor))
      tensors[*buffer.tensor] =
          network_ != nullptr ? network_->tensors[*buffer.tensor].name : buffer.name;
  }

  void add_given() {
    add_constants();
    if (program_.ends)
      there_.insert(program_.ends->inputs.begin(), program_.ends->inputs.end());
    else if (network_ != nullptr)
      for (const TensorId id : network_->inputs) there_.insert(id.index);
  }

  void add_constants() {
    if (network_ != nullptr) {
      for (std::size_t i = 0; i < network_->tensors.size(); ++i)
        if (network_->tensors[i].constant) there_.insert(i);
      return;
    }
    for (const Workload& workload : program_.workloads)
      for (const Region& buffer : workload.buffers)
        if (buffer.memory == 0 && buffer.tensor && buffer.constant) there_.insert(*buffer.tensor);
  }

  void follow(const Workload& workload) {
    const Tensors written = written_by(workload);
    check_buffers(workload, written);
    for (const auto& [tensor, name] : read_by(workload)) {
      if (there_.contains(tensor) || written.contains(tensor)) continue;
      if (const auto writer = writers_.find(tensor); writer != writers_.end())
        fail(workload, fmt::format("it reads the tensor '{}' before the workload '{}' writes it; "
                                   "change their order",
                                   name, writer->second));
      else if (network_ != nullptr || program_.ends)
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
    if (program_.ends)
      outputs = program_.ends->outputs;
    else
      for (const TensorId id : network_->outputs) outputs.push_back(id.index);
    for (const std::size_t tensor : outputs)
      if (!is_empty(tensor) && !there_.contains(tensor))
        found_.push_back(fmt::format("no workload writes the output {}; add that of its layer",
                                     name_of(tensor)));
  }

  std::string name_of(std::size_t tensor) const {
    if (network_ == nullptr) return fmt::format("that is the tensor {}", tensor);
    return fmt::format("'{}'", network_->tensors[tensor].name);
  }

  const Program& program_;
  const network::Network* network_;
  std::map<std::size_t, std::string> writers_;  // by tensor: the first workload
  std::set<std::size_t> there_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> data_flow_violations(const Program& program,
                                              const network::Network* network) {
  std::vector<std::string> found = DataFlow(program, network).violations();
  for (std::string& text : tensor_violations(program)) found.push_back(std::move(text));
  return found;
}

}  // namespace millrace::workload
