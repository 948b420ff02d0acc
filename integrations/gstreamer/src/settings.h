#pragma once
// What the properties of the element say.
#include <string>

struct MillraceSettings {
  std::string config;   // an application's file
  std::string model;    // or a model, with what follows
  std::string kind = "detect";
  std::string head;     // of outputs that may be of several; empty: as they say
  std::string labels;   // a file with one name a line
  double threshold = 0.25;
  std::string plan;     // a plan's file; empty: made or kept for this machine
  std::string processors;  // of a plan that is made, between commas; empty: all
  bool draw = false;
  bool post_messages = true;
  bool qos = true;
};
