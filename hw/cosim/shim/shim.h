// What every shim has in common: a table of C functions for a Verilated top.
//
//   #include "Vfoo.h"
//   #include "shim.h"
//   struct In { uint16_t a[8]; };          // as `FooIn` in src/foo.rs, repr(C)
//   struct Out { uint32_t b; };
//   static void drive(Vfoo &top, const In &in) { ... }
//   static void sample(const Vfoo &top, Out &out) { ... }
//   SHIM(foo, Vfoo, In, Out)
//
// A step drives the inputs, gives one rising and one falling edge of `clk`, and
// samples the outputs.
#ifndef COSIM_SHIM_H
#define COSIM_SHIM_H

#include <cstddef>
#include <cstdint>
#include <memory>

#include "verilated.h"
#ifdef COSIM_COVERAGE
#include "verilated_cov.h"
#endif

extern "C" struct ShimTable {
    size_t in_size;
    size_t out_size;
    void *(*create)();
    void (*destroy)(void *);
    void (*step)(void *, const void *in, void *out);
    // Only settles what hangs on the inputs: for asynchronous reset and
    // combinational pins.
    void (*settle)(void *, const void *in, void *out);
    // 0 when the counters were written, 1 when the build has none.
    int (*coverage)(void *, const char *path);
};

template <class Top> struct ShimModel {
    VerilatedContext context;
    Top top;
    ShimModel() : top(&context) {}
};

#ifdef COSIM_COVERAGE
#define SHIM_COVERAGE(model, path) ((model)->context.coveragep()->write(path), 0)
#else
#define SHIM_COVERAGE(model, path) ((void)(model), (void)(path), 1)
#endif

#define SHIM(name, Top, In, Out)                                                                   \
    static void *name##_create() {                                                                 \
        auto *model = new ShimModel<Top>;                                                          \
        model->top.clk = 0;                                                                        \
        model->top.eval(); /* edges count from here */                                             \
        return model;                                                                              \
    }                                                                                              \
    static void name##_destroy(void *handle) {                                                     \
        auto *model = static_cast<ShimModel<Top> *>(handle);                                       \
        model->top.final();                                                                        \
        delete model;                                                                              \
    }                                                                                              \
    static void name##_step(void *handle, const void *in, void *out) {                             \
        Top &top = static_cast<ShimModel<Top> *>(handle)->top;                                     \
        drive(top, *static_cast<const In *>(in));                                                  \
        top.clk = 1;                                                                               \
        top.eval();                                                                                \
        top.clk = 0;                                                                               \
        top.eval();                                                                                \
        sample(top, *static_cast<Out *>(out));                                                     \
    }                                                                                              \
    static void name##_settle(void *handle, const void *in, void *out) {                           \
        Top &top = static_cast<ShimModel<Top> *>(handle)->top;                                     \
        drive(top, *static_cast<const In *>(in));                                                  \
        top.eval();                                                                                \
        sample(top, *static_cast<Out *>(out));                                                     \
    }                                                                                              \
    static int name##_coverage(void *handle, const char *path) {                                   \
        return SHIM_COVERAGE(static_cast<ShimModel<Top> *>(handle), path);                         \
    }                                                                                              \
    extern "C" const ShimTable name##_shim = {sizeof(In),   sizeof(Out),   name##_create,          \
                                              name##_destroy, name##_step, name##_settle,          \
                                              name##_coverage};

#endif
