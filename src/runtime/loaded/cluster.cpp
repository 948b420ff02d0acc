#include "runtime/loaded/cluster.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "board/board.h"
#include "board/joined/joined_boards.h"
#include "network/random_values.h"
#include "runtime/compare.h"
#include "runtime/sequential.h"

namespace millrace::runtime {
namespace {

constexpr std::uint64_t frames_to_compare = 3;

std::optional<board::JoinedBoards> cluster_of(const Context& context) {
  std::string file;
  if (const char* const variable = std::getenv("MILLRACE_CLUSTER_FILE")) file = variable;
  if (const auto cluster = context.settings.find("cluster"); cluster != context.settings.end())
    if (const auto named = cluster->second.find("file"); named != cluster->second.end())
      file = named->second;
  if (file.empty()) return std::nullopt;
  return board::read_joined_boards(file);
}

/// Whether a tensor crosses the link to the board; without a name: any.
bool crosses(const plan::Plan& plan, const std::string& board) {
  return std::ranges::any_of(plan.stages, [&](const plan::Stage& stage) {
    return std::ranges::any_of(stage.phases, [&](const plan::Phase& phase) {
      return phase.transfer && (board.empty() || phase.transfer->from == board ||
                                phase.transfer->to == board);
    });
  });
}

std::vector<board::Neighbour> crossed_in_fewer_bits(const plan::Plan& plan,
                                                    const Context& context) {
  if (!crosses(plan, {})) return {};
  std::optional<board::JoinedBoards> boards = cluster_of(context);
  if (!boards) return {};
  std::erase_if(boards->boards, [&](const board::Neighbour& each) {
    return each.wire == board::Precision::f32 || !crosses(plan, each.name);
  });
  return boards->boards;
}

Frames random_frames(const network::Network& network, std::uint64_t seed) {
  Frames frames;
  for (std::uint64_t i = 0; i < frames_to_compare; ++i)
    frames.push_back(network::random_inputs(network, seed + i));
  return frames;
}

}  // namespace

std::vector<std::vector<std::string>> losses_to_prepare_for(const Context& context) {
  const std::optional<board::JoinedBoards> boards = cluster_of(context);
  return boards && boards->replans ? board::losses_of(*boards)
                                   : std::vector<std::vector<std::string>>();
}

board::Precision precision_on_wire(const plan::Plan& plan, const Context& context) {
  board::Precision lowest = board::Precision::f32;
  for (const board::Neighbour& each : crossed_in_fewer_bits(plan, context))
    lowest = std::max(lowest, each.wire);
  return lowest;
}

void note_wire(const WiredPlan& wired, const Context& context) {
  std::vector<std::string> links;
  for (const board::Neighbour& each : crossed_in_fewer_bits(wired.plan, context))
    links.push_back(fmt::format("{} as {}", each.name, board::to_text(each.wire)));
  if (links.empty()) return;
  const Frames frames = random_frames(wired.network, wired.seed);
  const board::Board here = board::this_machine();
  Sequential sequential(wired.network, wired.engine, here.processors.front());
  const double error =
      compare(run_sequentially(sequential, frames),
              run_pipeline(wired.plan, wired.network,
                           {{wired.plan.stages.front().engine, &wired.engine}}, frames))
          .error;
  context.note(fmt::format(
      "float32 tensors cross the link to {}: on {} random frames the outputs are off "
      "by {:.1e} of their largest value",
      fmt::join(links, " and to "), frames_to_compare, error));
}

}  // namespace millrace::runtime
