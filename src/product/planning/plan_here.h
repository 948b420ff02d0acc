#pragma once
// A model without a plan gets one, for all processors that it may use.
#include "application/application.h"
#include "product/loaded.h"

namespace millrace::product {

/// Replaces the plan of `loaded`, which is of the model of `setup` on one processor, by one that
/// `make_plan` finds for all processors of its board. With one processor only, it chooses variants.
void plan_here(Loaded& loaded, const Setup& setup);

/// The network of an application's crops, if its file does not say where it runs. Borrowed.
struct CropsHere {
  const application::Crops& crops;
  Loaded& loaded;
};
/// Plans both networks together.
void plan_here(Loaded& loaded, const Setup& setup, const CropsHere& crops);

}  // namespace millrace::product
