// The run-time compiler, opened by path, so that the twins use the very library that Python uses.
#pragma once
#include <dlfcn.h>
#include <glob.h>

#include <string>
#include <vector>

#include "round.h"

class Nvrtc {
  public:
    explicit Nvrtc(const std::string &path) {
        // It opens its builtins by bare name later, so they have to be there before.
        glob_t builtins;
        if (!glob((path.substr(0, path.rfind('/')) + "/libnvrtc-builtins.so.*").c_str(), 0, nullptr, &builtins))
            dlopen(builtins.gl_pathv[0], RTLD_NOW | RTLD_GLOBAL);
        globfree(&builtins);
        library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
        if (!library) throw std::runtime_error(dlerror());
        get(create, "nvrtcCreateProgram");
        get(compile, "nvrtcCompileProgram");
        get(size, "nvrtcGetPTXSize");
        get(ptx, "nvrtcGetPTX");
        get(destroy, "nvrtcDestroyProgram");
    }

    // The PTX of `source`, which includes `headers` by `names`.
    std::string operator()(const char *source, const std::string &option,
                           const std::vector<const char *> &headers = {},
                           const std::vector<const char *> &names = {}) const {
        void *program = nullptr;
        const char *options[] = {option.c_str()};
        size_t bytes = 0;
        CHECK(create(&program, source, "saxpy.cu", static_cast<int>(headers.size()), headers.data(), names.data()));
        CHECK(compile(program, 1, options));
        CHECK(size(program, &bytes));
        std::string text(bytes, '\0');
        CHECK(ptx(program, &text[0]));
        CHECK(destroy(&program));
        return text;
    }

  private:
    template <class F> void get(F &function, const char *name) {
        function = reinterpret_cast<F>(dlsym(library, name));
        if (!function) throw std::runtime_error(dlerror());
    }

    void *library;
    int (*create)(void **, const char *, const char *, int, const char *const *, const char *const *);
    int (*compile)(void *, int, const char *const *);
    int (*size)(void *, size_t *);
    int (*ptx)(void *, char *);
    int (*destroy)(void **);
};
