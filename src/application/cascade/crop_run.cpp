#include "application/cascade/crop_run.h"

#include <optional>
#include <utility>

#include "application/cascade/crop_steps.h"
#include "base/error.h"
#include "runtime/pool.h"
#include "runtime/waiting/live_queue.h"

namespace millrace::application {
namespace {

using CroppedTravels = std::shared_ptr<std::vector<Travel>>;  // shared by a job's two steps

constexpr std::size_t most_waiting_for_crops = 2;

/// The stage that failed is one of the second network.
template <class Call>
auto of_crops(const Call& call) {
  try {
    return call();
  } catch (const InputError& error) {
    throw InputError("crops", error.what());
  } catch (const EngineError& error) {
    throw EngineError(std::string("crops: ") + error.what());
  }
}

}  // namespace

// submit -> queue beside the session -> `pool` -> done
struct CropRun::State {
  State(const CropParts& parts_of, Hooks hooks_of)
      : parts(parts_of),
        hooks(std::move(hooks_of)),
        queue(most_waiting_for_crops, runtime::WhenFull::block) {}

  const CropParts parts;
  const Hooks hooks;
  runtime::LiveQueue<CroppedTravels> queue;
  std::unique_ptr<runtime::Pool> pool;  // the last: it uses the others

  std::optional<runtime::Job> job() {
    auto travels = queue.take();
    if (!travels) return std::nullopt;
    for (Travel& travel : **travels)
      for (std::size_t run = crop_runs(parts, travel); run > 0; --run) {
        auto result = of_crops([&] { return parts.session->next(); });
        if (!result) return std::nullopt;
        travel.crop_outputs.push_back(std::move(result->outputs));
      }
    return runtime::Job{[this, all = *travels] {
                          for (Travel& travel : *all) examine_crops(parts, travel);
                        },
                        [this, all = *travels] {
                          for (Travel& travel : *all) hooks.done(travel);
                          return true;
                        }};
  }
};

CropRun::CropRun(const CropParts& parts, Hooks hooks)
    : state_(std::make_unique<State>(parts, std::move(hooks))) {
  const Workers& workers = parts.crops->postprocess.workers;
  state_->pool = std::make_unique<runtime::Pool>(
      [state = state_.get()] { return state->job(); },
      runtime::PoolOptions{"crops", workers.threads, workers.cores,
                           [state = state_.get()](std::exception_ptr error) {
                             if (error) state->hooks.failed();
                           }});
}

CropRun::~CropRun() { stop(); }

bool CropRun::submit(const std::shared_ptr<std::vector<Travel>>& travels) {
  std::vector<std::vector<network::Array>> runs;
  for (Travel& travel : *travels)
    for (std::vector<network::Array>& inputs : take_crop_inputs(state_->parts, travel))
      runs.push_back(std::move(inputs));
  if (!state_->queue.put(travels)) return false;  // another thread has them from here on
  for (const std::vector<network::Array>& inputs : runs)
    if (!of_crops([&] { return state_->parts.session->submit(inputs); })) return false;
  return true;
}

void CropRun::finish(std::exception_ptr error) {
  state_->parts.session->finish();
  state_->queue.finish(error);
}

void CropRun::stop() {
  state_->queue.close();
  state_->parts.session->stop();
}

bool CropRun::wait_for(std::chrono::milliseconds time) { return state_->pool->wait_for(time); }

}  // namespace millrace::application
