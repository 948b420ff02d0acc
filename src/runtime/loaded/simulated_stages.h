#pragma once
// Plans for a board that is not at hand: their results are computed here, their times are the
// plan's predictions.
#include <string>

#include "plan/plan.h"
#include "engine/options.h"
#include "runtime/loaded/loaded.h"

namespace millrace::runtime {

/// If this machine has the CPU of the board that the plan was made for: simulated stages whose
/// processors are here, and whose layers run here as planned, are simulated no more.
void make_real_where_here(Loaded& loaded, const engine::EngineOptions& options);

/// If the plan has simulated stages, the engine for them: each phase takes its predicted time, at
/// `time_scale` times its length (0: only what computing takes). What this machine cannot compute
/// in the plan's precision becomes f32, in the plan as well. InputError if a phase has no time or
/// too long a one, or a layer cannot be computed here at all.
void add_simulated_engine(Loaded& loaded, const engine::EngineOptions& options,
                          double time_scale);

/// What took so long here, on the board.
Time board_time(Time time, const Loaded& loaded);

/// Notes what is computed in another precision than planned.
void note_simulation(const Loaded& loaded);
/// Notes which stages could not keep the modelled pace.
void note_late_stages(const Loaded& loaded);
/// The same of a plan; `prefix` is before a stage's name. How many times its modelled time the
/// worst of them took; 0: none is late.
double note_late_stages(const plan::Plan& plan, const std::vector<engine::simulated::Pace>& paces,
                        const std::string& prefix, const Context& context);

}  // namespace millrace::runtime
