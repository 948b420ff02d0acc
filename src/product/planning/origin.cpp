#include "product/planning/origin.h"

#include <filesystem>

#include "base/quantity.h"

namespace millrace::product {

plan::Origin origin_of(const PlanRequest& request, const board::Board& board,
                       const profile::Profile& profile, const plan::ProcessingTimes& processing) {
  plan::Origin origin;
  origin.network = profile.network;
  origin.board = profile.board;
  origin.model = formats::absolute(request.setup.source);
  origin.version = MILLRACE_VERSION;
  std::error_code ignored;
  if (!request.board.empty()) {
    origin.board_name = board.name;
    origin.board_cpu = board.cpu_model;
  }
  if (!request.board.empty() && std::filesystem::exists(request.board, ignored))
    origin.board_file = std::filesystem::absolute(request.board).lexically_normal();
  origin.limits = request.limits;
  origin.streams = request.streams;
  origin.search = request.search.method;
  origin.fitness = explore::name_of(request.genetic.aim.fitness);
  origin.max_memory = request.max_memory;
  origin.fallback = request.search.fallback;
  origin.precisions = precisions_of(request.variants);
  origin.max_error = request.variants.max_error;
  origin.max_latency = request.max_latency;
  if (request.max_latency) origin.max_batch = request.max_batch;
  if (!request.loss.max_loss.empty())
    origin.max_loss = read_share(request.loss.max_loss, "⟨max_loss⟩");
  origin.processing = processing;
  return origin;
}

}  // namespace millrace::product
