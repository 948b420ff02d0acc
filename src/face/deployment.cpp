#include "millrace/deployment.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <set>
#include <utility>

#include "analysis/responses.h"
#include "base/error.h"
#include "deployment/deployment_file.h"
#include "face/access.h"
#include "face/convert.h"
#include "face/pictures.h"
#include "face/system_of.h"
#include "product/deployment/deploy.h"
#include "product/deployment/measure_deployment.h"
#include "product/deployment/open.h"
#include "product/deployment/run.h"

namespace millrace {
inline namespace v1 {

struct [[gnu::visibility("hidden")]] Deployment::Impl {
  std::shared_ptr<const deployment::Deployment> deployment;
  std::string name;                             // a file, or one in memory
  std::shared_ptr<const product::InMemory> memory;  // its models; null: in files
  std::vector<GroupInfo> groups = {};
  std::vector<ChainInfo> chains = {};
};

/// Ended and torn down in the right order.
struct [[gnu::visibility("hidden")]] DeploymentRun::Impl {
  explicit Impl(std::shared_ptr<face::Call> call_of) : call(std::move(call_of)) {}
  /// The reports; once.
  void stop();
  application::GroupFeed& feed_of(const std::string& group) const;
  GroupReport report_of(const product::DeploymentRun& made, std::size_t group) const;

  std::shared_ptr<face::Call> call;
  std::vector<GroupInfo> groups = {};
  std::function<void(GroupResult)> callback = {};
  std::unique_ptr<product::LiveRun> run = {};
  std::mutex stopping = {};
  bool stopped = false;
  std::vector<GroupReport> reports = {};
  std::vector<ChainReport> chains = {};
  std::exception_ptr error = {};
};

namespace {

std::vector<TensorInfo> infos_of(const network::Network& network,
                                 const std::vector<TensorId>& tensors) {
  std::vector<TensorInfo> result;
  for (const TensorId id : tensors) result.push_back(face::info_of(network[id]));
  return result;
}

std::vector<GroupInfo> groups_of(const deployment::Deployment& deployment,
                                 product::Networks& networks) {
  const system::System& system = deployment.system;
  const deployment::Setting* setting =
      deployment::setting_for(deployment, system::ScenarioId(0), system.levels - 1);
  std::vector<GroupInfo> result;
  for (std::size_t g = 0; g < system.groups.size(); ++g) {
    const system::Group& group = system.groups[g];
    GroupInfo& info = result.emplace_back();
    info.name = group.name;
    info.is_application = !group.application.empty();
    info.period = period_of(system, system::GroupId(g), system.levels - 1);
    info.deadline = deadline_of(system, system::GroupId(g), system.levels - 1);
    if (setting != nullptr && g < setting->bounds.size()) info.bound = setting->bounds[g];
    if (!group.has_network()) continue;
    const network::Network& network =
        networks.of(deployment.assignments[g].plan.origin.model);
    info.inputs = infos_of(network, network.inputs);
    info.outputs = infos_of(network, network.outputs);
  }
  return result;
}

std::vector<ChainInfo> chains_of(const deployment::Deployment& deployment,
                                 const product::Context& context) {
  const system::System& system = deployment.system;
  if (system.chains.empty()) return {};
  const deployment::Wanted at{system::ScenarioId(0), system.levels - 1};
  const auto responses =
      analysis::response_bounds(deployment, product::board_of(deployment, context), at);
  std::vector<ChainInfo> result;
  for (const analysis::ChainAnswer& each : analysis::chain_answers(system, at, responses))
    result.push_back({system.chains[each.chain].name, each.bounds.reaction, each.bounds.age});
  return result;
}

Deployment made_of(const std::string& system, std::shared_ptr<product::InMemory> memory,
                   const DeployRequest& given) {
  face::Call call(given.options);
  return face::guarded(call, [&] {
    const product::Context context = call.context(memory);
    product::DeployRequest request;
    request.system = system;
    request.board = given.board;
    request.processors = given.processors;
    request.method = given.method;
    request.samples = given.samples;
    request.plugins = given.plugins;
    request.seed = given.seed;
    request.context = context;
    product::DeployResult made = product::deploy_system(request);
    if (!made.refusal.empty() || !made.deployment)
      face::refuse(made.refusal.empty() ? "no deployment was found" : made.refusal);
    const auto deployment =
        std::make_shared<const deployment::Deployment>(std::move(*made.deployment));
    const std::string name = deployment->system.name + ".deployment.json";
    memory->deployments[name] = deployment;
    product::Networks networks(context);
    auto groups = groups_of(*deployment, networks);
    return Access::make<Deployment>(deployment, name, std::move(memory), std::move(groups),
                                    chains_of(*deployment, context));
  });
}

/// InputError unless the frame fits.
void check_frame(const std::string& group, const network::Network& network,
                 const std::vector<network::Array>& arrays) {
  const auto fits = [&](std::size_t i) {
    const network::Tensor& tensor = network[network.inputs[i]];
    return arrays[i].type == tensor.type && arrays[i].shape == tensor.shape;
  };
  bool all = arrays.size() == network.inputs.size();
  for (std::size_t i = 0; all && i < arrays.size(); ++i) all = fits(i);
  if (!all)
    throw InputError(fmt::format("group '{}'", group),
                     "the frame has not the number, types and shapes of the model's inputs; "
                     "Deployment::groups() tells them");
}

}  // namespace

Deployment deploy(const System& system) { return deploy(system, DeployRequest{}); }
Deployment deploy(const std::string& system_file) { return deploy(system_file, DeployRequest{}); }

Deployment deploy(const System& given, const DeployRequest& request) {
  auto memory = std::make_shared<product::InMemory>();
  const auto system = face::guarded(
      [&] { return std::make_shared<const system::System>(face::system_of(given, *memory)); });
  memory->systems[system->file] = system;
  return made_of(system->file, std::move(memory), request);
}

Deployment deploy(const std::string& system_file, const DeployRequest& request) {
  return made_of(system_file, std::make_shared<product::InMemory>(), request);
}

Deployment Deployment::from_file(const std::string& path) { return from_file(path, {}); }

Deployment Deployment::from_file(const std::string& path, const Options& options) {
  face::Call call(options);
  return face::guarded(call, [&] {
    product::Networks networks(call.context());
    auto deployment = std::make_shared<const deployment::Deployment>(
        product::open_deployment(path, networks));
    auto groups = groups_of(*deployment, networks);
    auto chains = chains_of(*deployment, networks.context());
    return Access::make<Deployment>(std::move(deployment), path,
                                    std::shared_ptr<const product::InMemory>(), std::move(groups),
                                    std::move(chains));
  });
}

void Deployment::write(const std::string& path) const {
  face::Call call(Options{});
  face::guarded(call, [&] {
    product::Networks networks(call.context(impl()->memory));
    deployment::write_deployment(path, *impl()->deployment, networks.by_source());
  });
}

std::vector<GroupInfo> Deployment::groups() const { return impl()->groups; }
std::vector<ChainInfo> Deployment::chains() const { return impl()->chains; }

std::vector<std::string> Deployment::scenarios() const {
  std::vector<std::string> names;
  for (const system::Scenario& scenario : impl()->deployment->system.scenarios)
    names.push_back(scenario.name);
  return names;
}

DeploymentRun Deployment::start(std::function<void(GroupResult)> take) const {
  return start(std::move(take), RunOptions{});
}

namespace {

GroupResult result_of(const GroupInfo& group, application::Taken taken) {
  GroupResult result;
  result.group = group.name;
  result.frame = taken.frame.frame;
  result.input = taken.input;
  if (taken.result.picture) result.source = taken.result.picture->name;
  result.repeated = taken.repeated;
  result.outputs = face::frame_of(std::move(taken.result.outputs));
  result.findings = face::findings_of(std::move(taken.result.findings));
  result.arrived = taken.arrived;
  result.due = taken.frame.due;
  result.released = taken.frame.released;
  result.end = taken.frame.end;
  result.response = taken.frame.end - taken.frame.due;
  result.deadline = taken.frame.deadline;
  result.bound = taken.bound;
  result.missed = result.response > result.deadline;
  return result;
}

/// InputError if there is no such group, or it has no application.
std::set<std::string> own_of(const RunOptions& options, const std::vector<GroupInfo>& groups) {
  for (const std::string& name : options.own_inputs) {
    const auto found = std::ranges::find(groups, name, &GroupInfo::name);
    if (found == groups.end() || !found->is_application)
      throw InputError("own_inputs", fmt::format("found '{}', expected groups with an application, "
                                                 "whose file names the input",
                                                 name));
  }
  return {options.own_inputs.begin(), options.own_inputs.end()};
}

application::FeedPolicy policy_of(InputPolicy policy) {
  return policy == InputPolicy::every ? application::FeedPolicy::every
                                      : application::FeedPolicy::newest;
}

}  // namespace

DeploymentRun Deployment::start(std::function<void(GroupResult)> take,
                                const RunOptions& options) const {
  const auto call = std::make_shared<face::Call>(options.options);
  return face::guarded(*call, [&] {
    auto running = std::make_shared<Access::Impl<DeploymentRun>>(call);
    running->groups = impl()->groups;
    running->callback = std::move(take);
    product::DeploymentRunRequest request;
    request.deployment = impl()->name;
    request.scenario = options.scenario;
    request.level = options.level;
    request.output = options.output;
    request.tasks.libraries = options.plugins;
    request.context = call->context(impl()->memory);
    const auto ends = [state = running.get(), own = own_of(options, running->groups),
                       policy = policy_of(options.input)](
                          const product::LoadedDeployment& loaded,
                          std::size_t g) -> std::optional<product::DeliveriesRequest::Ends> {
      if (loaded.networks[g] == nullptr) return std::nullopt;
      const GroupInfo& group = state->groups[g];
      return product::DeliveriesRequest::Ends{
          own.contains(group.name) ? application::FeedPolicy::own : policy,
          [state, &group](application::Taken taken) {
            state->callback(result_of(group, std::move(taken)));
          }};
    };
    running->run = std::make_unique<product::LiveRun>(std::move(request), ends);
    running->run->start();
    return Access::of_shared<DeploymentRun>(std::move(running));
  });
}

application::GroupFeed& DeploymentRun::Impl::feed_of(const std::string& group) const {
  const auto& deliveries = run->deliveries();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].name != group) continue;
    if (deliveries[g] == nullptr)
      throw InputError(fmt::format("group '{}'", group), "has no model, and takes no frames");
    if (deliveries[g]->feed()->own() != nullptr)
      throw InputError(fmt::format("group '{}'", group),
                       "reads its own input; leave it out of RunOptions::own_inputs to feed it");
    return *deliveries[g]->feed();
  }
  throw InputError(fmt::format("group '{}'", group),
                   "is none of the deployment; Deployment::groups() tells them");
}

