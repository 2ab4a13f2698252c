// The C++ twin of the NVRTC row of test_calls.py. Arguments: the path of libnvrtc, the source text, the option.
#include "nvrtc.h"

int main(int, char **argv) {
    Nvrtc nvrtc(argv[1]);
    return serve([&](const std::string &, long long calls) {
        return batch(calls, [&] { nvrtc(argv[2], argv[3]); }, [] {});
    });
}
