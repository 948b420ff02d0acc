#pragma once
// The second network of an application with crops.
#include <memory>
#include <optional>
#include <string>

#include "application/cascade/crops.h"
#include "application/loaded/loaded.h"
#include "runtime/sequential.h"
#include "runtime/session.h"

namespace millrace::application {

/// With `batch` as its first dimension. InputError at the place of that if the network has one of
/// its own, or a layer mixes what is joined.
network::Network with_batch_of(network::Network network, std::int64_t batch,
                               const std::string& place);

/// What a run borrows for its crops. Stays where it is.
struct CropsAtWork {
  std::optional<runtime::Session> session = {};
  std::unique_ptr<runtime::Sequential> sequential = {};
  CropParts parts = {};
};

/// For a session of this plan of the first network, which runs beside that of the crops, if there
/// are any.
runtime::SessionOptions options_with_crops(const LoadedApplication& loaded, const plan::Plan& plan,
                                           runtime::SessionOptions options = {});

/// For a Run: its plan at work. Null if there are no crops.
std::unique_ptr<CropsAtWork> deploy_crops(const LoadedApplication& loaded);
/// For run_in_turn, on this processor of this machine, to which `pin` binds the thread
/// for each run. Null likewise.
std::unique_ptr<CropsAtWork> crops_in_turn(const LoadedApplication& loaded,
                                           const board::Processor& processor, bool pin = true);

}  // namespace millrace::application
