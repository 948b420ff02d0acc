/* The example's engine with one fault, which MILLRACE_FAULT names. */
#define _GNU_SOURCE
#define millrace_engine example_engine
#include "../../examples/engine/example.c"
#undef millrace_engine

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

static int has(const char* fault) {
  const char* const text = getenv("MILLRACE_FAULT");
  return text != NULL && strcmp(text, fault) == 0;
}
static float* first(MillraceRun* r) { return (float*)r->outputs[0].handle; }

static int32_t run_wrong_result(MillraceProgram* p, MillraceRun* r) {
  run(p, r);
  first(r)[0] += 1;
  return 0;
}
void* volatile lost;
static int32_t run_leak(MillraceProgram* p, MillraceRun* r) {
  lost = malloc(100);
  return run(p, r);
}
static int32_t run_race(MillraceProgram* p, MillraceRun* r) {
  static char shared[1 << 20];
  const size_t bytes = r->outputs[0].bytes < sizeof shared ? r->outputs[0].bytes : sizeof shared;
  run(p, r);
  memcpy(shared, first(r), bytes);
  sched_yield();
  memcpy(first(r), shared, bytes);
  return 0;
}
typedef struct {
  MillraceProgram* program;
  MillraceRun run;
  MillraceBuffer inputs[8], outputs[8];
} Late;
static void* run_later(void* late) {
  Late* l = late;
  poll(NULL, 0, 30);
  run(l->program, &l->run);
  free(l);
  return NULL;
}
static int32_t run_late_event(MillraceProgram* p, MillraceRun* r) {
  Late* l = calloc(1, sizeof *l);
  pthread_t thread;
  l->program = p;
  memcpy(l->inputs, r->inputs, p->head.inputs * sizeof *r->inputs);
  memcpy(l->outputs, r->outputs, p->head.outputs * sizeof *r->outputs);
  l->run.inputs = l->inputs, l->run.outputs = l->outputs;
  if (pthread_create(&thread, NULL, run_later, l) == 0) pthread_detach(thread);
  return 0;
}
static int32_t load_wrong_shape(MillraceInstance* instance, MillraceLoading* l) {
  static const int64_t shape[] = {1, 2};
  load(instance, l);
  l->program->outputs[0].shape = shape, l->program->outputs[0].rank = 2;
  return 0;
}
static int32_t run_crash(MillraceProgram* p, MillraceRun* r) {
  *(volatile int*)(p->head.floats < 0 ? (void*)r : NULL) = 1;
  return 0;
}
static int32_t load_crash(MillraceInstance* instance, MillraceLoading* l) {
  return run_crash((load(instance, l), l->program), NULL);
}
static int32_t run_hang(MillraceProgram* p, MillraceRun* r) {
  (void)p, (void)r;
  while (p != NULL) pause();
  return 0;
}
static int32_t load_memory(MillraceInstance* instance, MillraceLoading* l) {
  load(instance, l);
  l->weight_bytes = l->working_bytes = 0;
  return 0;
}
static int32_t run_non_determinism(MillraceProgram* p, MillraceRun* r) {
  static int runs;
  run(p, r);
  first(r)[0] += 1e-6f * (float)(__atomic_fetch_add(&runs, 1, __ATOMIC_RELAXED) % 2);
  return 0;
}
static int32_t can_run_wrong_reason(MillraceInstance* instance, MillraceQuestion* q) {
  static const int64_t one[] = {1};
  for (q->node = 0; q->node < q->subnet->node_count; ++q->node)
    if (*ints(&q->subnet->nodes[q->node], "group", one) > 1)
      return refuse(q, millrace_no_operator, "it is not known");
  return can_run(instance, q);
}

