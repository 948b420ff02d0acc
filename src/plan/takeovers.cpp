#include "plan/takeovers.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace millrace::plan {
namespace {

constexpr std::array<std::string_view, 2> takeover_keys{"without", "plan"};

}  // namespace

void write_plan(const std::filesystem::path& path, const PlanOf& first,
                std::span<const Takeover> takeovers) {
  const auto folder = path.parent_path();
  nlohmann::ordered_json document = to_json(first.file, first.network, folder);
  for (const Takeover& each : takeovers)
    document["takeovers"].push_back(
        {{"without", each.without}, {"plan", to_json(each.file, first.network, folder)}});
  write_json(path, document);
}

std::vector<Takeover> read_takeovers(const std::filesystem::path& path,
                                     const network::Network& network) {
  const nlohmann::json document = read_json(path);
  const JsonView root(document, path.string());
  std::vector<Takeover> result;
  if (!root.has("takeovers")) return result;
  for (const JsonView& item : root.at("takeovers").items()) {
    item.only(takeover_keys);
    Takeover& takeover = result.emplace_back();
    for (const JsonView& board : item.at("without").items())
      takeover.without.push_back(board.text());
    std::ranges::sort(takeover.without);
    takeover.file = read_plan(item.at("plan"), network, path.parent_path());
  }
  return result;
}

const Takeover* takeover_without(std::span<const Takeover> takeovers,
                                 const std::vector<std::string>& lost) {
  const auto found = std::ranges::find_if(takeovers, [&](const Takeover& each) {
    return std::ranges::all_of(lost, [&](const std::string& board) {
      return std::ranges::binary_search(each.without, board);
    });
  });
  return found == takeovers.end() ? nullptr : &*found;
}

}  // namespace millrace::plan
