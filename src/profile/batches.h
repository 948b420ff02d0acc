#pragma once
// The gain of batches for the last layers of a network: a layer with more bytes of weights than of
// data reads its weights once for all frames of a batch.
#include "profile/measure.h"

namespace millrace::profile {

/// Whether most of what the layer reads and writes for a frame are its weights: products with a
/// constant matrix, and convolutions with more bytes of weights than of inputs and outputs; all of
/// them only if they keep frames apart.
bool gains_by_batches(const network::Network& network, LayerId layer);

/// The last layers that keep frames apart: first .. end-1 in topological order. The first one gains
/// by batches, and no convolution follows the last one that gains. `products` is the first layer
/// that gains after the last convolution, or `end`. Empty if no layer gains.
struct Tail {
  std::size_t first = 0, products = 0, end = 0;
  bool operator==(const Tail&) const = default;
};
Tail tail_in_batches(const network::Network& network);

/// Whether every layer of the tail that gains has its times in batches, on every processor and in
/// the precisions of the options.
bool has_batches(const Profile& profile, const network::Network& network,
                 const MeasureOptions& options = {});

/// Fills in `batches` of the tail's layers, in the precisions of the options. The tail is measured
/// as one subnet on 1, 2, 4, 8 frames, and on 16 if 8 were faster per frame. The best variants for
/// batches are searched on four frames and confirmed on eight. Variants above the bound on the
/// error are left out; those of one frame stay unless others save a noticeable share of the
/// network's time. With the options' `under_background_load`, the other processors run the network
/// at the same time. Processors that copied their variants from another one copy these too.
/// Precondition: the profile is of this network and engine.
void measure_batches(Profile& profile, const network::Network& network, engine::Engine& engine,
                     const MeasureOptions& options = {});

}  // namespace millrace::profile
