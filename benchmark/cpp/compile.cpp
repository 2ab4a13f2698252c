// The C++ twin of the NVRTC row of test_calls.py. Arguments: the path of libnvrtc, the source text, the option.
#include <memory>

#include "nvrtc.h"
#include "round.h"

static std::unique_ptr<Nvrtc> nvrtc;
static std::string source, option;

extern "C" int twin_open(const char *const *arguments, char *reason, size_t size) {
    return answer(reason, size, [&] {
        nvrtc = std::make_unique<Nvrtc>(arguments[0]);
        source = arguments[1], option = arguments[2];
    });
}

extern "C" int twin_round(const char *, long long calls, double *seconds, char *reason, size_t size) {
    return answer(reason, size, [&] {
        *seconds = batch(calls, [&] { (*nvrtc)(source.c_str(), option.c_str()); }, [] {});
    });
}
