#pragma once
// What the last layers of a network gain if they work on several frames at once: those that read
// more bytes of weights than of the frame read them once for all.
#include "profile/measure.h"

namespace millrace::profile {

/// Whether most of what the layer reads and writes for a frame are its weights: products with a
/// constant matrix, and convolutions with more bytes of weights than of inputs and outputs; all of
/// them only if they keep frames apart.
bool gains_by_batches(const network::Network& network, LayerId layer);

/// The last layers that keep frames apart, first .. end-1 in topological order, beginning with one
/// that gains; behind the last that does come no convolutions. From `products` on there are none
/// at all: the first that gains behind the last one, or `end`. Empty: none gains.
struct Tail {
  std::size_t first = 0, products = 0, end = 0;
  bool operator==(const Tail&) const = default;
};
Tail tail_in_batches(const network::Network& network);

/// Whether every layer of the tail that gains has its times in batches, on every processor and in
/// the precisions of the options.
bool has_batches(const Profile& profile, const network::Network& network,
                 const MeasureOptions& options = {});

/// Fills in `batches` of the tail's layers, in the precisions of the options, measured as one
/// subnet of 1, 2, 4, 8 and, if a frame still gains by that, 16 frames. Which variant of a layer is
/// best on several frames is tried on four, and what is near the best on eight; those above the
/// bound on the error are left out, and those of one frame stay unless others save a noticeable
/// share of the network's time. With the options' `meanwhile`, the other processors run the
/// network all the while. Processors that took over their variants from another one take over
/// these too. Precondition: the profile is of this network and engine.
void measure_batches(Profile& profile, const network::Network& network, engine::Engine& engine,
                     const MeasureOptions& options = {});

}  // namespace millrace::profile
