/* An engine for a device of its own, "npu0": it computes Conv, Relu and Add of float32 with plain
   loops. A subnet is compiled to steps on one piece of memory, which begins with the weights. */
#include <millrace/engine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { /* x, w, b, y: where the tensors lie, in floats; b may be -1 */
  int64_t op, x, w, b, y, count, groups, c, h, wd, m, oh, ow, kh, kw, sh, sw, ph, pw, dh, dw;
} Step;
typedef struct { int64_t at, bytes, rank, shape[8]; } Value; /* an input or output */
typedef struct { int64_t steps, inputs, outputs, weights, floats; } Header; /* of a blob; then: */
struct MillraceProgram {
  Header head;
  Step* steps;
  Value* values; /* inputs, then outputs; then come the weights */
  float* memory;
  MillraceTensor* outputs;
};

static const int64_t* ints(const MillraceNode* node, const char* name, const int64_t* or_else) {
  for (size_t i = 0; i < node->attribute_count; ++i)
    if (!strcmp(node->attributes[i].name, name)) return node->attributes[i].integers;
  return or_else;
}
static int is(const MillraceNode* node, const char* op) { return !strcmp(node->op, op); }

static int32_t refuse(MillraceQuestion* question, int32_t reason, const char* text) {
  question->reason = reason;
  snprintf(question->text, millrace_text_size, "%s", text);
  return 0;
}
static int32_t can_run(MillraceInstance* instance, MillraceQuestion* q) {
  for (q->node = 0; q->node < q->subnet->node_count; ++q->node) {
    const MillraceNode* n = &q->subnet->nodes[q->node];
    const MillraceTensor *t = q->subnet->tensors, *x = &t[n->inputs[0]], *y = &t[n->outputs[0]];
    if (!is(n, "Conv") && !is(n, "Relu") && !is(n, "Add"))
      return refuse(q, millrace_no_operator, "it is not known");
    if (x->type != millrace_float32) return refuse(q, millrace_no_type, "expected float32");
    if (x->rank < 0 || x->rank > 8 || y->rank != x->rank)
      return refuse(q, millrace_no_shape, "expected at most 8 dimensions");
    if (is(n, "Conv") && (x->rank != 4 || x->shape[0] != 1 || !t[n->inputs[1]].data))
      return refuse(q, millrace_no_shape, "expected one image and constant filters");
    if (is(n, "Add") && (t[n->inputs[1]].bytes != x->bytes || y->bytes != x->bytes))
      return refuse(q, millrace_no_shape, "expected equal shapes");
  }
  return q->reason = millrace_runs;
}
static Step step_of(const MillraceSubnet* s, const MillraceNode* n, const int64_t* at) {
  static const int64_t ones[] = {1, 1}, zeros[] = {0, 0};
  const MillraceTensor *x = &s->tensors[n->inputs[0]], *y = &s->tensors[n->outputs[0]];
  Step r = {.op = *n->op, .x = at[n->inputs[0]], .b = -1, .y = at[n->outputs[0]]};
  r.count = x->bytes / sizeof(float);
  if (n->input_count > 1) r.w = at[n->inputs[1]];
  if (n->input_count > 2 && n->inputs[2] >= 0) r.b = at[n->inputs[2]];
  if (!is(n, "Conv")) return r;
  const int64_t *strides = ints(n, "strides", ones), *dilations = ints(n, "dilations", ones),
                *pads = ints(n, "pads", zeros), *w = s->tensors[n->inputs[1]].shape;
  r.groups = *ints(n, "group", ones), r.c = x->shape[1], r.h = x->shape[2], r.wd = x->shape[3];
  r.m = w[0], r.oh = y->shape[2], r.ow = y->shape[3], r.kh = w[2], r.kw = w[3];
  r.sh = strides[0], r.sw = strides[1], r.ph = pads[0], r.pw = pads[1];
  r.dh = dilations[0], r.dw = dilations[1];
  return r;
}
static int32_t compile(MillraceInstance* instance, MillraceCompilation* c) {
  const MillraceSubnet* s = c->subnet;
  Header head = {s->node_count, s->input_count, s->output_count, 0, 0};
  int64_t* at = malloc(s->tensor_count * sizeof *at);
  for (int is_weight = 1; is_weight >= 0; --is_weight) { /* weights lie first */
    for (size_t i = 0; i < s->tensor_count; ++i)
      if ((s->tensors[i].data != 0) == is_weight)
        at[i] = head.floats, head.floats += (s->tensors[i].bytes + 3) / sizeof(float);
    if (is_weight) head.weights = head.floats;
  }
  const size_t ends = head.inputs + head.outputs;
  c->blob_bytes = sizeof head + head.steps * sizeof(Step) + ends * sizeof(Value) + head.weights * 4;
  Header* blob = c->blob = calloc(1, c->blob_bytes);
  *blob = head;
  Step* step = (Step*)(blob + 1);
  for (size_t i = 0; i < s->node_count; ++i) *step++ = step_of(s, &s->nodes[i], at);
  Value* value = (Value*)step;
  for (size_t i = 0; i < ends; ++i, ++value) {
    const int32_t id = i < s->input_count ? s->inputs[i] : s->outputs[i - s->input_count];
    *value = (Value){at[id], s->tensors[id].bytes, s->tensors[id].rank, {0}};
    memcpy(value->shape, s->tensors[id].shape, value->rank * sizeof(int64_t));
  }
  for (size_t i = 0; i < s->tensor_count; ++i)
    if (s->tensors[i].data) memcpy((float*)value + at[i], s->tensors[i].data, s->tensors[i].bytes);
  free(at);
  return c->progress(c->user, 1);
}

