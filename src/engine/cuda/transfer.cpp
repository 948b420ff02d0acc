#include "engine/cuda/transfer.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "engine/request.h"

namespace millrace::engine::cuda {
namespace {

/// Bytes that are copied at once.
constexpr std::size_t piece = std::size_t{256} << 10;

std::size_t size_of(const Port& port) { return static_cast<std::size_t>(port.layout.size.count); }

}  // namespace

void send(const Driver& driver, const PinnedMemory& pinned, std::span<const std::byte> from,
          const Destination& to) {
  for (std::size_t begin = 0; begin < from.size(); begin += piece) {
    const std::size_t bytes = std::min(piece, from.size() - begin);
    std::memcpy(pinned.data() + begin, from.data() + begin, bytes);
    check(driver,
          driver.copy_in_later(to.address + begin, pinned.data() + begin, bytes, to.stream));
  }
}

std::shared_ptr<std::byte> allocate_on(const std::shared_ptr<Gpu>& gpu, const std::string& space,
                                       const Layout& layout) {
  if (layout.space != space)
    throw NoSuchSpace("the engine cuda has the memory " + space + " there, not " + layout.space);
  gpu->use();
  auto memory = std::make_shared<DeviceMemory>(gpu->driver(), layout.size);
  const Address address = memory->address();
  return {handle_of(address), [gpu, memory = std::move(memory)](std::byte*) mutable {
            try {
              gpu->use();
              memory.reset();
            } catch (const EngineError&) {
              // The driver is gone, and what it held with it.
            }
          }};
}

CudaTransfer::CudaTransfer(std::shared_ptr<Gpu> gpu, std::string space,
                           const SubnetRequest& request)
    : gpu_(std::move(gpu)),
      space_(std::move(space)),
      place_((*request.network)[request.inputs[0].tensor].name + " to or from " + space_),
      from_(request.inputs[0]),
      to_(plain_outputs(request)[0]) {
  const Driver& driver = gpu_->driver();
  gpu_->use();
  pinned_ = PinnedMemory(driver, from_.layout.size);
  stream_ = make_stream(driver);
  done_ =
      make_event(driver, gpu_->platform().settings.spins ? Wait::spinning : Wait::asleep, false);
}

/// Members free their objects in the context of their GPU.
CudaTransfer::~CudaTransfer() {
  try {
    gpu_->use();
    gpu_->driver().wait_for_stream(stream_.get());
  } catch (const EngineError&) {
    // The driver is gone, and what it held with it.
  }
}

void CudaTransfer::run(std::span<const std::byte* const> in, std::span<std::byte* const> out) {
  const Driver& driver = gpu_->driver();
  const std::size_t size = size_of(from_);
  const bool is_sent = from_.layout.space.empty();
  try {
    gpu_->use();
    if (is_sent)
      send(driver, pinned_, {in[0], size}, {address_of(out[0]), stream_.get()});
    else
      check(driver, driver.copy_out_later(pinned_.data(), address_of(in[0]), size, stream_.get()));
    check(driver, driver.record_event(done_.get(), stream_.get()));
    check(driver, driver.wait_for_event(done_.get()));
  } catch (const EngineError& error) {
    throw EngineError(place_ + ": " + error.what());
  }
  if (!is_sent) std::memcpy(out[0], pinned_.data(), size);
}

std::vector<GroupTime> CudaTransfer::run_timed(std::span<const std::byte* const> in,
                                               std::span<std::byte* const> out) {
  const auto start = std::chrono::steady_clock::now();
  run(in, out);
  return {{{}, "copy", std::chrono::steady_clock::now() - start}};
}

}  // namespace millrace::engine::cuda
