#include "product/profile_model.h"

#include <algorithm>

#include "base/error.h"
#include "board/board_file.h"
#include "engine/registry.h"
#include "engine/request.h"
#include "product/engines.h"
#include "product/open_model.h"
#include "product/profile.h"
#include "product/written_over.h"
#include "profile/cost_model.h"
#include "profile/profile_file.h"

namespace millrace::product {
namespace {

profile::MeasureOptions measure_options(const ProfileRequest& request) {
  profile::MeasureOptions measure;
  measure.warmup = request.warmup;
  measure.least = request.least;
  measure.most = std::max(100, request.least);
  measure.duration = time_from_seconds(request.duration_s);
  measure.seed = request.setup.source.seed;
  measure.precisions = precisions_of(request.variants);
  measure.max_error = request.variants.max_error;
  return measure;
}

engine::SubnetRequest subnet_request(const network::Network& network, const std::string& range) {
  const std::size_t colon = range.find(':');
  if (colon == std::string::npos)
    throw InputError("⟨subnet⟩ " + range, "expected FIRST:LAST, the names of two layers");
  const LayerId first = layer_named(network, range.substr(0, colon), "⟨subnet⟩");
  const LayerId last = layer_named(network, range.substr(colon + 1), "⟨subnet⟩");
  if (last < first)
    throw InputError("⟨subnet⟩ " + range, "the first layer comes after the last; swap them");
  engine::SubnetRequest request;
  request.network = &network;
  for (std::size_t i = first.index; i <= last.index; ++i) request.layers.emplace_back(i);
  const engine::Border border = engine::border_of(network, request.layers);
  for (const TensorId input : border.inputs)
    request.inputs.push_back({input, engine::plain_layout(network[input])});
  request.outputs = border.outputs;
  request.plain.assign(border.outputs.size(), false);
  return request;
}

ProfileResult measure_subnet(const ProfileRequest& request, const network::Network& network,
                             engine::Engine& engine) {
  ProfileResult result;
  engine::SubnetRequest subnet = subnet_request(network, request.subnet);
  result.subnet_layers = subnet.layers.size();
  for (const board::Processor& processor : load_board(request.setup).processors) {
    subnet.processor = processor;
    result.subnet.push_back(
        {processor.name, profile::measure_subnet(subnet, engine, measure_options(request))});
  }
  return result;
}

profile::Profile profile_of(const ProfileRequest& request, const network::Network& network,
                            engine::Engine& engine) {
  return load_profile(network, load_board(request.setup), engine,
                      {{},
                       nullptr,
                       request.fresh,
                       measure_options(request),
                       request.batches,
                       request.setup.context});
}

void check_outputs(const ProfileRequest& request) {
  FilesRead files;
  files.add(request.setup);
  files.add("board file", request.fit.board);
  for (const std::string& model : request.fit.also) files.add(formats::ModelSource{model});
  files.refuse_unwritable({request.output, request.fit.file});
}

board::Board this_machine_with_peaks() {
  const board::Board board = board::this_machine();
  const MeasuredPeaks peaks = measure_peaks(board);
  return board::with_peaks(board, peaks.alone, peaks.together);
}

board::Board fit(const ProfileRequest& request, const network::Network& network,
                 const profile::Profile& profile, engine::Engine& engine) {
  std::vector<profile::MeasuredNetwork> measured{{network, profile}};
  for (const std::string& model : request.fit.also) {
    formats::ModelSource other = request.setup.source;
    other.file = model;
    measured.push_back({open_model(other, request.setup.context), {}});
    measured.back().profile = profile_of(request, measured.back().network, engine);
  }
  return profile::fit_to_profiles(request.fit, measured, this_machine_with_peaks);
}

board::Board fit_to_published(const ProfileRequest& request, const network::Network& network) {
  const std::vector<board::Precision> precisions = precisions_of(request.variants);
  if (precisions.size() != 1)
    throw InputError("⟨precision⟩", "a published time is of one precision; give one");
  return profile::fit_to_totals(request.fit, network, precisions.front());
}

ProfileResult run(const ProfileRequest& request) {
  const network::Network network = open_model(request.setup.source, request.setup.context);
  ProfileResult result;
  if (!request.fit.board.empty() && request.fit.file.empty()) {
    result.profile = profile::modelled(network, load_board(request.setup, request.fit.board),
                                       precisions_of(request.variants));
    return result;
  }
  if (!request.fit.totals.empty()) {
    result.fitted = fit_to_published(request, network);
    return result;
  }
  const auto engine = make_engine(request.setup);
  if (!request.subnet.empty()) return measure_subnet(request, network, *engine);
  result.profile = profile_of(request, network, *engine);
  if (!request.fit.file.empty()) result.fitted = fit(request, network, *result.profile, *engine);
  return result;
}

}  // namespace

ProfileResult profile_model(const ProfileRequest& request) {
  check_outputs(request);
  ProfileResult result = run(request);
  if (result.profile && !request.output.empty())
    profile::write_profile(request.output, *result.profile);
  if (result.fitted) board::write_board(request.fit.file, *result.fitted);
  return result;
}

}  // namespace millrace::product
