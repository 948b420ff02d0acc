#include "explore/followers.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "board/board_file.h"
#include "explore/mapping/memory.h"
#include "profile/profile_file.h"

namespace millrace::explore {
namespace {

constexpr const char* from_first = "what rank 0 sent";

/// A board's file has all of its processors; these are the ones that plans may use.
nlohmann::json json_of(const board::Board& board) {
  nlohmann::json names = nlohmann::json::array();
  for (const board::Processor& processor : board.processors) names.push_back(processor.name);
  return {{"file", board::to_json(board).dump()}, {"processors", std::move(names)}};
}

board::Board board_in(const nlohmann::json& value) {
  return board::only(board::parse_board(value.at("file").get<std::string>(), from_first),
                     value.at("processors").get<std::vector<std::string>>());
}

profile::Profile profile_in(const nlohmann::json& value) {
  return profile::profile_in(JsonView(value, from_first));
}

nlohmann::json json_of(const plan::ProcessingTimes& times) {
  return {times.pre.count(), times.post.count(), times.reading.count(), times.frames};
}

plan::ProcessingTimes processing_in(const nlohmann::json& value) {
  const auto number = [&value](std::size_t i) { return value.at(i).get<std::int64_t>(); };
  return {Time(number(0)), Time(number(1)), Time(number(2)), number(3)};
}

}  // namespace

profile::Profile profile_of_first(Ranks* ranks, const std::function<profile::Profile()>& measured) {
  if (!are_several(ranks)) return measured();
  return profile_in(
      nlohmann::json::parse(of_first(ranks, [&] { return profile::to_json(measured()).dump(); })));
}

board::Board board_of_first(Ranks* ranks, const board::Board& here) {
  if (!are_several(ranks)) return here;
  const std::string text = of_first(ranks, [&] { return json_of(here).dump(); });
  return is_follower(ranks) ? board_in(nlohmann::json::parse(text)) : here;
}

void lead(Ranks* ranks, const SearchPlace& place, const plan::BuildOptions& build) {
  if (!are_several(ranks) || is_follower(ranks)) return;
  const nlohmann::json known{{"board", json_of(place.board)},
                             {"profile", profile::to_json(place.profile)},
                             {"engine", build.engine},
                             {"transfers", build.transfers},
                             {"processing", json_of(place.processing)}};
  ranks->exchange(known.dump());
  check_same(ranks, "its model is", network::hash_of(place.network));
}

void follow(const Followed& followed) {
  while (true) {
    const auto known = nlohmann::json::parse(followed.context.ranks->exchange({}).front());
    const board::Board board = board_in(known.at("board"));
    network::Network network = followed.network;
    fit_to_memories(network, board, {});  // as on the first rank
    check_same(followed.context.ranks, "its model is", network::hash_of(network));
    const profile::Profile profile = profile_in(known.at("profile"));
    ChooseOptions choose = followed.choose;
    choose.build.engine = known.at("engine").get<std::string>();
    choose.build.transfers = known.at("transfers").get<bool>();
    choose.genetic.ranks = followed.context.ranks;
    if (followed.search)
      search_configurations({network, board, profile, followed.context, followed.objectives,
                             processing_in(known.at("processing"))},
                            *followed.search, choose);
    else
      explore::choose(network, board, profile, choose);
  }
}

}  // namespace millrace::explore