/* Not faults: a memory of its own, whose bytes are turned around so that nobody else reads them. */
static int32_t open_own_memory(MillraceOpening* o) {
  static const char* const spaces[] = {"board"};
  static MillraceDevice device;
  open_npu(o);
  device = *o->devices;
  device.spaces = spaces, device.space_count = 1, device.copies = has("own_memory_copies");
  o->devices = &device;
  return 0;
}
static int32_t allocate(MillraceInstance* instance, MillraceBuffer* b) {
  (void)instance;
  return (b->handle = malloc(b->bytes)) == NULL;
}
static void release(MillraceInstance* instance, MillraceBuffer* b) {
  (void)instance;
  free(b->handle);
}
static void turn(const MillraceBuffer* from, const MillraceBuffer* to) {
  for (size_t i = 0; i < to->bytes; ++i)
    ((unsigned char*)to->handle)[i] = ((unsigned char*)from->handle)[i] ^ 0x5a;
}
size_t millrace_faulty_moved; /* bytes of all transfers */
static int32_t transfer(MillraceInstance* instance, const MillraceBuffer* from,
                        const MillraceBuffer* to) {
  (void)instance;
  __atomic_fetch_add(&millrace_faulty_moved, to->bytes, __ATOMIC_RELAXED);
  turn(from, to);
  return 0;
}
static void turn_all(const MillraceBuffer* buffers, int64_t count) {
  for (int64_t i = 0; i < count; ++i) turn(&buffers[i], &buffers[i]);
}
static int32_t run_own_memory(MillraceProgram* p, MillraceRun* r) {
  turn_all(r->inputs, p->head.inputs);
  run(p, r);
  turn_all(r->inputs, p->head.inputs);
  turn_all(r->outputs, p->head.outputs);
  return 0;
}

/* Not a fault: runs that return early. The faults: their event comes before the outputs, twice, or
   never. */
static int32_t open_signals(MillraceOpening* o) {
  static MillraceDevice device;
  open_npu(o);
  device = *o->devices;
  device.signals = 1;
  o->devices = &device;
  return 0;
}
static void* run_and_say(void* late) {
  Late* l = late;
  if (has("early_event")) {
    l->run.done(l->run.user, 0);
    poll(NULL, 0, 30);
  }
  run(l->program, &l->run);
  if (!has("early_event") && !has("no_event")) l->run.done(l->run.user, has("failed_event"));
  if (has("two_events")) l->run.done(l->run.user, 0);
  free(l);
  return NULL;
}
static int32_t run_signals(MillraceProgram* p, MillraceRun* r) {
  Late* l = calloc(1, sizeof *l);
  pthread_t thread;
  l->program = p, l->run = *r;
  memcpy(l->inputs, r->inputs, p->head.inputs * sizeof *r->inputs);
  memcpy(l->outputs, r->outputs, p->head.outputs * sizeof *r->outputs);
  l->run.inputs = l->inputs, l->run.outputs = l->outputs;
  if (pthread_create(&thread, NULL, run_and_say, l) != 0) return 1;
  pthread_detach(thread);
  return 0;
}

/* A device that only compiles here, one of another model, and one that stops compiling. */
static int32_t open_changed(MillraceOpening* o) {
  static MillraceDevice device;
  if (o->option_count > 0) {
    snprintf(o->text, millrace_text_size, "it has no option %s", o->options[0].key);
    return 1;
  }
  open_npu(o);
  device = *o->devices;
  if (has("absent")) device.is_absent = 1;
  if (has("other_model")) device.model = "other NPU";
  o->devices = &device;
  return 0;
}

/* An SDK that a process can open once. */
static int32_t open_once(MillraceOpening* o) {
  static int opens;
  if (opens++ == 0) return open_npu(o);
  snprintf(o->text, millrace_text_size, "it is open already");
  return 1;
}

const MillraceEngine* millrace_engine(uint32_t version) {
  static MillraceEngine e;
  if (example_engine(version) == NULL || has("nothing")) return NULL;
  e = *example_engine(version);
  if (has("wrong_result")) e.run = run_wrong_result;
  if (has("leak")) e.run = run_leak;
  if (has("open_once")) e.open = open_once;
  if (has("race")) e.run = run_race;
  if (has("late_event")) e.run = run_late_event;
  if (has("wrong_shape")) e.load = load_wrong_shape;
  if (has("crash")) e.run = run_crash;
  if (has("crash_in_load")) e.load = load_crash;
  if (has("hang")) e.run = run_hang;
  if (has("memory")) e.load = load_memory;
  if (has("non_determinism")) e.run = run_non_determinism;
  if (has("wrong_reason")) e.can_run = can_run_wrong_reason;
  if (has("own_memory") || has("own_memory_copies")) {
    e.open = open_own_memory, e.run = run_own_memory;
    e.allocate = allocate, e.release = release, e.transfer = transfer;
  }
  if (has("signals") || has("early_event") || has("two_events") || has("no_event") ||
      has("failed_event"))
    e.open = open_signals, e.run = run_signals;
  if (has("absent") || has("other_model") || has("options")) e.open = open_changed;
  if (has("other_sdk")) e.sdk = "2";
  if (has("other_name")) e.name = "stranger";
  if (has("other_version")) e.version = 7;
  if (has("no_run")) e.run = NULL;
  if (has("no_name")) e.name = "no/name";
  if (has("too_large")) e.size = sizeof e + 8;
  return &e;
}
