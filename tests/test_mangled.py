"""Mangled names, read: what compilers make of the functions beside them."""

from __future__ import annotations

import pytest

from cudapy._ffi.mangled import readable, readable_in

NAMES = {
    "_Z5scalePff": "scale",
    "_Z1kv": "k",
    "_ZN2ns1xEi": "ns::x",
    "_Z4fillIfEvPT_": "fill<float>",
    "_Z4fillIjEvPT_": "fill<unsigned int>",
    "_ZN2ns4fillIfEEvPT_": "ns::fill<float>",
    "_Z1yILi3EEvv": "y<3>",
    "_Z1yILin3ELb1EEvv": "y<-3, true>",
    "_Z3mapIPKfN2ns3addEEvT_T0_": "map<const float*, ns::add>",
    "_Z3sumI7float4_EvPT_": "sum<float4_>",
    "_Z3boxI3PtrIfEEvT_": "box<Ptr<float>>",
    "_ZN12_GLOBAL__N_16hiddenEPi": "(anonymous namespace)::hidden",
    "_Z4castIDhEvT_": "cast<...>",
    "_Z4bothIS_EvT_": "both<...>",
}
AS_THEY_ARE = [
    "saxpy",
    "_Z",
    "_Z5sca",
    "_Zero",
    "_ZN2ns",
    "_ZN2ns1xE",
    "_Z5scale",
    "_Z5scalePff_param_0",
    "_ZTV3Abc",
    "",
]


@pytest.mark.parametrize("name", NAMES)
def test_the_name_in_the_source(name: str) -> None:
    assert readable(name) == NAMES[name]


@pytest.mark.parametrize("name", AS_THEY_ARE)
def test_what_is_left_as_it_is(name: str) -> None:
    assert readable(name) == name


def test_names_in_a_text() -> None:
    text = "in _Z5scalePff, k.cu:3, PTX line 30: ld.param.u64 %rd1, [_Z5scalePff_param_0]; call _ZN2ns1xEi"
    assert readable_in(text) == text.replace("in _Z5scalePff,", "in scale,").replace("_ZN2ns1xEi", "ns::x")


def test_nothing_is_raised_for_any_text() -> None:
    for name in NAMES:
        for end in range(len(name)):
            readable(name[:end] + "E")
            readable(name[:end])
