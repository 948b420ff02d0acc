#pragma once
// Tensors between the host's memory and a GPU's.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/cuda/device/gpu.h"
#include "engine/engine.h"

namespace millrace::engine::cuda {

/// Memory of the GPU, and the stream that copies to it.
struct Destination {
  Address address = 0;
  Stream stream = nullptr;
};
/// In pieces: the GPU fetches one while the next is brought to the pinned memory. Both must stay
/// until the stream has done it.
void send(const Driver& driver, const PinnedMemory& pinned, std::span<const std::byte> from,
          const Destination& to);

/// An address of the GPU as a handle, and back.
inline std::byte* handle_of(Address address) { return reinterpret_cast<std::byte*>(address); }
inline Address address_of(const std::byte* handle) { return reinterpret_cast<Address>(handle); }

/// Memory of the GPU, which is given back with the last copy of what is returned. EngineError if
/// there is not enough; NoSuchSpace if the layout's is another than `space`.
std::shared_ptr<std::byte> allocate_on(const std::shared_ptr<Gpu>& gpu, const std::string& space,
                                       const Layout& layout);

/// Copies one tensor in each run.
class CudaTransfer final : public Subnet {
 public:
  /// `gpu`, whose memory is `space`, is shared with the engine and all subnets on it. NoSuchSpace.
  CudaTransfer(std::shared_ptr<Gpu> gpu, std::string space, const SubnetRequest& request);
  ~CudaTransfer() override;

  std::span<const Port> inputs() const override { return {&from_, 1}; }
  std::span<const Port> outputs() const override { return {&to_, 1}; }
  void run(std::span<const std::byte* const> in, std::span<std::byte* const> out) override;
  std::vector<GroupTime> run_timed(std::span<const std::byte* const> in,
                                   std::span<std::byte* const> out) override;
  Memory memory() const override { return {}; }
  std::shared_ptr<std::byte> allocate(const Layout& layout) override {
    return allocate_on(gpu_, space_, layout);
  }

 private:
  std::shared_ptr<Gpu> gpu_;
  std::string space_, place_;
  Port from_, to_;
  PinnedMemory pinned_;
  Owned<StreamObject> stream_;
  Owned<EventObject> done_;
};

}  // namespace millrace::engine::cuda
