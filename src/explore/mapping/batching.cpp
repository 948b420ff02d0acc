#include "explore/mapping/batching.h"

#include <algorithm>
#include <cmath>

#include "explore/mapping/search.h"

namespace millrace::explore {
namespace {

constexpr double worth_waiting = 0.99;  // of the lower bound with fewer frames
}

Batching::Batching(const network::Network& network, const board::Board& board,
                   const profile::Profile& profile)
    : alone_(make_problem(network, board, profile)), tail_(profile::tail_in_batches(network)) {
  for (const board::Processor& processor : board.processors)
    measured_.push_back(&profile::of(profile, processor));
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    gains_.push_back(profile::gains_by_batches(network, LayerId(i)));
}

const profile::BatchTime* Batching::on(std::size_t layer, std::size_t processor,
                                       std::int64_t frames) const {
  const profile::BatchTime* result = nullptr;
  for (const profile::BatchTime& batch : measured_[processor]->layers[layer].batches)
    if (batch.frames <= frames) result = &batch;
  return result;
}

double Batching::share(std::size_t layer, std::size_t processor, std::int64_t frames) const {
  const profile::BatchTime* batch = on(layer, processor, frames);
  if (batch == nullptr) return 1;
  const double one = seconds(measured_[processor]->layers[layer].batches.front().time);
  return seconds(batch->time) / static_cast<double>(batch->frames) / one;
}

/// The convolution from which on batching saves most; it does not divide a fused group.
std::size_t Batching::first_convolution(std::int64_t frames) const {
  std::size_t best = tail_.products, head = tail_.products;  // head: of groups seen so far
  double saved = 0, most = 0;
  for (std::size_t i = tail_.products; i-- > tail_.first;) {
    for (std::size_t p = 0; p < alone_.processors; ++p)
      if (const double one = alone_.time[i][p]; std::isfinite(one))
        saved += one * (1 - share(i, p, frames));
    head = std::min(head, alone_.fused_into[i].value_or(i));
    if (!gains_[i] || head < i || saved <= most) continue;
    best = i;
    most = saved;
  }
  return best;
}

Batches Batching::way(std::int64_t convolutions, std::int64_t products) const {
  Batches result(alone_.layers, 1);
  const std::size_t first = convolutions > 1 ? first_convolution(convolutions) : tail_.products;
  for (std::size_t i = first; i < tail_.end; ++i)
    result[i] = i < tail_.products ? convolutions : products;
  return result;
}

std::vector<Batches> Batching::ways(std::int64_t most) const {
  double lowest = lower_bound(alone_);
  std::vector<Batches> result;
  for (std::int64_t products = 2; products <= most; products *= 2)
    for (std::int64_t convolutions = 1; convolutions <= products; convolutions *= 2) {
      Batches each = way(convolutions, products);
      const double bound = lower_bound(problem(each));
      if (bound >= worth_waiting * lowest) continue;
      lowest = bound;
      result.push_back(std::move(each));
    }
  return result;
}

Problem Batching::problem(const Batches& batches) const {
  Problem result = alone_;
  for (std::size_t i = 0; i < result.layers; ++i) {
    if (batches[i] == 1) continue;
    for (std::size_t p = 0; p < result.processors; ++p) {
      const profile::BatchTime* batch = on(i, p, batches[i]);
      if (batch == nullptr) continue;
      result.time[i][p] *= share(i, p, batches[i]);
      result.alone[i][p] *= share(i, p, batches[i]);
      result.variants[i][p] = batch->variant;
    }
  }
  return result;
}

}  // namespace millrace::explore
