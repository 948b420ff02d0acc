#pragma once
// The element `millrace`: video in, the same video out, with findings beside each buffer.
#include <gst/gst.h>

#include "flow.h"
#include "settings.h"

G_BEGIN_DECLS

#define GST_TYPE_MILLRACE (gst_millrace_get_type())
G_DECLARE_FINAL_TYPE(GstMillrace, gst_millrace, GST, MILLRACE, GstElement)

struct _GstMillrace {
  GstElement element;
  GstPad *sink, *source;
  MillraceSettings* settings;   // under the object's lock
  millrace_gst::Flow* flow;
};

G_END_DECLS

namespace millrace_gst {

/// Installs the properties, and the functions that set and get them.
void add_properties(GObjectClass* object_class);

}  // namespace millrace_gst
