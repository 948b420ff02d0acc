#pragma once
// The public library: open a model, make its plan, run it. What the command does is all in the
// headers of api/; examples/hello shows the calls. Everything stands on the rooms' own headers,
// which are public too and say more.
#include "api/analyze.h"
#include "api/calibrate.h"
#include "api/deployment/analyze.h"
#include "api/deployment/measure_deployment.h"
#include "api/deployment/profile_system.h"
#include "api/deployment/run.h"
#include "api/deployment/simulate.h"
#include "api/open_model.h"
#include "api/pipeline.h"
#include "api/planning/make_plan.h"
#include "api/profile.h"
#include "api/run.h"
#include "api/simulate.h"
#include "api/verify.h"
#include "network/read.h"
#include "plan/plan_file.h"
#include "simulate/simulate.h"

namespace millrace {

using api::deploy;
using api::find_plan;
using api::make_plan;
using api::measure;
using api::open_model;
using api::Pipeline;
using board::this_machine;
using network::read_network;

}  // namespace millrace