GroupReport DeploymentRun::Impl::report_of(const product::DeploymentRun& made,
                                           std::size_t group) const {
  GroupReport report;
  const runtime::GroupRecord& record = made.record.groups[group];
  report.group = record.name;
  report.due = record.frames.due;
  report.done = record.frames.done;
  report.skipped = record.frames.skipped;
  report.missed = record.frames.missed;
  report.largest_response = record.responses.largest();
  report.held = record.frames.held;
  report.longest_held = record.frames.longest_held;
  report.overruns = record.overruns;
  const auto found =
      std::ranges::find(made.deliveries, record.name, &application::DeliveryTotals::group);
  if (found == made.deliveries.end()) return report;
  report.submitted = found->counts.submitted;
  report.overwritten = found->counts.overwritten;
  for (const application::InputTotals& input : found->inputs) {
    report.submitted += input.queue.put;
    report.overwritten += input.queue.dropped;
  }
  report.repeated = found->counts.repeated;
  report.without_input = found->counts.without_input;
  report.undelivered = found->counts.undelivered;
  report.kept = found->kept;
  return report;
}

void DeploymentRun::Impl::stop() {
  const std::lock_guard lock(stopping);
  if (std::exchange(stopped, true)) return;
  try {
    const product::DeploymentRun made = run->stop();
    for (std::size_t g = 0; g < made.record.groups.size(); ++g)
      reports.push_back(report_of(made, g));
    const system::System& system = made.deployment.system;
    for (const product::ChainSeen& each : made.chains)
      chains.push_back({system.chains[each.chain].name, system[each.at.scenario].name,
                        each.at.level, each.times.ages.count(), each.times.ages.largest(),
                        each.times.reactions.largest(), each.bounds.age, each.bounds.reaction});
  } catch (...) {
    error = std::current_exception();
  }
}