static int32_t load(MillraceInstance* instance, MillraceLoading* l) {
  MillraceProgram* p = l->program = calloc(1, sizeof *p);
  p->head = *(const Header*)l->blob;
  p->steps = malloc(l->blob_bytes), p->memory = calloc(p->head.floats, sizeof(float));
  memcpy(p->steps, (const Header*)l->blob + 1, l->blob_bytes - sizeof(Header));
  p->values = (Value*)(p->steps + p->head.steps);
  const Value* end = p->values + p->head.inputs + p->head.outputs;
  memcpy(p->memory, end, p->head.weights * sizeof(float));
  MillraceTensor* y = p->outputs = calloc(p->head.outputs + 1, sizeof *y);
  for (const Value* v = p->values + p->head.inputs; v < end; ++v)
    *y++ = (MillraceTensor){"", millrace_float32, v->rank, v->shape, 0, v->bytes, 0, 0};
  l->outputs = p->outputs, l->output_count = p->head.outputs;
  l->weight_bytes = l->blob_bytes, l->working_bytes = p->head.floats * sizeof(float);
  return 0;
}
static void unload(MillraceProgram* p) {
  free(p->outputs), free(p->memory), free(p->steps), free(p);
}
static void convolve(const Step* s, float* memory, int64_t m) { /* output channel m */
  const int64_t per = s->c / s->groups, first = m / (s->m / s->groups) * per;
  float *y = memory + s->y + m * s->oh * s->ow, *w = memory + s->w + m * per * s->kh * s->kw;
  for (int64_t i = 0; i < s->oh * s->ow; ++i) y[i] = s->b < 0 ? 0 : memory[s->b + m];
  for (int64_t k = 0; k < per * s->kh * s->kw; ++k, ++w) {
    const int64_t kx = k % s->kw * s->dw - s->pw, ky = k / s->kw % s->kh * s->dh - s->ph;
    const float* x = memory + s->x + (first + k / s->kw / s->kh) * s->h * s->wd;
    for (int64_t oy = 0, iy = ky; oy < s->oh; ++oy, iy += s->sh)
      for (int64_t ox = 0, ix = kx; ox < s->ow; ++ox, ix += s->sw)
        y[oy * s->ow + ox] +=
            iy < 0 || iy >= s->h || ix < 0 || ix >= s->wd ? 0 : *w * x[iy * s->wd + ix];
  }
}
static int32_t run(MillraceProgram* p, MillraceRun* r) {
  float* f = p->memory;
  const Value* v = p->values;
  for (int i = 0; i < p->head.inputs; ++i, ++v) memcpy(f + v->at, r->inputs[i].handle, v->bytes);
  for (const Step* s = p->steps; s < p->steps + p->head.steps; ++s) {
    const float *x = f + s->x, *w = f + s->w;
    for (int64_t m = 0; s->op == 'C' && m < s->m; ++m) convolve(s, f, m);
    for (int64_t i = 0; s->op == 'R' && i < s->count; ++i) f[s->y + i] = x[i] > 0 ? x[i] : 0;
    for (int64_t i = 0; s->op == 'A' && i < s->count; ++i) f[s->y + i] = x[i] + w[i];
  }
  for (int i = 0; i < p->head.outputs; ++i, ++v) memcpy(r->outputs[i].handle, f + v->at, v->bytes);
  return 0;
}
static int32_t open_npu(MillraceOpening* opening) {
  static const MillraceDevice npu = {"npu0", "example NPU", millrace_npu, 1 << millrace_f32, 0, 1};
  opening->devices = &npu, opening->device_count = 1;
  return 0;
}
const MillraceEngine* millrace_engine(uint32_t version) {
  static const MillraceEngine engine = {
      .version = millrace_engine_version, .size = sizeof engine, .name = "example", .sdk = "1",
      .open = open_npu, .can_run = can_run, .compile = compile, .free_blob = free, .load = load,
      .run = run, .unload = unload};
  return version == millrace_engine_version ? &engine : 0;
}
