"""The header reader on small headers of our own, and the unpacking of wheels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .reader import Field, Header, Struct, read

Parse = Callable[..., Header]


@pytest.fixture
def parse(tmp_path: Path) -> Parse:
    """Reads texts, each as a file, in order."""

    def parse(*texts: str, **defines: str) -> Header:
        paths = [tmp_path / f"{number}.h" for number in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        return read(paths, defines)

    return parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CUresult CUDAAPI f(CUstream s, size_t n);", "CUresult f(CUstream s, size_t n)"),
        ("extern __host__ __cudart_builtin__ int CUDARTAPI f(int a);", "int f(int a)"),
        ("__attribute__((deprecated)) int f(void);", "int f(void)"),
        ("int f();;", "int f(void)"),
        ("int f ( int\n  a,\tint b ) ;", "int f(int a, int b)"),
        ("const char* f(char ** out, void*const*p);", "const char *f(char **out, void *const *p)"),
        ("int f(const N * const * x);", "int f(const N *const *x)"),
        ("int f(struct S *s, const enum E *e, union U u);", "int f(S *s, const E *e, U u)"),
        ("int f(int x[], char y[4]);", "int f(int x[], char y[4])"),
        ("int f(const char *, unsigned int);", "int f(const char *, unsigned int)"),
        ("int f(int (*call)(void*, int), ...);", "int f(int (*call)(void *, int), ...)"),
        ("int f(int a /* the, (first) */, // and\n int b);", "int f(int a, int b)"),
        ("#define __dv(v)\nint f(int a __dv(0), int b __dv((1, 2)));", "int f(int a, int b)"),
        ("#define LONG(a, \\\n b) a b\nint f(LONG(const, int) x);", "int f(const int x)"),
        ("#define BYTES 40\nint f(char x[BYTES]);", "int f(char x[40])"),
        ('#define API(s) int\nAPI("// no comment") f(void);', "int f(void)"),
        ("#define IN(x) x\nint f(int IN, IN(int b));", "int f(int IN, int b)"),
    ],
)
def test_prototype(parse: Parse, text: str, expected: str) -> None:
    assert parse(text).functions == {"f": expected}


DRIVER = """
#if defined(__CUDA_API_VERSION_INTERNAL) || defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
    #define __CUDA_API_PER_THREAD_DEFAULT_STREAM
    #define __CUDA_API_PTSZ(api) api ## _ptsz
#else
    #define __CUDA_API_PTSZ(api) api
#endif
#define cuAlloc       cuAlloc_v2
#define cuCreate      cuCreate_v4
#define cuCopy        __CUDA_API_PTSZ(cuCopy_v2)
#define cuInfo        __CUDA_API_PTSZ(cuInfo_v2)
#define cuInfo_v2     __CUDA_API_PTSZ(cuInfo_v2)
#if defined(__CUDA_API_PER_THREAD_DEFAULT_STREAM)
    #define cuQuery   __CUDA_API_PTSZ(cuQuery)
#endif
CUresult CUDAAPI cuInit(unsigned int Flags);
CUresult CUDAAPI cuAlloc(CUdeviceptr *p, size_t n);
CUresult CUDAAPI cuCreate(CUcontext *c, CUparams *p);
CUresult CUDAAPI cuCopy(CUdeviceptr p, CUstream s);
CUresult CUDAAPI cuInfo(CUstream s, int flags);
CUresult CUDAAPI cuQuery(CUstream s);
#if defined(__CUDA_API_VERSION_INTERNAL)
    #undef cuAlloc
    #undef cuCreate
    #undef cuCopy
    #undef cuQuery
    CUresult CUDAAPI cuAlloc(CUdeviceptr_v1 *p, unsigned int n);
    CUresult CUDAAPI cuCreate(CUcontext *c);
    CUresult CUDAAPI cuCreate_v2(CUcontext *c, unsigned int flags);
    CUresult CUDAAPI cuCopy(CUdeviceptr_v1 p, CUstream s);
    CUresult CUDAAPI cuCopy_ptsz(CUdeviceptr_v1 p, CUstream s);
    CUresult CUDAAPI cuCopy_v2(CUdeviceptr other, CUstream s);
    CUresult CUDAAPI cuQuery(CUstream other);
#if 0
    CUresult CUDAAPI cuHidden(void);