bool DeploymentRun::submit(const std::string& group, const Frame& frame) {
  return face::guarded(*impl()->call, [&] {
    application::GroupFeed& feed = impl()->feed_of(group);
    std::vector<network::Array> arrays = face::arrays_of(frame);
    check_frame(group, *feed.network(), arrays);
    return feed.put({-1, std::chrono::steady_clock::now(), std::move(arrays), {}});
  });
}

bool DeploymentRun::submit(const std::string& group, const Image& image) {
  return face::guarded(*impl()->call, [&] {
    application::GroupFeed& feed = impl()->feed_of(group);
    application::Picture picture = face::picture_of(image, 0);
    return feed.put({-1, std::chrono::steady_clock::now(), {}, std::move(picture)});
  });
}

void DeploymentRun::switch_to(const std::string& scenario, std::optional<std::int64_t> level) {
  face::guarded(*impl()->call, [&] { impl()->run->switch_to(scenario, level); });
}

std::vector<GroupReport> DeploymentRun::stop() {
  return face::guarded(*impl()->call, [&] {
    impl()->stop();
    if (impl()->error) std::rethrow_exception(impl()->error);
    return impl()->reports;
  });
}

std::vector<ChainReport> DeploymentRun::stop_chains() {
  stop();
  return impl()->chains;
}

}  // namespace v1
}  // namespace millrace
