// Built for another version of the interface than the one that loads it.
#include "application/plugin.h"

extern "C" const millrace::application::Plugin* millrace_plugin() {
  static const millrace::application::Plugin plugin{
      millrace::application::plugin_interface + 1,
      [](millrace::application::Registry&) { throw 1; }};  // must not be called
  return &plugin;
}
