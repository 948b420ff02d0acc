#include "product/planning/search_options.h"

#include "explore/followers.h"
#include "product/open_model.h"
#include "product/planning/objectives.h"

namespace millrace::product {

explore::SearchOptions search_options(const PlanRequest& request) {
  explore::SearchOptions search = request.search;
  search.seed = request.setup.source.seed;
  search.streams = request.streams;
  search.precision = precisions_text(request.variants);
  return search;
}

explore::ChooseOptions choose_options(const PlanRequest& request) {
  explore::ChooseOptions choose;
  choose.search = request.search.method;
  choose.genetic = request.genetic;
  choose.genetic.seed = request.setup.source.seed;
  choose.max_latency = request.max_latency;
  choose.max_batch = request.max_batch;
  if (request.max_memory) choose.build.most_memory = *request.max_memory;
  choose.max_board_energy = request.max_board_energy;
  if (explore::asks_for_energy(choose)) choose.links = board::links_of(request.board);
  choose.most_streams = request.streams;
  if (!request.by_hand.is_given() && !explore::is_configuration_search(request.search))
    choose.fallback = request.search.fallback;
  return choose;
}

void follow(const PlanRequest& request) {
  const Context& context = request.setup.context;
  const network::Network network = open_model(request.setup.source, context);
  explore::Followed followed{network, {}, choose_options(request), objectives_by({{}}), context};
  if (explore::is_configuration_search(request.search)) {
    followed.search = search_options(request);
    followed.choose.search = "auto";
  }
  explore::follow(followed);
}

}  // namespace millrace::product