#endif
#endif
"""


def test_functions_have_the_symbols_that_the_header_renames_to(parse: Parse) -> None:
    header = parse(DRIVER)
    assert list(header.functions.values()) == [
        "CUresult cuInit(unsigned int Flags)",
        "CUresult cuAlloc_v2(CUdeviceptr *p, size_t n)",
        "CUresult cuCreate_v4(CUcontext *c, CUparams *p)",
        "CUresult cuCopy_v2(CUdeviceptr p, CUstream s)",
        "CUresult cuInfo_v2(CUstream s, int flags)",
        "CUresult cuQuery(CUstream s)",
        "CUresult cuCreate_v2(CUcontext *c, unsigned int flags)",
    ]
    assert all(text.startswith(f"CUresult {symbol}(") for symbol, text in header.functions.items())
    assert header.renames == {
        "cuAlloc": "cuAlloc_v2",
        "cuCreate": "cuCreate_v4",
        "cuCopy": "cuCopy_v2",
        "cuInfo": "cuInfo_v2",
    }


def test_legacy_holds_the_unversioned_symbols_alone(parse: Parse) -> None:
    assert parse(DRIVER).legacy == {
        "cuAlloc": "CUresult cuAlloc(CUdeviceptr_v1 *p, unsigned int n)",
        "cuCreate": "CUresult cuCreate(CUcontext *c)",
        "cuCopy": "CUresult cuCopy(CUdeviceptr_v1 p, CUstream s)",
    }


def test_nvml_shows_its_legacy_functions_by_another_macro(parse: Parse) -> None:
    header = parse("""
        #ifndef NVML_NO_UNVERSIONED_FUNC_DEFS
            #define nvmlInit nvmlInit_v2
        #endif
        int nvmlInit_v2(void);
        #ifdef NVML_NO_UNVERSIONED_FUNC_DEFS
        int nvmlInit(int a);
        #endif
    """)
    assert header.functions == {"nvmlInit_v2": "int nvmlInit_v2(void)"}
    assert header.renames == {"nvmlInit": "nvmlInit_v2"}
    assert header.legacy == {"nvmlInit": "int nvmlInit(int a)"}


def test_defines_hold_for_the_legacy_functions_too(parse: Parse) -> None:
    text = "#if defined(__CUDA_API_VERSION_INTERNAL) && WANTED\nint cuF_v2(void);\n#endif"
    assert parse(text, WANTED="1").functions == {"cuF_v2": "int cuF_v2(void)"}
    assert parse(text).functions == {}


def test_rename_between_two_declarations_makes_two_symbols(parse: Parse) -> None:
    header = parse("int cuClose(void);\n#define cuClose cuClose_v2\nint cuClose(void);")
    assert header.functions == {"cuClose": "int cuClose(void)", "cuClose_v2": "int cuClose_v2(void)"}


def test_inline_wrapper_is_a_rename_and_not_a_function(parse: Parse) -> None:
    header = parse("""
        extern int __nvCreate_13_0(int *h);
        static inline int nvCreate(int *h) { if (h) { return __nvCreate_13_0 (h); } }
        static inline const char *nvName(int e) { switch (e) { case 1: return "one"; } }
        int nvLast(void);
    """)
    assert list(header.functions.values()) == ["int __nvCreate_13_0(int *h)", "int nvLast(void)"]
    assert header.renames == {"nvCreate": "__nvCreate_13_0"}


def test_files_are_read_as_one(parse: Parse) -> None:
    first = "#define cuF cuF_v2\ntypedef enum { A = 4 } E;"
    second = "int cuF(void);\n#define B (A /* and\n */ + 1)\n#undef cuF"
    header = parse(first, second)
    assert header.functions == {"cuF_v2": "int cuF_v2(void)"}
    assert header.macros == {"B": 5}
    assert header.renames == {}


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("#if 1", True),
        ("#if 0", False),
        ("#ifdef X", True),
        ("#ifdef NO", False),
        ("#ifndef NO", True),
        ("#if defined(X) && !defined NO", True),
        ("#if defined(NO) || NO", False),
        ("#if X >= 11010 && X < 12000", True),
        ("#if (X / 1000) * 10 == 110", True),
        ("#if X == 11020\n#elif X == 11030", False),
        ("#if X == 11020\n#elif X == 11010", True),
        ("#if X == 11010\n#elif 1\n#else\n#endif\n#if NO\n#else", True),
        ("#if 1\n#else", False),
        ("#if 1\n#elif 1", False),
        ("#if 0\n#elif 1\n#else", False),
        ("#if 0\n#if 1\n#else\n#endif\n#elif 0\n#else", True),
        ("#if 0\n#if 1", False),
        ("#if 0\n#define NO\n#undef X\n#error never\n#endif\n#if defined(X) && !defined(NO)", True),
        ("#undef X\n#ifdef X", False),
        ("#if defined(__LP64__) && !defined(_WIN32) && !defined(__cplusplus)", True),
    ],
)
def test_condition(parse: Parse, condition: str, holds: bool) -> None:
    ends = "\n#endif" * (condition.count("#if") - condition.count("#endif"))
    header = parse(f"{condition}\nint f(void);{ends}\nint last(void);", X="11010")
    assert list(header.functions) == (["f", "last"] if holds else ["last"])


def test_error_directive_in_a_branch_that_is_read(parse: Parse) -> None:
    with pytest.raises(ValueError, match="not this way"):
        parse("#ifndef X\n#error not this way\n#endif")


def test_enums_by_tag_typedef_and_alias(parse: Parse) -> None:
    header = parse("""
        typedef enum A_enum { A0, A1 } A;
        enum B { B0 };
        typedef enum { C0 } C;
        typedef enum B B_t;
        typedef A A_alias;
        #define A_macro A_alias
    """)
    a, b, c = {"A0": 0, "A1": 1}, {"B0": 0}, {"C0": 0}
    assert header.enums == {"A_enum": a, "A": a, "A_alias": a, "A_macro": a, "B": b, "B_t": b, "C": c}
    assert header.typedefs == {"B_t": "B", "A_alias": "A", "A_macro": "A_alias"}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("7", 7),
        ("0x1F", 31),
        ("010", 8),
        ("-2", -2),
        ("1 << 4", 16),
        ("(1u << 31)", 1 << 31),
        ("1 << 31", -(1 << 31)),  # an int, as compilers have it
        ("0x80000000", 1 << 31),
        ("0x80000000 * 2", 0),
        ("0xFFFFFFFFFFFFFFFF", (1 << 64) - 1),
        ("~0u", (1 << 32) - 1),
        ("~0", -1),
        ("1ll << 40", 1 << 40),
        ("FIRST + 1", 41),
        ("FIRST | SECOND", 42 | 40),
        ("(FIRST) - 1", 39),
        ("(int)-1", -1),
        ("((CUstream)0x2)", 2),
        ("(unsigned int)(FIRST * SIZE)", 1280),
        ("SIZE / 3 % 4", 2),
        ("sizeof(unsigned int)", 4),
        ("64 - sizeof(struct S **) - 2 * sizeof(CUhandle)", 40),
    ],
)
def test_constant_in_an_enum_and_in_a_macro(parse: Parse, expression: str, value: int) -> None:
    header = parse(f"""
        #define SIZE 32
        typedef struct H_st *CUhandle;
        enum E {{ FIRST = 40, SECOND = FIRST + 2, LAST = {expression}, NEXT }};
        #define MACRO {expression}
    """)
    assert header.enums["E"] == {"FIRST": 40, "SECOND": 42, "LAST": value, "NEXT": value + 1}
    assert header.macros == {"SIZE": 32, "MACRO": value}


def test_enum_with_conditions_and_macros_inside(parse: Parse) -> None:
    header = parse("""
        #define ENTRIES ENTRY(1, A) ENTRY(2, B)
        enum E {
            #define ENTRY(code, name) name = code,
            ENTRIES
            #undef ENTRY
        #ifdef __CUDA_API_VERSION_INTERNAL
            MAX,
        #endif
            C,
        };
    """)
    assert header.enums["E"] == {"A": 1, "B": 2, "C": 3}


def test_macros_are_the_constants_left_at_the_end(parse: Parse) -> None:
    header = parse("""
        #define KEPT 1
        #define GONE 1
        #undef GONE
        #define GUARD
        #define TEXT "1" + 1
        #define RANGE 0:0
        #define SELF SELF
        #define REAL 1.5f
        #define CALL f(1)
        #define HALF (1 +)
        #define UNKNOWN sizeof(Other)
    """)
    assert header.macros == {"KEPT": 1}


def test_size_of_a_struct_in_a_macro(parse: Parse) -> None:
    header = parse("""
        #define VERSION(type, n) (unsigned int)(sizeof(nv ## type ## _v ## n) | (n << 24U))
        typedef short count_t;
        typedef enum { A } Kind;
        typedef void (*Call)(void);
        typedef struct {
            count_t counts[2][3];
            Kind kind;
            char *name;
            Call call;
            void (*other)(int);
            union { long long a; char b; } value;
        } nvMemory_v2;
        #define nvMemory VERSION(Memory, 2)
    """)
    assert header.macros == {"nvMemory": 2 << 24 | 48}


def test_struct_members(parse: Parse) -> None:
    header = parse("""
        #define N 4
        typedef struct S_st {
            unsigned int a, b;
            const struct S_st *next, **list;
            char name[N][2 * N];
            char pad[16 - sizeof(struct S_st **)];
            enum E kind;
            char *flexible[];
            const char* (*call)(void *data, int x[2]);
        } S;
    """)
    assert header.structs["S"] == Struct(
        "struct",
        "S",
        [
            Field("unsigned int", 0, "a", []),
            Field("unsigned int", 0, "b", []),
            Field("const S_st", 1, "next", []),
            Field("const S_st", 2, "list", []),
            Field("char", 0, "name", [4, 8]),
            Field("char", 0, "pad", [8]),
            Field("E", 0, "kind", []),
            Field("char", 1, "flexible", [0]),
            Field("const char *(*)(void *data, int x[2])", 0, "call", []),
        ],
    )


def test_nested_structs_and_unions(parse: Parse) -> None:
    header = parse("""
        struct Outer {
            union {
                struct { int x; } named;
                struct Tagged { long y; } tagged[2];
            };
            union { int fd; } *handle;
            enum Inner { I = 3 } kind;
        };
    """)
    named = Struct("struct", "", [Field("int", 0, "x", [])])
    tagged = Struct("struct", "Tagged", [Field("long", 0, "y", [])])
    members = [Field("struct", 0, "named", [], named), Field("Tagged", 0, "tagged", [2], tagged)]
    handle = Struct("union", "", [Field("int", 0, "fd", [])])
    assert header.structs["Outer"].fields == [
        Field("union", 0, "", [], Struct("union", "", members)),
        Field("union", 1, "handle", [], handle),
        Field("Inner", 0, "kind", []),
    ]
    assert header.structs["Tagged"] == tagged
    assert header.enums == {"Inner": {"I": 3}}


def test_struct_names(parse: Parse) -> None:
    header = parse("""
        typedef __device_builtin__ union U_st { int a; } U;
        struct __builtin_align__(8) T { int b; };
        typedef struct T T_t;
        typedef struct { int c; } V_v1;
        typedef V_v1 V;
        #define _JOIN(a, b) a ## b
        #define JOIN(a, b) _JOIN(a, b)
        #define NUMBER 1
        typedef struct W_st { int d; } JOIN(W_v, NUMBER);
        typedef JOIN(W_v, NUMBER) W;
        #define W_macro W_v1
    """)
    names = {name: struct.name for name, struct in header.structs.items()}
    w = dict.fromkeys(("W_st", "W_v1", "W", "W_macro"), "W_v1")
    assert names == {"U_st": "U", "U": "U", "T": "T", "T_t": "T", "V_v1": "V_v1", "V": "V_v1", **w}
    assert (header.structs["U"].kind, header.structs["T"].kind) == ("union", "struct")
    assert header.typedefs == {"T_t": "T", "V": "V_v1", "W": "W_v1", "W_macro": "W_v1"}


def test_typedefs_handles_and_callbacks(parse: Parse) -> None:
    header = parse("""
        typedef unsigned long long CUptr_v2;
        typedef CUptr_v2 CUptr;
        typedef void* Any_t;
        typedef struct CUctx_st *CUcontext;
        typedef const struct Array *Array_const_t;
        typedef void (CUDART_CB *CUhostFn)(void *data, struct S *);
    """)
    assert header.typedefs == {"CUptr_v2": "unsigned long long", "CUptr": "CUptr_v2", "Any_t": "void *"}
    assert header.handles == {"CUcontext": "CUctx_st", "Array_const_t": "const Array"}
    assert header.callbacks == {"CUhostFn": "void (*)(void *data, S *)"}
    assert header.functions == {}


def test_groups(parse: Parse) -> None:
    header = parse(r"""
        /** @{ */
        int before(void);
        /** @} */
        /**
         * \defgroup MEM Memory Management */
        /** @{ */
        int alloc(void);
        //! @defgroup PEER Peer Access
        //! @{
        int peer(void);
        /** @} */
        /** @{ */
        int free(void);
        /** @} */
        /** @} */ // @defgroup MEM
        int between(void);
        /** \addtogroup MEM
            @{ */
        int copy(void);
        /*! @} */
        /** \ingroup PEER */
        int own(void);
        int after(void);
        #if 0
        /** @{ */
        #endif
        /** \ingroup MEM
         *  \defgroup ERR Errors
         *  @{ */
        int error(void);
    """)
    assert header.functions["free"] == "int free(void)"
    assert header.groups == [
        ("before", ""),
        ("alloc", "Memory Management"),
        ("peer", "Peer Access"),
        ("free", "Memory Management"),
        ("between", ""),
        ("copy", "Memory Management"),
        ("own", "Peer Access"),
        ("after", ""),
        ("error", "Errors"),
    ]


def test_unbalanced_bracket(parse: Parse) -> None:
    with pytest.raises(ValueError, match="unbalanced bracket"):
        parse("#define M(x) x\nint f(M(F(1);")
