#pragma once
// Finds the shares of the peaks that a cost model needs, from measurements or from published rates.
#include <vector>

#include "profile/cost_model.h"

namespace millrace::profile {

/// A kernel and what it took.
struct Sample {
  Load load;
  Time time{};
  double weight = 1;  // its share of the time of its network
};

/// Every kernel of the network as it was measured; without those that took no time.
std::vector<Sample> samples_of(const network::Network& network, const ProcessorProfile& measured);

/// The device with the launch time and, by kind of layer, the shares with which the model is
/// nearest to the samples: the least sum of weight * |modelled / measured - 1|. Kinds with fewer
/// than three samples share what all samples together say, as "other". The peaks are those of one
/// processor in the precision. Where kernels are faster than the peak, by algorithms that calculate
/// less, the device gets a unit "fast_algorithms" with the highest rate, and the shares are those
/// of that. InputError if there is no sample.
board::Device fitted(board::Device device, const std::vector<Sample>& samples,
                     const board::Peaks& peaks, board::Precision precision);

/// What a frame of a network takes on a processor, as published.
struct Total {
  const network::Network& network;
  Time time{};
  board::Precision precision = board::Precision::f32;
};

/// The board with the one share of the arithmetic peak, for all layers in the total's precision,
/// with which the model gives this time for a frame on a processor of the device; memory keeps the
/// board's bandwidth, whole. What the board says of other precisions stays. InputError if no share
/// from 0.001 to 1 does, or the device cannot run a layer of the network in that precision.
board::Board fitted_to_total(board::Board board, const std::string& device, const Total& total);

}  // namespace millrace::profile
