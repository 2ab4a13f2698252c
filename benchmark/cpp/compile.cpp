// The C++ twin of the NVRTC rows of test_calls.py. Arguments: the path of libnvrtc, the source text, the option, how many
// headers, and of each its text and its name.
#include <memory>

#include "nvrtc.h"
#include "round.h"

static std::unique_ptr<Nvrtc> nvrtc;
static std::string source, option;
static std::vector<std::string> texts;
static std::vector<const char *> headers, names;

extern "C" int twin_open(const char *const *arguments, char *reason, size_t size) {
    return answer(reason, size, [&] {
        nvrtc = std::make_unique<Nvrtc>(arguments[0]);
        source = arguments[1], option = arguments[2];
        const int count = 2 * std::stoi(arguments[3]);
        texts.assign(arguments + 4, arguments + 4 + count);
        headers.clear(), names.clear();
        for (int i = 0; i < count; i += 2) headers.push_back(texts[i].c_str()), names.push_back(texts[i + 1].c_str());
    });
}

extern "C" int twin_round(const char *, long long calls, double *seconds, char *reason, size_t size) {
    return answer(reason, size, [&] {
        *seconds = batch(calls, [&] { (*nvrtc)(source.c_str(), option, headers, names); }, [] {});
    });
}
