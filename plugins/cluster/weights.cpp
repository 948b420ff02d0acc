#include "weights.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <vector>

namespace millrace_cluster {
namespace {

class Weights {
 public:
  Weights(WorkerLink& link, const MillraceSubnet& subnet) : link_(link) {
    for (std::size_t i = 0; i < subnet.tensor_count; ++i)
      if (subnet.tensors[i].is_external != 0) add(subnet.tensors[i]);
  }

  /// The file; 0: there are none.
  std::int64_t send() {
    if (parts_.empty()) return 0;
    const Message answer = link_.call({.kind = Kind::weights, .a = end_});
    for (const Part& part : parts_)
      for (std::uint64_t at = 0; at < part.tensor->bytes; at += piece_bytes) {
        if (pieces_.size() == most_pieces) finish_first();
        pieces_.emplace_back(link_, piece_of(part, at, answer.header.a));
      }
    while (!pieces_.empty()) finish_first();
    return answer.header.a;
  }

 private:
  struct Part {
    const MillraceTensor* tensor;
    std::int64_t offset;
  };

  void add(const MillraceTensor& tensor) {
    constexpr std::int64_t alignment = 64;
    const std::int64_t offset = (end_ + alignment - 1) / alignment * alignment;
    parts_.push_back({&tensor, offset});
    end_ = offset + static_cast<std::int64_t>(tensor.bytes);
  }

  static WorkerLink::Call piece_of(const Part& part, std::uint64_t at, std::int64_t file) {
    return {.kind = Kind::put_weights,
            .a = file,
            .b = part.offset + static_cast<std::int64_t>(at),
            .body = static_cast<const std::byte*>(part.tensor->data) + at,
            .bytes = std::min<std::uint64_t>(piece_bytes, part.tensor->bytes - at)};
  }

  void finish_first() {
    pieces_.front().wait();
    pieces_.pop_front();
  }

  WorkerLink& link_;
  std::vector<Part> parts_;
  std::int64_t end_ = 0;
  std::deque<WorkerLink::Pending> pieces_;  // on their way
};

}  // namespace

std::int64_t send_weights(WorkerLink& link, const MillraceSubnet& subnet) {
  return Weights(link, subnet).send();
}

}  // namespace millrace_cluster
