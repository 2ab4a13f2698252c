"""What many functions have in common, with neutral names, for Python to compile once and for all.

Each is the text of a declaration under a checksum of it: `codegen` looks here before it compiles. They are
the shapes that four functions or more have, and those of the functions that core or the samples call.
"""

# Written by `python -m tests.shapes`.
# mypy: ignore-errors


def s135_c3dfc281():
    a0 = n1()
    a1 = n1()
    err = n2(a0, a1)
    if err:
        raise _failed('?', n3(err), {})
    return a0[0], a1[0]


def s134_78f039ba():
    a0 = n1()
    a1 = n1()
    err = n2(a0, a1)
    if err:
        return n3(err), None, None
    return n4, a0[0], a1[0]


def s107_448a6010():
    a0 = n1()
    err = n2(a0)
    if err:
        raise _failed('?', n3(err), {})
    return a0


def s100_433ec8dc():
    a0 = n1()
    err = n2(a0)
    if err:
        return n3(err), None
    return n4, a0


def s93_5d82913d():
    err = n1()
    if err:
        raise _failed('?', n2(err), {})
    return None


def s77_d29af74e():
    err = n1()
    if err:
        return (n2(err),)
    return n4


def s231_7fbeb0e0():
    try:
        a0, a0_at = cell = n1()
    except IndexError:
        a0, a0_at = cell = n3()
    err = n4(a0_at)
    if err:
        raise _failed('?', n5(err), {})
    result = a0.value
    n2(cell)
    return result


def s224_60ff9123():
    try:
        a0, a0_at = cell = n1()
    except IndexError:
        a0, a0_at = cell = n3()
    err = n4(a0_at)
    if err:
        return n5(err), None
    result = a0.value
    n2(cell)
    return n6, result


def s228_b79557c8():
    try:
        a0, a0_at = cell = n1()
    except IndexError:
        a0, a0_at = cell = n3()
    err = n5(a0_at)
    if err:
        return n6(err), None
    result = a0.value
    n2(cell)
    return n7, n4[result]


def s129_708a272c(a0):
    (err,) = map(n1, (a0,))
    if not err:
        a0.value = 0; return
    raise _failed('?', n2(err), {'a0': a0})


def s201_41487937(a0):
    if type(a0) is int and not a0 >> 64: a0 = _word(a0) if a0 else None
    else: a0 = _pointer(a0, None, False, '?a0')
    err = n1(a0)
    if err:
        return (n2(err),)
    return n4


def s185_08c426a9(a0):
    if type(a0) is not int or a0 >> 32: a0 = _integer(a0, 0, 4294967295, '?a0')
    err = n1(a0)
    if err:
        raise _failed('?', n2(err), {'a0': a0})
    return None


def s161_6b559a68(a0):
    if type(a0) is not int or a0 >> 32: a0 = _integer(a0, 0, 4294967295, '?a0')
    err = n1(a0)
    if err:
        return (n2(err),)
    return n4


def s202_a7e65325(a0):
    if type(a0) is not int or a0 >> 64: a0 = _integer(a0, 0, 18446744073709551615, '?a0')
    err = n1(_word(a0))
    if err:
        raise _failed('?', n2(err), {'a0': a0})
    return None


def s198_02c0d872(a0):
    if type(a0) is not int or not -2147483648 <= a0 <= 2147483647: a0 = _integer(a0, -2147483648, 2147483647, '?a0')
    err = n1(a0)
    if err:
        return (n2(err),)
    return n4


def s362_ca2124f7(a0):
    if type(a0) is not int or not -2147483648 <= a0 <= 2147483647: a0 = _integer(a0, -2147483648, 2147483647, '?a0')
    try:
        a1, a1_at = cell = n1()
    except IndexError:
        a1, a1_at = cell = n3()
    err = n4(a0, a1_at)
    if err:
        raise _failed('?', n5(err), {'a0': a0})
    result = a1.value
    n2(cell)
    return result


def s366_ad6244dd(a0):
    if type(a0) is not int or not -2147483648 <= a0 <= 2147483647: a0 = _integer(a0, -2147483648, 2147483647, '?a0')
    try:
        a1, a1_at = cell = n1()
    except IndexError:
        a1, a1_at = cell = n3()
    err = n5(a0, a1_at)
    if err:
        raise _failed('?', n6(err), {'a0': a0})
    result = a1.value
    n2(cell)
    return n4[result]


def s195_69311d1a(a0):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    a1 = _new_struct(n2)
    err = n3(a0, _byref(a1))
    if err:
        raise _failed('?', n4(err), {'a0': a0})
    return a1


def s180_2cae363f(a0):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    a1 = _new_struct(n2)
    err = n3(a0, _byref(a1))
    if err:
        return n4(err), None
    return n5, a1


def s214_fd4c882d(a0):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    a1 = n2()
    a2 = n3()
    err = n4(a0, _byref(a1), _byref(a2))
    if err:
        raise _failed('?', n5(err), {'a0': a0})
    return a1, a2


def s200_6da82b1a(a0):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    a1 = n2()
    a2 = n3()
    err = n4(a0, a1, a2)
    if err:
        return n5(err), None, None
    return n6, a1[0] or 0, a2[0]


def s184_6c87c046(a0):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    a1 = n2()
    err = n3(a0, _byref(a1))
    if err:
        raise _failed('?', n4(err), {'a0': a0})
    return a1


def s169_d8ec43ce(a0):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    a1 = n2()
    err = n3(a0, _byref(a1))
    if err:
        return n4(err), None
    return n5, a1


def s168_ecb9b5e5(a0):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    err = n2(_byref(a0))
    if err:
        raise _failed('?', n3(err), {'a0': a0})
    return None


def s144_22b81dab(a0):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    err = n2(_byref(a0))
    if err:
        return (n3(err),)
    return n5


def s160_b844a168(a0):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    err = n2(a0)
    if err:
        raise _failed('?', n3(err), {'a0': a0})
    return None


def s136_d7a119b7(a0):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    err = n2(a0)
    if err:
        return (n3(err),)
    return n5


def s166_083b8a62(a0):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    err = n2(a0.value)
    if err:
        raise _failed('?', n3(err), {'a0': a0})
    return None


def s142_f5c282ab(a0):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    err = n2(a0.value)
    if err:
        return (n3(err),)
    return n5


def s300_996a5d30(a0):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    try:
        a1, a1_at = cell = n2()
    except IndexError:
        a1, a1_at = cell = n4()
    err = n5(a0, a1_at)
    if err:
        raise _failed('?', n6(err), {'a0': a0})
    result = a1.value
    n3(cell)
    return result


def s285_3ca4a639(a0):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    try:
        a1, a1_at = cell = n2()
    except IndexError:
        a1, a1_at = cell = n4()
    err = n5(a0, a1_at)
    if err:
        return n6(err), None
    result = a1.value
    n3(cell)
    return n7, result


def s304_382224ce(a0):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    try:
        a1, a1_at = cell = n2()
    except IndexError:
        a1, a1_at = cell = n4()
    err = n6(a0, a1_at)
    if err:
        raise _failed('?', n7(err), {'a0': a0})
    result = a1.value
    n3(cell)
    return n5[result]


def s289_f0b69242(a0):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    try:
        a1, a1_at = cell = n2()
    except IndexError:
        a1, a1_at = cell = n4()
    err = n6(a0, a1_at)
    if err:
        return n7(err), None
    result = a1.value
    n3(cell)
    return n8, n5[result]


def s158_89b23585(a0):
    if type(a0) is not n1: a0 = _integer(a0, -2147483648, 4294967295, '?a0')
    err = n2(a0)
    if err:
        return (n3(err),)
    return n5


def s184_f22a0303(a0):
    kept = _released(a0)
    (err,) = map(n1, (a0,))
    if not err:
        a0.value = 0; return
    if kept: _keep(a0, *kept)
    raise _failed('?', n2(err), {'a0': a0})


def s222_ca599be3(a0):
    try:
        a0_at = a0._at_ if type(a0) is n1 else _reference(a0, n1, '?a0')
    except AttributeError:
        a0_at = _address(a0)
    err = n2(a0_at)
    if err:
        return (n3(err),)
    return n5


def s171_a21f80f5(a0, a1):
    a1 = _by_value(a1, n1, '?a1')
    err = n2(_byref(a0), a1)
    if not err:
        return
    a0.value = 0
    raise _failed('?', n3(err), {'a1': a1})


def s381_cb59e39e(a0, a1):
    if type(a0) is not int or not -2147483648 <= a0 <= 2147483647: a0 = _integer(a0, -2147483648, 2147483647, '?a0')
    try:
        a1_at = a1._at_ if type(a1) is n1 else _reference(a1, n1, '?a1')
    except AttributeError:
        a1_at = _address(a1)
    err = n2(a0, a1_at)
    if err:
        raise _failed('?', n3(err), {'a0': a0, 'a1': a1})
    return None


def s347_ad60cf10(a0, a1):
    if type(a0) is not int or not -2147483648 <= a0 <= 2147483647: a0 = _integer(a0, -2147483648, 2147483647, '?a0')
    try:
        a1_at = a1._at_ if type(a1) is n1 else _reference(a1, n1, '?a1')
    except AttributeError:
        a1_at = _address(a1)
    err = n2(a0, a1_at)
    if err:
        return (n3(err),)
    return n5


def s299_a2599fa6(a0, a1):
    if type(a0) is not n1: a0 = _callback(a0, n1, '?a0')
    if type(a1) is int and not a1 >> 64: a1 = _word(a1) if a1 else None
    else: a1 = _pointer(a1, None, False, '?a1')
    a2 = n2()
    err = n3(a0, a1, _byref(a2))
    if err:
        return n4(err), None
    return n5, a2


def s230_7a421735(a0, a1):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is not bytes: a1 = _text(a1, '?a1')
    err = n2(a0, a1)
    if err:
        raise _failed('?', n3(err), {'a0': a0, 'a1': a1})
    return None


def s370_ef0105df(a0, a1):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is not bytes: a1 = _text(a1, '?a1')
    try:
        a2, a2_at = cell = n2()
    except IndexError:
        a2, a2_at = cell = n4()
    err = n5(a0, a1, a2_at)
    if err:
        raise _failed('?', n6(err), {'a0': a0, 'a1': a1})
    result = a2.value
    n3(cell)
    return result


def s199_8b170652(a0, a1):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is not n1: a1 = _handle(a1, n1, '?a1')
    err = n2(a0, a1)
    if err:
        return (n3(err),)
    return n5


def s233_84a31601(a0, a1):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    err = n3(a0, a1)
    if err:
        raise _failed('?', n4(err), {'a0': a0, 'a1': a1})
    return None


def s199_7fdb117a(a0, a1):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    err = n3(a0, a1)
    if err:
        return (n4(err),)
    return n6


def s373_fbd25eec(a0, a1):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    try:
        a2, a2_at = cell = n3()
    except IndexError:
        a2, a2_at = cell = n5()
    err = n6(a0, a1, a2_at)
    if err:
        raise _failed('?', n7(err), {'a0': a0, 'a1': a1})
    result = a2.value
    n4(cell)
    return result


def s319_aecde169(a0, a1):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    try:
        a1_at = a1._at_ if type(a1) is n2 else _reference(a1, n2, '?a1')
    except AttributeError:
        a1_at = _address(a1)
    err = n3(a0, a1_at)
    if err:
        raise _failed('?', n4(err), {'a0': a0, 'a1': a1})
    return None


def s285_88556767(a0, a1):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    try:
        a1_at = a1._at_ if type(a1) is n2 else _reference(a1, n2, '?a1')
    except AttributeError:
        a1_at = _address(a1)
    err = n3(a0, a1_at)
    if err:
        return (n4(err),)
    return n6


def s257_17c50052(a0, a1):
    if type(a1) is int and not a1 >> 64: a1 = _word(a1) if a1 else None
    else: a1 = _pointer(a1, None, False, '?a1')
    err = n1(_byref(a0), a1)
    if not err:
        return
    a0.value = 0
    raise _failed('?', n2(err), {'a1': a1})


def s230_cbbf07e0(a0, a1):
    if type(a1) is not int or a1 >> 32: a1 = _integer(a1, 0, 4294967295, '?a1')
    (err,) = map(n1, (a0,), (a1,))
    if not err:
        a0.value = 0; return
    raise _failed('?', n2(err), {'a1': a1, 'a0': a0})


def s217_3c1b3e1c(a0, a1):
    if type(a1) is not int or a1 >> 32: a1 = _integer(a1, 0, 4294967295, '?a1')
    err = n1(_byref(a0), a1)
    if not err:
        return
    a0.value = 0
    raise _failed('?', n2(err), {'a1': a1})


def s224_8c414178(a0, a1):
    if type(a1) is not int or a1 >> 32: a1 = _integer(a1, 0, 4294967295, '?a1')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    err = n2(a0, a1)
    if err:
        return (n3(err),)
    return n5


def s247_44f3bcfa(a0, a1):
    if type(a1) is not int or a1 >> 64: a1 = _integer(a1, 0, 18446744073709551615, '?a1')
    (err,) = map(n1, (a0,), (_word(a1),))
    if not err:
        a0.value = 0; return
    raise _failed('?', n2(err), {'a1': a1, 'a0': a0})


def s234_8027bfcd(a0, a1):
    if type(a1) is not int or a1 >> 64: a1 = _integer(a1, 0, 18446744073709551615, '?a1')
    err = n1(_byref(a0), _word(a1))
    if not err:
        return
    a0.value = 0
    raise _failed('?', n2(err), {'a1': a1})


def s319_7756f9fe(a0, a1):
    if type(a1) is not int or a1 >> 64: a1 = _integer(a1, 0, 18446744073709551615, '?a1')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    a2 = n2()
    a3 = n2()
    err = n3(a0, _word(a1), a2, a3)
    if err:
        raise _failed('?', n4(err), {'a0': a0, 'a1': a1})
    return a2[0], a3[0]


def s300_785079e3(a0, a1):
    if type(a1) is not int or a1 >> 64: a1 = _integer(a1, 0, 18446744073709551615, '?a1')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    a2 = n2()
    a3 = n2()
    err = n3(a0, _word(a1), a2, a3)
    if err:
        return n4(err), None, None
    return n5, a2[0], a3[0]


def s275_06ed227d(a0, a1):
    if type(a1) is not int or a1 >> 64: a1 = _integer(a1, 0, 18446744073709551615, '?a1')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    err = n2(a0, _word(a1))
    if err:
        raise _failed('?', n3(err), {'a0': a0, 'a1': a1})
    return None


def s241_25b0a1c0(a0, a1):
    if type(a1) is not int or a1 >> 64: a1 = _integer(a1, 0, 18446744073709551615, '?a1')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    err = n2(a0, _word(a1))
    if err:
        return (n3(err),)
    return n5


def s205_f108bee1(a0, a1):
    if type(a1) is not n1: a1 = _handle(a1, n1, '?a1')
    (err,) = map(n2, (a0,), (a1,))
    if not err:
        a0.value = 0; return
    raise _failed('?', n3(err), {'a1': a1, 'a0': a0})


def s198_1c83b65c(a0, a1):
    if type(a1) is not n1: a1 = _handle(a1, n1, '?a1')
    err = n2(_byref(a0), a1.value)
    if not err:
        return
    a0.value = 0
    raise _failed('?', n3(err), {'a1': a1})


def s279_fccab62c(a0, a1):
    if type(a1) is not n2: a1 = _integer(a1, -2147483648, 4294967295, '?a1')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    a2 = n3()
    err = n4(a0, a1, _byref(a2))
    if err:
        raise _failed('?', n5(err), {'a0': a0, 'a1': a1})
    return a2


def s254_3d7ce67f(a0, a1):
    if type(a1) is not n2: a1 = _integer(a1, -2147483648, 4294967295, '?a1')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    a2 = n3()
    err = n4(a0, a1, _byref(a2))
    if err:
        return n5(err), None
    return n6, a2


def s221_43bc0161(a0, a1):
    if type(a1) is not n2: a1 = _integer(a1, -2147483648, 4294967295, '?a1')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    err = n3(a0, a1)
    if err:
        return (n4(err),)
    return n6


def s436_2b97c2a4(a0, a1):
    if type(a1) is not n2: a1 = _integer(a1, -2147483648, 4294967295, '?a1')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    take, give, new, get, _ = n3[a1]
    try:
        a2, a2_at = cell = take()
    except IndexError:
        a2, a2_at = cell = new()
    err = n4(a0, a1, a2_at)
    if err:
        raise _failed('?', n5(err), {'a0': a0, 'a1': a1})
    result = get(a2)
    give(cell)
    return result


def s411_1d3aaaf9(a0, a1):
    if type(a1) is not n2: a1 = _integer(a1, -2147483648, 4294967295, '?a1')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    take, give, new, get, _ = n3[a1]
    try:
        a2, a2_at = cell = take()
    except IndexError:
        a2, a2_at = cell = new()
    err = n4(a0, a1, a2_at)
    if err:
        return n5(err), None
    result = get(a2)
    give(cell)
    return n6, result


def s442_d344c758(a0, a1):
    if type(a1) is not n2: a1 = _integer(a1, -2147483648, 4294967295, '?a1')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    take, give, new, get, _ = n3[a1]
    try:
        a2, a2_at = cell = take()
    except IndexError:
        a2, a2_at = cell = new()
    err = n4(a0.value, a1, a2_at)
    if err:
        raise _failed('?', n5(err), {'a0': a0, 'a1': a1})
    result = get(a2)
    give(cell)
    return result


def s417_7780b26b(a0, a1):
    if type(a1) is not n2: a1 = _integer(a1, -2147483648, 4294967295, '?a1')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    take, give, new, get, _ = n3[a1]
    try:
        a2, a2_at = cell = take()
    except IndexError:
        a2, a2_at = cell = new()
    err = n4(a0.value, a1, a2_at)
    if err:
        return n5(err), None
    result = get(a2)
    give(cell)
    return n6, result


def s384_9293083d(a0, a1):
    try:
        a0_at = a0._at_ if type(a0) is n1 else _reference(a0, n1, '?a0')
    except AttributeError:
        a0_at = _address(a0)
    if type(a1) is int and not a1 >> 64: a1 = _word(a1) if a1 else None
    else: a1 = _pointer(a1, None, False, '?a1')
    err = n2(a0_at, a1)
    if err:
        raise _failed('?', n3(err), {'a0': a0, 'a1': a1})
    return None


def s319_08ae1780(a0, a1):
    try:
        a0_at = a0._at_ if type(a0) is n1 else _reference(a0, n1, '?a0')
    except AttributeError:
        a0_at = _address(a0)
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    err = n3(a0_at, a1)
    if err:
        raise _failed('?', n4(err), {'a0': a0, 'a1': a1})
    return None


def s285_02ffca7b(a0, a1):
    try:
        a0_at = a0._at_ if type(a0) is n1 else _reference(a0, n1, '?a0')
    except AttributeError:
        a0_at = _address(a0)
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    err = n3(a0_at, a1)
    if err:
        return (n4(err),)
    return n6


def s278_1b257f0d(a0, a1):
    try:
        a1_at = a1._at_ if type(a1) is n1 else _reference(a1, n1, '?a1')
    except AttributeError:
        a1_at = _address(a1)
    err = n2(_byref(a0), a1_at)
    if not err:
        return
    a0.value = 0
    raise _failed('?', n3(err), {'a1': a1})


def s329_023efabf(a0, a1, a2):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is not n2: a1 = _callback(a1, n2, '?a1')
    if type(a2) is int and not a2 >> 64: a2 = _word(a2) if a2 else None
    else: a2 = _pointer(a2, None, False, '?a2')
    err = n3(a0, a1, a2)
    if err:
        return (n4(err),)
    return n6


def s306_bfa43882(a0, a1, a2):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    if type(a2) is not n3: a2 = _handle(a2, n3, '?a2')
    err = n4(a0, a1, a2)
    if err:
        raise _failed('?', n5(err), {'a0': a0, 'a1': a1, 'a2': a2})
    return None


def s262_7edf5d45(a0, a1, a2):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    if type(a2) is not n3: a2 = _handle(a2, n3, '?a2')
    err = n4(a0, a1, a2)
    if err:
        return (n5(err),)
    return n7


def s392_5fa3c54f(a0, a1, a2):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    try:
        a2_at = a2._at_ if type(a2) is n3 else _reference(a2, n3, '?a2')
    except AttributeError:
        a2_at = _address(a2)
    err = n4(a0, a1, a2_at)
    if err:
        raise _failed('?', n5(err), {'a0': a0, 'a1': a1, 'a2': a2})
    return None


def s348_40a98d90(a0, a1, a2):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    try:
        a2_at = a2._at_ if type(a2) is n3 else _reference(a2, n3, '?a2')
    except AttributeError:
        a2_at = _address(a2)
    err = n4(a0, a1, a2_at)
    if err:
        return (n5(err),)
    return n7


def s413_039e4ee9(a0, a1, a2):
    if type(a0) is not n1: a0 = _integer(a0, -2147483648, 4294967295, '?a0')
    if type(a2) is not int or a2 >> 64: a2 = _integer(a2, 0, 18446744073709551615, '?a2')
    if type(a1) is int and not a1 >> 64: a1 = _word(a1) if a1 else None
    else: a1 = _pointer(a1, None, False, '?a1')
    a2_ = n2(a2)
    err = n3(a0, a1, a2_)
    if err:
        return n4(err), None
    return n5, a2_[0]


def s307_efb19a25(a0, a1, a2):
    if type(a1) is not int or a1 >> 64: a1 = _integer(a1, 0, 18446744073709551615, '?a1')
    if type(a2) is not n1: a2 = _handle(a2, n1, '?a2')
    err = n2(_byref(a0), _word(a1), a2)
    if not err:
        return
    a0.value = 0
    raise _failed('?', n3(err), {'a1': a1, 'a2': a2})


def s351_3dae1f24(a0, a1, a2):
    if type(a1) is not n1: a1 = _handle(a1, n1, '?a1')
    try:
        a2_at = a2._at_ if type(a2) is n2 else _reference(a2, n2, '?a2')
    except AttributeError:
        a2_at = _address(a2)
    err = n3(_byref(a0), a1, a2_at)
    if not err:
        return
    a0.value = 0
    raise _failed('?', n4(err), {'a1': a1, 'a2': a2})


def s326_d18ee042(a0, a1, a2):
    if type(a1) is not n2: a1 = _integer(a1, -2147483648, 4294967295, '?a1')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    *_, put = n3[a1]
    a2 = _byref(put(a2, '?a2'))
    err = n4(a0, a1, a2)
    if err:
        raise _failed('?', n5(err), {'a0': a0, 'a1': a1, 'a2': a2})
    return None


def s282_7095f9ff(a0, a1, a2):
    if type(a1) is not n2: a1 = _integer(a1, -2147483648, 4294967295, '?a1')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    *_, put = n3[a1]
    a2 = _byref(put(a2, '?a2'))
    err = n4(a0, a1, a2)
    if err:
        return (n5(err),)
    return n7


def s332_a33f1ef8(a0, a1, a2):
    if type(a1) is not n2: a1 = _integer(a1, -2147483648, 4294967295, '?a1')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    *_, put = n3[a1]
    a2 = _byref(put(a2, '?a2'))
    err = n4(a0.value, a1, a2)
    if err:
        raise _failed('?', n5(err), {'a0': a0, 'a1': a1, 'a2': a2})
    return None


def s414_9904a39d(a0, a1, a2):
    if type(a1) is not n2: a1 = _integer(a1, -2147483648, 4294967295, '?a1')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    try:
        a2_at = a2._at_ if type(a2) is n3 else _reference(a2, n3, '?a2')
    except AttributeError:
        a2_at = _address(a2)
    err = n4(a0, a1, a2_at)
    if err:
        raise _failed('?', n5(err), {'a0': a0, 'a1': a1, 'a2': a2})
    return None


def s370_c436c96b(a0, a1, a2):
    if type(a1) is not n2: a1 = _integer(a1, -2147483648, 4294967295, '?a1')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    try:
        a2_at = a2._at_ if type(a2) is n3 else _reference(a2, n3, '?a2')
    except AttributeError:
        a2_at = _address(a2)
    err = n4(a0, a1, a2_at)
    if err:
        return (n5(err),)
    return n7


def s328_8383aa25(a0, a1, a2):
    if type(a2) is not int or a2 >> 32: a2 = _integer(a2, 0, 4294967295, '?a2')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is not bytes: a1 = _text(a1, '?a1')
    err = n2(a0, a1, a2)
    if err:
        raise _failed('?', n3(err), {'a0': a0, 'a1': a1, 'a2': a2})
    return None


def s331_72ec79be(a0, a1, a2):
    if type(a2) is not int or a2 >> 32: a2 = _integer(a2, 0, 4294967295, '?a2')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    err = n3(a0, a1, a2)
    if err:
        raise _failed('?', n4(err), {'a0': a0, 'a1': a1, 'a2': a2})
    return None


def s287_7986723e(a0, a1, a2):
    if type(a2) is not int or a2 >> 32: a2 = _integer(a2, 0, 4294967295, '?a2')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    err = n3(a0, a1, a2)
    if err:
        return (n4(err),)
    return n6


def s290_da79840c(a0, a1, a2):
    if type(a2) is not int or a2 >> 32: a2 = _integer(a2, 0, 4294967295, '?a2')
    if type(a1) is not n1: a1 = _handle(a1, n1, '?a1')
    err = n2(_byref(a0), a1, a2)
    if not err:
        return
    a0.value = 0
    raise _failed('?', n3(err), {'a1': a1, 'a2': a2})


def s296_c513d993(a0, a1, a2):
    if type(a2) is not int or a2 >> 32: a2 = _integer(a2, 0, 4294967295, '?a2')
    if type(a1) is not n1: a1 = _handle(a1, n1, '?a1')
    err = n2(_byref(a0), a1.value, a2)
    if not err:
        return
    a0.value = 0
    raise _failed('?', n3(err), {'a1': a1, 'a2': a2})


def s376_388e1ef2(a0, a1, a2):
    if type(a2) is not int or a2 >> 32: a2 = _integer(a2, 0, 4294967295, '?a2')
    try:
        a1_at = a1._at_ if type(a1) is n1 else _reference(a1, n1, '?a1')
    except AttributeError:
        a1_at = _address(a1)
    err = n2(_byref(a0), a1_at, a2)
    if not err:
        return
    a0.value = 0
    raise _failed('?', n3(err), {'a1': a1, 'a2': a2})


def s364_b5e9f4ad(a0, a1, a2):
    if type(a2) is not int or a2 >> 64: a2 = _integer(a2, 0, 18446744073709551615, '?a2')
    if type(a0) is int and not a0 >> 64: a0 = _word(a0) if a0 else None
    else: a0 = _destination(a0, a2, '?a0')
    if type(a1) is not n1: a1 = _handle(a1, n1, '?a1')
    err = n2(a0, a1, _word(a2))
    if err:
        return (n3(err),)
    return n5


def s328_6ff95271(a0, a1, a2):
    if type(a2) is not int or a2 >> 64: a2 = _integer(a2, 0, 18446744073709551615, '?a2')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    a1 = _array(a1, n2, a2, '?a1')
    err = n3(a0, a1, _word(a2))
    if err:
        raise _failed('?', n4(err), {'a0': a0, 'a1': a1, 'a2': a2})
    return None


def s284_4c104c2e(a0, a1, a2):
    if type(a2) is not int or a2 >> 64: a2 = _integer(a2, 0, 18446744073709551615, '?a2')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    a1 = _array(a1, n2, a2, '?a1')
    err = n3(a0, a1, _word(a2))
    if err:
        return (n4(err),)
    return n6


def s366_cf7a6ef2(a0, a1, a2):
    if type(a2) is not int or a2 >> 64: a2 = _integer(a2, 0, 18446744073709551615, '?a2')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is int and not a1 >> 64: a1 = _word(a1) if a1 else None
    else: a1 = _pointer(a1, a2, True, '?a1')
    err = n2(a0, a1, _word(a2))
    if err:
        return (n3(err),)
    return n5


def s304_42917ab4(a0, a1, a2):
    if type(a2) is not int or a2 >> 64: a2 = _integer(a2, 0, 18446744073709551615, '?a2')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is not n1: a1 = _handle(a1, n1, '?a1')
    err = n2(a0, a1, _word(a2))
    if err:
        return (n3(err),)
    return n5


def s307_d11ded40(a0, a1, a2):
    if type(a2) is not int or a2 >> 64: a2 = _integer(a2, 0, 18446744073709551615, '?a2')
    if type(a1) is not n1: a1 = _handle(a1, n1, '?a1')
    err = n2(_byref(a0), a1, _word(a2))
    if not err:
        return
    a0.value = 0
    raise _failed('?', n3(err), {'a1': a1, 'a2': a2})


def s465_33a732dc(a0, a1, a2, a3):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    try:
        a2_at = a2._at_ if type(a2) is n3 else _reference(a2, n3, '?a2')
    except AttributeError:
        a2_at = _address(a2)
    if type(a3) is not n4: a3 = _handle(a3, n4, '?a3')
    err = n5(a0, a1, a2_at, a3)
    if err:
        raise _failed('?', n6(err), {'a0': a0, 'a1': a1, 'a2': a2, 'a3': a3})
    return None


def s469_d128c59a(a0, a1, a2, a3):
    if type(a0) is not n1: a0 = _integer(a0, -2147483648, 4294967295, '?a0')
    if type(a1) is not int or not -2147483648 <= a1 <= 2147483647: a1 = _integer(a1, -2147483648, 2147483647, '?a1')
    if type(a2) is not n2: a2 = _handle(a2, n2, '?a2')
    if type(a3) is not n3: a3 = _handle(a3, n3, '?a3')
    err = n4(a0, a1, a2, a3.value)
    if err:
        raise _failed('?', n5(err), {'a0': a0, 'a1': a1, 'a2': a2, 'a3': a3})
    return None


def s380_47962842(a0, a1, a2, a3):
    if type(a1) is not int or a1 >> 64: a1 = _integer(a1, 0, 18446744073709551615, '?a1')
    if type(a2) is not n1: a2 = _handle(a2, n1, '?a2')
    if type(a3) is not n2: a3 = _handle(a3, n2, '?a3')
    err = n3(_byref(a0), _word(a1), a2, a3)
    if not err:
        return
    a0.value = 0
    raise _failed('?', n4(err), {'a1': a1, 'a2': a2, 'a3': a3})


def s443_054f18af(a0, a1, a2, a3):
    if type(a1) is not int or a1 >> 64: a1 = _integer(a1, 0, 18446744073709551615, '?a1')
    if type(a3) is not int or a3 >> 64: a3 = _integer(a3, 0, 18446744073709551615, '?a3')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    a2 = _array(a2, n2, a3, '?a2')
    err = n3(a0, _word(a1), a2, _word(a3))
    if err:
        raise _failed('?', n4(err), {'a0': a0, 'a1': a1, 'a2': a2, 'a3': a3})
    return None


def s389_1fe90e01(a0, a1, a2, a3):
    if type(a1) is not int or a1 >> 64: a1 = _integer(a1, 0, 18446744073709551615, '?a1')
    if type(a3) is not int or a3 >> 64: a3 = _integer(a3, 0, 18446744073709551615, '?a3')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    a2 = _array(a2, n2, a3, '?a2')
    err = n3(a0, _word(a1), a2, _word(a3))
    if err:
        return (n4(err),)
    return n6


def s508_d8e92ad1(a0, a1, a2, a3):
    if type(a1) is not int or a1 >> 64: a1 = _integer(a1, 0, 18446744073709551615, '?a1')
    if type(a3) is not int or a3 >> 64: a3 = _integer(a3, 0, 18446744073709551615, '?a3')
    try:
        a2_at = a2._at_ if type(a2) is n1 else _reference(a2, n1, '?a2')
    except AttributeError:
        a2_at = _address(a2)
    err = n2(_byref(a0), _word(a1), a2_at, _word(a3))
    if not err:
        return
    a0.value = 0
    raise _failed('?', n3(err), {'a1': a1, 'a2': a2, 'a3': a3})


def s384_948b9cb2(a0, a1, a2, a3):
    if type(a1) is not int or a1 >> 8: a1 = _integer(a1, 0, 255, '?a1')
    if type(a2) is not int or a2 >> 64: a2 = _integer(a2, 0, 18446744073709551615, '?a2')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a3) is not n2: a3 = _handle(a3, n2, '?a3')
    err = n3(a0, a1, _word(a2), a3)
    if err:
        return (n4(err),)
    return n6


def s310_66a31253(a0, a1, a2, a3):
    if type(a2) is not int or a2 >> 32: a2 = _integer(a2, 0, 4294967295, '?a2')
    a0 = _array(a0, n1, a2, '?a0')
    a1 = _array(a1, n2, a2, '?a1')
    if type(a3) is not n3: a3 = _handle(a3, n3, '?a3')
    err = n4(a0, a1, a2, a3)
    if err:
        return (n5(err),)
    return n7


def s481_ef6ab389(a0, a1, a2, a3):
    if type(a2) is not int or a2 >> 64: a2 = _integer(a2, 0, 18446744073709551615, '?a2')
    if type(a0) is int and not a0 >> 64: a0 = _word(a0) if a0 else None
    else: a0 = _destination(a0, a2, '?a0')
    if type(a1) is not n1: a1 = _handle(a1, n1, '?a1')
    if type(a3) is not n2: a3 = _handle(a3, n2, '?a3')
    err = n3(a0, a1, _word(a2), a3)
    if err:
        raise _failed('?', n4(err), {'a0': a0, 'a1': a1, 'a2': a2, 'a3': a3})
    return None


def s427_3911b9f3(a0, a1, a2, a3):
    if type(a2) is not int or a2 >> 64: a2 = _integer(a2, 0, 18446744073709551615, '?a2')
    if type(a0) is int and not a0 >> 64: a0 = _word(a0) if a0 else None
    else: a0 = _destination(a0, a2, '?a0')
    if type(a1) is not n1: a1 = _handle(a1, n1, '?a1')
    if type(a3) is not n2: a3 = _handle(a3, n2, '?a3')
    err = n3(a0, a1, _word(a2), a3)
    if err:
        return (n4(err),)
    return n6


def s483_874505a9(a0, a1, a2, a3):
    if type(a2) is not int or a2 >> 64: a2 = _integer(a2, 0, 18446744073709551615, '?a2')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is int and not a1 >> 64: a1 = _word(a1) if a1 else None
    else: a1 = _pointer(a1, a2, True, '?a1')
    if type(a3) is not n2: a3 = _handle(a3, n2, '?a3')
    err = n3(a0, a1, _word(a2), a3)
    if err:
        raise _failed('?', n4(err), {'a0': a0, 'a1': a1, 'a2': a2, 'a3': a3})
    return None


def s429_2cdb9944(a0, a1, a2, a3):
    if type(a2) is not int or a2 >> 64: a2 = _integer(a2, 0, 18446744073709551615, '?a2')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is int and not a1 >> 64: a1 = _word(a1) if a1 else None
    else: a1 = _pointer(a1, a2, True, '?a1')
    if type(a3) is not n2: a3 = _handle(a3, n2, '?a3')
    err = n3(a0, a1, _word(a2), a3)
    if err:
        return (n4(err),)
    return n6


def s421_580fcdf2(a0, a1, a2, a3):
    if type(a2) is not int or a2 >> 64: a2 = _integer(a2, 0, 18446744073709551615, '?a2')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is not n1: a1 = _handle(a1, n1, '?a1')
    if type(a3) is not n2: a3 = _handle(a3, n2, '?a3')
    err = n3(a0, a1, _word(a2), a3)
    if err:
        raise _failed('?', n4(err), {'a0': a0, 'a1': a1, 'a2': a2, 'a3': a3})
    return None


def s367_b56bfc29(a0, a1, a2, a3):
    if type(a2) is not int or a2 >> 64: a2 = _integer(a2, 0, 18446744073709551615, '?a2')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is not n1: a1 = _handle(a1, n1, '?a1')
    if type(a3) is not n2: a3 = _handle(a3, n2, '?a3')
    err = n3(a0, a1, _word(a2), a3)
    if err:
        return (n4(err),)
    return n6


def s392_505753ef(a0, a1, a2, a3):
    if type(a2) is not int or a2 >> 64: a2 = _integer(a2, 0, 18446744073709551615, '?a2')
    if type(a3) is not int or a3 >> 32: a3 = _integer(a3, 0, 4294967295, '?a3')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    err = n3(a0, a1, _word(a2), a3)
    if err:
        return (n4(err),)
    return n6


def s378_92b2df0f(a0, a1, a2, a3):
    if type(a2) is not n1: a2 = _integer(a2, -2147483648, 4294967295, '?a2')
    if type(a3) is not int or a3 >> 64: a3 = _integer(a3, 0, 18446744073709551615, '?a3')
    a1 = _os_handle(a1, '?a1')
    err = n2(_byref(a0), a1, a2, _word(a3))
    if not err:
        return
    a0.value = 0
    raise _failed('?', n3(err), {'a1': a1, 'a2': a2, 'a3': a3})


def s402_2e0b46c6(a0, a1, a2, a3):
    if type(a2) is not n2: a2 = _integer(a2, -2147483648, 4294967295, '?a2')
    if type(a3) is not int or a3 >> 64: a3 = _integer(a3, 0, 18446744073709551615, '?a3')
    if type(a1) is not n1: a1 = _handle(a1, n1, '?a1')
    err = n3(_byref(a0), a1, a2, _word(a3))
    if not err:
        return
    a0.value = 0
    raise _failed('?', n4(err), {'a1': a1, 'a2': a2, 'a3': a3})


def s417_6df269f1(a0, a1, a2, a3):
    if type(a3) is not int or a3 >> 32: a3 = _integer(a3, 0, 4294967295, '?a3')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is not n2: a1 = _callback(a1, n2, '?a1')
    if type(a2) is int and not a2 >> 64: a2 = _word(a2) if a2 else None
    else: a2 = _pointer(a2, None, False, '?a2')
    err = n3(a0, a1, a2, a3)
    if err:
        return (n4(err),)
    return n6


def s350_64a25e9a(a0, a1, a2, a3):
    if type(a3) is not int or a3 >> 32: a3 = _integer(a3, 0, 4294967295, '?a3')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    if type(a2) is not n3: a2 = _handle(a2, n3, '?a2')
    err = n4(a0, a1, a2, a3)
    if err:
        return (n5(err),)
    return n7


def s356_62b9b56f(a0, a1, a2, a3):
    if type(a3) is not int or a3 >> 32: a3 = _integer(a3, 0, 4294967295, '?a3')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    if type(a2) is not n3: a2 = _handle(a2, n3, '?a2')
    err = n4(a0, a1, a2.value, a3)
    if err:
        return (n5(err),)
    return n7


def s369_49840257(a0, a1, a2, a3):
    if type(a3) is not int or a3 >> 32: a3 = _integer(a3, 0, 4294967295, '?a3')
    if type(a1) is not n1: a1 = _handle(a1, n1, '?a1')
    if type(a2) is not n2: a2 = _handle(a2, n2, '?a2')
    err = n3(_byref(a0), a1, a2.value, a3)
    if not err:
        return
    a0.value = 0
    raise _failed('?', n4(err), {'a1': a1, 'a2': a2, 'a3': a3})


def s375_eaf4da51(a0, a1, a2, a3):
    if type(a3) is not int or a3 >> 32: a3 = _integer(a3, 0, 4294967295, '?a3')
    if type(a1) is not n1: a1 = _handle(a1, n1, '?a1')
    if type(a2) is not n2: a2 = _handle(a2, n2, '?a2')
    err = n3(_byref(a0), a1.value, a2.value, a3)
    if not err:
        return
    a0.value = 0
    raise _failed('?', n4(err), {'a1': a1, 'a2': a2, 'a3': a3})


def s327_3cfe9d0b(a0, a1, a2, a3):
    if type(a3) is not int or a3 >> 64: a3 = _integer(a3, 0, 18446744073709551615, '?a3')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    a1 = _array(a1, n2, a3, '?a1')
    a2 = _array(a2, n2, a3, '?a2')
    err = n3(a0, a1, a2, _word(a3))
    if err:
        return (n4(err),)
    return n6


def s360_298f2ae7(a0, a1, a2, a3):
    if type(a3) is not int or a3 >> 64: a3 = _integer(a3, 0, 18446744073709551615, '?a3')
    if type(a1) is not n1: a1 = _handle(a1, n1, '?a1')
    a2 = _array(a2, n2, a3, '?a2')
    err = n3(_byref(a0), a1, a2, _word(a3))
    if not err:
        return
    a0.value = 0
    raise _failed('?', n4(err), {'a1': a1, 'a2': a2, 'a3': a3})


def s596_c6c49fb8(a0, a1, a2, a3):
    try:
        a1_at = a1._at_ if type(a1) is n1 else _reference(a1, n1, '?a1')
    except AttributeError:
        a1_at = _address(a1)
    try:
        a2_at = a2._at_ if type(a2) is n2 else _reference(a2, n2, '?a2')
    except AttributeError:
        a2_at = _address(a2)
    try:
        a3_at = a3._at_ if type(a3) is n3 else _reference(a3, n3, '?a3')
    except AttributeError:
        a3_at = _address(a3)
    err = n4(_byref(a0), a1_at, a2_at, a3_at)
    if not err:
        return
    a0.value = 0
    raise _failed('?', n5(err), {'a1': a1, 'a2': a2, 'a3': a3})


def s629_319c550c(a0, a1, a2, a3, a4):
    if type(a0) is not int or not -2147483648 <= a0 <= 2147483647: a0 = _integer(a0, -2147483648, 2147483647, '?a0')
    if type(a1) is not int or not -2147483648 <= a1 <= 2147483647: a1 = _integer(a1, -2147483648, 2147483647, '?a1')
    if type(a2) is not int or not -2147483648 <= a2 <= 2147483647: a2 = _integer(a2, -2147483648, 2147483647, '?a2')
    if type(a3) is not int or not -2147483648 <= a3 <= 2147483647: a3 = _integer(a3, -2147483648, 2147483647, '?a3')
    if type(a4) is not n1: a4 = _integer(a4, -2147483648, 4294967295, '?a4')
    value = n2(a0, a1, a2, a3, a4)
    return n4, value


def s514_49739a7f(a0, a1, a2, a3, a4):
    if type(a1) is not int or a1 >> 64: a1 = _integer(a1, 0, 18446744073709551615, '?a1')
    if type(a2) is not int or a2 >> 64: a2 = _integer(a2, 0, 18446744073709551615, '?a2')
    if type(a4) is not int or a4 >> 64: a4 = _integer(a4, 0, 18446744073709551615, '?a4')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a3) is not n2: a3 = _handle(a3, n2, '?a3')
    err = n3(a0, _word(a1), _word(a2), a3, _word(a4))
    if err:
        return (n4(err),)
    return n6


def s537_bb5bd669(a0, a1, a2, a3, a4):
    if type(a1) is not int or a1 >> 64: a1 = _integer(a1, 0, 18446744073709551615, '?a1')
    if type(a2) is not int or a2 >> 64: a2 = _integer(a2, 0, 18446744073709551615, '?a2')
    if type(a4) is not int or a4 >> 64: a4 = _integer(a4, 0, 18446744073709551615, '?a4')
    if type(a3) is not n1: a3 = _handle(a3, n1, '?a3')
    err = n2(_byref(a0), _word(a1), _word(a2), a3, _word(a4))
    if not err:
        return
    a0.value = 0
    raise _failed('?', n3(err), {'a1': a1, 'a2': a2, 'a3': a3, 'a4': a4})


def s621_2ad83270(a0, a1, a2, a3, a4):
    if type(a1) is not int or a1 >> 64: a1 = _integer(a1, 0, 18446744073709551615, '?a1')
    if type(a2) is not n1: a2 = _integer(a2, -2147483648, 4294967295, '?a2')
    if type(a4) is not int or a4 >> 64: a4 = _integer(a4, 0, 18446744073709551615, '?a4')
    if type(a0) is int and not a0 >> 64: a0 = _word(a0) if a0 else None
    else: a0 = _pointer(a0, a1, False, '?a0')
    if type(a3) is not n2: a3 = _handle(a3, n2, '?a3')
    err = n3(a0, _word(a1), a2, a3, _word(a4))
    if err:
        raise _failed('?', n4(err), {'a0': a0, 'a1': a1, 'a2': a2, 'a3': a3, 'a4': a4})
    return None


def s496_9dfae8b2(a0, a1, a2, a3, a4):
    if type(a2) is not int or a2 >> 64: a2 = _integer(a2, 0, 18446744073709551615, '?a2')
    if type(a3) is not int or a3 >> 64: a3 = _integer(a3, 0, 18446744073709551615, '?a3')
    a0 = _array(a0, n1, a2, '?a0')
    a1 = _array(a1, n2, a2, '?a1')
    if type(a4) is not n3: a4 = _handle(a4, n3, '?a4')
    err = n4(a0, a1, _word(a2), _word(a3), a4)
    if err:
        raise _failed('?', n5(err), {'a0': a0, 'a1': a1, 'a2': a2, 'a3': a3, 'a4': a4})
    return None


def s528_72bcdf6e(a0, a1, a2, a3, a4):
    if type(a3) is not int or a3 >> 32: a3 = _integer(a3, 0, 4294967295, '?a3')
    if type(a4) is not int or a4 >> 32: a4 = _integer(a4, 0, 4294967295, '?a4')
    if type(a1) is int and not a1 >> 64: a1 = _word(a1) if a1 else None
    else: a1 = _pointer(a1, None, False, '?a1')
    if type(a2) is not n1: a2 = _callback(a2, n1, '?a2')
    err = n2(_byref(a0), a1, a2, a3, a4)
    if not err:
        return
    a0.value = 0
    raise _failed('?', n3(err), {'a1': a1, 'a2': a2, 'a3': a3, 'a4': a4})


def s433_38d9d151(a0, a1, a2, a3, a4):
    if type(a3) is not int or a3 >> 64: a3 = _integer(a3, 0, 18446744073709551615, '?a3')
    if type(a1) is not n1: a1 = _handle(a1, n1, '?a1')
    a2 = _array(a2, n2, a3, '?a2')
    if type(a4) is not n1: a4 = _handle(a4, n1, '?a4')
    err = n3(_byref(a0), a1, a2, _word(a3), a4)
    if not err:
        return
    a0.value = 0
    raise _failed('?', n4(err), {'a1': a1, 'a2': a2, 'a3': a3, 'a4': a4})


def s433_39175674(a0, a1, a2, a3, a4):
    if type(a3) is not int or a3 >> 64: a3 = _integer(a3, 0, 18446744073709551615, '?a3')
    if type(a1) is not n1: a1 = _handle(a1, n1, '?a1')
    a2 = _array(a2, n2, a3, '?a2')
    if type(a4) is not n3: a4 = _handle(a4, n3, '?a4')
    err = n4(_byref(a0), a1, a2, _word(a3), a4)
    if not err:
        return
    a0.value = 0
    raise _failed('?', n5(err), {'a1': a1, 'a2': a2, 'a3': a3, 'a4': a4})


def s519_785ec658(a0, a1, a2, a3, a4):
    if type(a3) is not int or a3 >> 64: a3 = _integer(a3, 0, 18446744073709551615, '?a3')
    if type(a1) is not n1: a1 = _handle(a1, n1, '?a1')
    a2 = _array(a2, n2, a3, '?a2')
    try:
        a4_at = a4._at_ if type(a4) is n3 else _reference(a4, n3, '?a4')
    except AttributeError:
        a4_at = _address(a4)
    err = n4(_byref(a0), a1, a2, _word(a3), a4_at)
    if not err:
        return
    a0.value = 0
    raise _failed('?', n5(err), {'a1': a1, 'a2': a2, 'a3': a3, 'a4': a4})


def s370_e92a7f07(a0, a1, a2, a3, a4):
    if type(a4) is not int or a4 >> 64: a4 = _integer(a4, 0, 18446744073709551615, '?a4')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    a1 = _array(a1, n2, a4, '?a1')
    a2 = _array(a2, n2, a4, '?a2')
    a3 = _array(a3, n3, a4, '?a3')
    err = n4(a0, a1, a2, a3, _word(a4))
    if err:
        return (n5(err),)
    return n7


def s592_bd4e9d22(a0, a1, a2, a3, a4, a5):
    if type(a3) is not int or a3 >> 64: a3 = _integer(a3, 0, 18446744073709551615, '?a3')
    if type(a1) is not n1: a1 = _handle(a1, n1, '?a1')
    a2 = _array(a2, n2, a3, '?a2')
    try:
        a4_at = a4._at_ if type(a4) is n3 else _reference(a4, n3, '?a4')
    except AttributeError:
        a4_at = _address(a4)
    if type(a5) is not n4: a5 = _handle(a5, n4, '?a5')
    err = n5(_byref(a0), a1, a2, _word(a3), a4_at, a5)
    if not err:
        return
    a0.value = 0
    raise _failed('?', n6(err), {'a1': a1, 'a2': a2, 'a3': a3, 'a4': a4, 'a5': a5})


def s493_8c457282(a0, a1, a2, a3, a4, a5):
    if type(a4) is not int or a4 >> 64: a4 = _integer(a4, 0, 18446744073709551615, '?a4')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    if type(a2) is not n1: a2 = _handle(a2, n1, '?a2')
    if type(a3) is not n2: a3 = _handle(a3, n2, '?a3')
    if type(a5) is not n3: a5 = _handle(a5, n3, '?a5')
    err = n4(a0, a1, a2, a3, _word(a4), a5)
    if err:
        return (n5(err),)
    return n7


def s572_f4a21ec1(a0, a1, a2, a3, a4, a5):
    if type(a4) is not int or a4 >> 64: a4 = _integer(a4, 0, 18446744073709551615, '?a4')
    if type(a1) is not n1: a1 = _handle(a1, n1, '?a1')
    a2 = _array(a2, n2, a4, '?a2')
    a3 = _array(a3, n3, a4, '?a3')
    try:
        a5_at = a5._at_ if type(a5) is n4 else _reference(a5, n4, '?a5')
    except AttributeError:
        a5_at = _address(a5)
    err = n5(_byref(a0), a1, a2, a3, _word(a4), a5_at)
    if not err:
        return
    a0.value = 0
    raise _failed('?', n6(err), {'a1': a1, 'a2': a2, 'a3': a3, 'a4': a4, 'a5': a5})


def s763_756bb29f(a0, a1, a2, a3, a4, a5, a6, a7):
    if type(a1) is not n2: a1 = _integer(a1, -2147483648, 4294967295, '?a1')
    if type(a3) is not int or a3 >> 64: a3 = _integer(a3, 0, 18446744073709551615, '?a3')
    if type(a5) is not int or a5 >> 32: a5 = _integer(a5, 0, 4294967295, '?a5')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a2) is int and not a2 >> 64: a2 = _word(a2) if a2 else None
    else: a2 = _pointer(a2, a3, False, '?a2')
    if type(a4) is not bytes: a4 = _text(a4, '?a4')
    a6 = _array(a6, n3, a5, '?a6')
    if type(a7) is int and not a7 >> 64: a7 = _word(a7) if a7 else None
    else: a7 = _pointers(a7, a5, '?a7')
    err = n4(a0, a1, a2, _word(a3), a4, a5, a6, a7)
    if err:
        return (n5(err),)
    return n7


def s717_4a6910c9(a0, a1, a2, a3, a4, a5, a6, a7):
    if type(a2) is not int or a2 >> 64: a2 = _integer(a2, 0, 18446744073709551615, '?a2')
    if type(a5) is not int or a5 >> 64: a5 = _integer(a5, 0, 18446744073709551615, '?a5')
    if type(a6) is not int or a6 >> 64: a6 = _integer(a6, 0, 18446744073709551615, '?a6')
    a0 = _array(a0, n1, a2, '?a0')
    a1 = _array(a1, n2, a2, '?a1')
    a3 = _array(a3, n3, a5, '?a3')
    a4 = _array(a4, n2, a5, '?a4')
    if type(a7) is not n4: a7 = _handle(a7, n4, '?a7')
    err = n5(a0, a1, _word(a2), a3, a4, _word(a5), _word(a6), a7)
    if err:
        raise _failed('?', n6(err), {'a0': a0, 'a1': a1, 'a2': a2, 'a3': a3, 'a4': a4, 'a5': a5, 'a6': a6, 'a7': a7})
    return None


def s860_a6b2f11a(a0, a1, a2, a3, a4, a5, a6, a7):
    if type(a4) is not int or a4 >> 32: a4 = _integer(a4, 0, 4294967295, '?a4')
    if type(a7) is not int or a7 >> 32: a7 = _integer(a7, 0, 4294967295, '?a7')
    if type(a1) is int and not a1 >> 64: a1 = _word(a1) if a1 else None
    else: a1 = _pointer(a1, None, True, '?a1')
    a2 = _array(a2, n1, a4, '?a2')
    if type(a3) is int and not a3 >> 64: a3 = _word(a3) if a3 else None
    else: a3 = _pointers(a3, a4, '?a3')
    a5 = _array(a5, n1, a7, '?a5')
    if type(a6) is int and not a6 >> 64: a6 = _word(a6) if a6 else None
    else: a6 = _pointers(a6, a7, '?a6')
    a0.kept = (a3,)
    err = n2(_byref(a0), a1, a2, a3, a4, a5, a6, a7)
    if not err:
        _keep(a0, a3)
        return
    a0.value = 0
    raise _failed('?', n3(err), {'a1': a1, 'a2': a2, 'a3': a3, 'a4': a4, 'a5': a5, 'a6': a6, 'a7': a7})


def s1257_02d85b2d(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10):
    try:
        bits = a1 | a2 | a3 | a4 | a5 | a6 | a7
    except (TypeError, OverflowError):
        bits = None
    if type(bits) is not int or bits >> 32:
        if type(a1) is not int or a1 >> 32: a1 = _integer(a1, 0, 4294967295, '?a1')
        if type(a2) is not int or a2 >> 32: a2 = _integer(a2, 0, 4294967295, '?a2')
        if type(a3) is not int or a3 >> 32: a3 = _integer(a3, 0, 4294967295, '?a3')
        if type(a4) is not int or a4 >> 32: a4 = _integer(a4, 0, 4294967295, '?a4')
        if type(a5) is not int or a5 >> 32: a5 = _integer(a5, 0, 4294967295, '?a5')
        if type(a6) is not int or a6 >> 32: a6 = _integer(a6, 0, 4294967295, '?a6')
        if type(a7) is not int or a7 >> 32: a7 = _integer(a7, 0, 4294967295, '?a7')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    if type(a8) is not n2: a8 = _handle(a8, n2, '?a8')
    if type(a9) is int and not a9 >> 64: a9 = _word(a9) if a9 else None
    else: a9 = _pointers(a9, None, '?a9')
    if type(a10) is int and not a10 >> 64: a10 = _word(a10) if a10 else None
    else: a10 = _pointers(a10, None, '?a10')
    err = n3(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10)
    if err:
        return (n4(err),)
    return n6


def s343_95f7edcc(a0, a2):
    if type(a2) is not int or a2 >> 64: a2 = _integer(a2, 0, 18446744073709551615, '?a2')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    a1 = (n1 * a2)() if a2 else None
    a2_ = n2(a2)
    err = n3(a0, a1, a2_)
    if err:
        return n4(err), None, None
    return n5, _items(a1, min(a2_[0], a2), n1), a2_[0]


def s362_d35e6982(a0, a2):
    if type(a2) is not int or a2 >> 64: a2 = _integer(a2, 0, 18446744073709551615, '?a2')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    a1 = (n2 * a2)() if a2 else None
    a2_ = n3(a2)
    err = n4(a0, a1, a2_)
    if err:
        raise _failed('?', n5(err), {'a0': a0, 'a2': a2})
    return _items(a1, min(a2_[0], a2), n2), a2_[0]


def s343_43956b3a(a0, a2):
    if type(a2) is not int or a2 >> 64: a2 = _integer(a2, 0, 18446744073709551615, '?a2')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    a1 = (n2 * a2)() if a2 else None
    a2_ = n3(a2)
    err = n4(a0, a1, a2_)
    if err:
        return n5(err), None, None
    return n6, _items(a1, min(a2_[0], a2), n2), a2_[0]


def s290_189e084a(a0, a2):
    if type(a2) is not n3: a2 = _integer(a2, -2147483648, 4294967295, '?a2')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    a1 = _new_struct(n2)
    err = n4(a0, _byref(a1), a2)
    if err:
        raise _failed('?', n5(err), {'a0': a0, 'a2': a2})
    return a1


def s265_d0446e49(a0, a2):
    if type(a2) is not n3: a2 = _integer(a2, -2147483648, 4294967295, '?a2')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    a1 = _new_struct(n2)
    err = n4(a0, _byref(a1), a2)
    if err:
        return n5(err), None
    return n6, a1


def s296_568a7955(a0, a2):
    if type(a2) is not n3: a2 = _integer(a2, -2147483648, 4294967295, '?a2')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    a1 = _new_struct(n2)
    err = n4(a0.value, _byref(a1), a2)
    if err:
        raise _failed('?', n5(err), {'a0': a0, 'a2': a2})
    return a1


def s423_f380e1b4(a0, a3):
    if type(a3) is not int or a3 >> 64: a3 = _integer(a3, 0, 18446744073709551615, '?a3')
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    a1 = (n1 * a3)() if a3 else None
    a2 = (n2 * a3)() if a3 else None
    a3_ = n3(a3)
    err = n4(a0, a1, a2, a3_)
    if err:
        return n5(err), None, None, None
    return n6, _items(a1, min(a3_[0], a3), n1), _items(a2, min(a3_[0], a3), n2), a3_[0]


def s187_6eca6ca5(a1):
    a0 = _new_struct(n1)
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    err = n3(a0, a1)
    if err:
        raise _failed('?', n4(err), {'a1': a1})
    return a0


def s172_76612bf0(a1):
    a0 = _new_struct(n1)
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    err = n3(a0, a1)
    if err:
        return n4(err), None
    return n5, a0


def s193_a3a1d09f(a1):
    a0 = _new_struct(n1)
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    err = n3(a0, a1.value)
    if err:
        raise _failed('?', n4(err), {'a1': a1})
    return a0


def s178_b237ab0d(a1):
    a0 = _new_struct(n1)
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    err = n3(a0, a1.value)
    if err:
        return n4(err), None
    return n5, a0


def s140_f0eb4c90(a1):
    a0 = n1()
    a1 = _by_value(a1, n2, '?a1')
    err = n3(a0, a1)
    if err:
        return n4(err), None
    return n5, a0


def s225_3b5af08e(a1):
    a0 = n1()
    if type(a1) is int and not a1 >> 64: a1 = _word(a1) if a1 else None
    else: a1 = _pointer(a1, None, True, '?a1')
    err = n2(a0, a1)
    if err:
        return n3(err), None
    return n4, a0


def s158_e7aa3852(a1):
    a0 = n1()
    if type(a1) is not bytes: a1 = _text(a1, '?a1')
    err = n2(a0, a1)
    if err:
        return n3(err), None
    return n4, a0


def s176_d6901bb1(a1):
    a0 = n1()
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    err = n3(a0, a1)
    if err:
        raise _failed('?', n4(err), {'a1': a1})
    return a0


def s161_dd159411(a1):
    a0 = n1()
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    err = n3(a0, a1)
    if err:
        return n4(err), None
    return n5, a0


def s182_1fe9eca3(a1):
    a0 = n1()
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    err = n3(a0, a1.value)
    if err:
        raise _failed('?', n4(err), {'a1': a1})
    return a0


def s167_ccc879a5(a1):
    a0 = n1()
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    err = n3(a0, a1.value)
    if err:
        return n4(err), None
    return n5, a0


def s247_5e98b98d(a1):
    a0 = n1()
    try:
        a1_at = a1._at_ if type(a1) is n2 else _reference(a1, n2, '?a1')
    except AttributeError:
        a1_at = _address(a1)
    err = n3(a0, a1_at)
    if err:
        return n4(err), None
    return n5, a0


def s186_5e44565b(a1):
    if type(a1) is not int or a1 >> 32: a1 = _integer(a1, 0, 4294967295, '?a1')
    a0 = n1()
    err = n2(a0, a1)
    if err:
        return n3(err), None
    return n4, a0


def s203_047b3300(a1):
    if type(a1) is not int or a1 >> 64: a1 = _integer(a1, 0, 18446744073709551615, '?a1')
    a0 = n1()
    err = n2(a0, _word(a1))
    if err:
        return n3(err), None
    return n4, a0


def s332_53017dfd(a1):
    if type(a1) is not int or a1 >> 64: a1 = _integer(a1, 0, 18446744073709551615, '?a1')
    try:
        a0, a0_at = cell = n1()
    except IndexError:
        a0, a0_at = cell = n3()
    err = n4(a0_at, _word(a1))
    if err:
        return n5(err), None
    result = a0.value
    n2(cell)
    return n6, result or 0


def s223_ee12acb5(a1):
    if type(a1) is not int or not -2147483648 <= a1 <= 2147483647: a1 = _integer(a1, -2147483648, 2147483647, '?a1')
    a0 = n1()
    err = n2(a0, a1)
    if err:
        return n3(err), None
    return n4, a0


def s300_18bb4796(a1):
    try:
        a0, a0_at = cell = n1()
    except IndexError:
        a0, a0_at = cell = n3()
    if type(a1) is not n4: a1 = _handle(a1, n4, '?a1')
    err = n5(a0_at, a1)
    if err:
        raise _failed('?', n6(err), {'a1': a1})
    result = a0.value
    n2(cell)
    return result


def s285_ea488724(a1):
    try:
        a0, a0_at = cell = n1()
    except IndexError:
        a0, a0_at = cell = n3()
    if type(a1) is not n4: a1 = _handle(a1, n4, '?a1')
    err = n5(a0_at, a1)
    if err:
        return n6(err), None
    result = a0.value
    n2(cell)
    return n7, result


def s306_890654a0(a1):
    try:
        a0, a0_at = cell = n1()
    except IndexError:
        a0, a0_at = cell = n3()
    if type(a1) is not n4: a1 = _handle(a1, n4, '?a1')
    err = n5(a0_at, a1.value)
    if err:
        raise _failed('?', n6(err), {'a1': a1})
    result = a0.value
    n2(cell)
    return result


def s291_b4025659(a1):
    try:
        a0, a0_at = cell = n1()
    except IndexError:
        a0, a0_at = cell = n3()
    if type(a1) is not n4: a1 = _handle(a1, n4, '?a1')
    err = n5(a0_at, a1.value)
    if err:
        return n6(err), None
    result = a0.value
    n2(cell)
    return n7, result


def s192_cc60dcb3(a1, a0):
    if type(a0) is not n1: a0 = _handle(a0, n1, '?a0')
    err = n2(a0, _byref(a1))
    if not err:
        return
    a1.value = 0
    raise _failed('?', n3(err), {'a0': a0})


def s246_6d13c15b(a1, a2):
    a0 = n1()
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    if type(a2) is not bytes: a2 = _text(a2, '?a2')
    err = n3(a0, a1, a2)
    if err:
        raise _failed('?', n4(err), {'a1': a1, 'a2': a2})
    return a0


def s221_505bc704(a1, a2):
    a0 = n1()
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    if type(a2) is not bytes: a2 = _text(a2, '?a2')
    err = n3(a0, a1, a2)
    if err:
        return n4(err), None
    return n5, a0


def s310_0a70cd5c(a1, a2):
    a0 = n1()
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    try:
        a2_at = a2._at_ if type(a2) is n3 else _reference(a2, n3, '?a2')
    except AttributeError:
        a2_at = _address(a2)
    err = n4(a0, a1, a2_at)
    if err:
        return n5(err), None
    return n6, a0


def s313_54657cd9(a1, a2):
    if type(a1) is not int or a1 >> 32: a1 = _integer(a1, 0, 4294967295, '?a1')
    a0 = (n1 * a1)() if a1 else None
    if type(a2) is not n2: a2 = _handle(a2, n2, '?a2')
    err = n3(a0, a1, a2)
    if err:
        raise _failed('?', n4(err), {'a1': a1, 'a2': a2})
    return _items(a0, a1, n1)


def s266_9b735117(a1, a2):
    if type(a1) is not int or a1 >> 64: a1 = _integer(a1, 0, 18446744073709551615, '?a1')
    a0 = n1()
    if type(a2) is not n2: a2 = _handle(a2, n2, '?a2')
    err = n3(a0, _word(a1), a2)
    if err:
        return n4(err), None
    return n5, a0


def s291_4236a2f9(a1, a2):
    if type(a1) is not int or a1 >> 64: a1 = _integer(a1, 0, 18446744073709551615, '?a1')
    if type(a2) is not int or a2 >> 32: a2 = _integer(a2, 0, 4294967295, '?a2')
    a0 = n1()
    err = n2(a0, _word(a1), a2)
    if err:
        return n3(err), None
    return n4, a0


def s339_af163543(a1, a2):
    if type(a1) is not int or not 0 <= a1 <= 2147483647: a1 = _integer(a1, 0, 2147483647, '?a1')
    a0 = (n1 * a1)() if a1 else None
    if type(a2) is not n2: a2 = _handle(a2, n2, '?a2')
    err = n3(a0, a1, a2.value)
    if err:
        raise _failed('?', n4(err), {'a1': a1, 'a2': a2})
    return a0.raw if a0 else b''


def s314_49153e9e(a1, a2):
    if type(a1) is not int or not 0 <= a1 <= 2147483647: a1 = _integer(a1, 0, 2147483647, '?a1')
    a0 = (n1 * a1)() if a1 else None
    if type(a2) is not n2: a2 = _handle(a2, n2, '?a2')
    err = n3(a0, a1, a2.value)
    if err:
        return n4(err), None
    return n5, a0.raw if a0 else b''


def s436_bf42287a(a1, a2):
    if type(a1) is not n2: a1 = _integer(a1, -2147483648, 4294967295, '?a1')
    take, give, new, get, _ = n1[a1]
    try:
        a0, a0_at = cell = take()
    except IndexError:
        a0, a0_at = cell = new()
    if type(a2) is not n3: a2 = _handle(a2, n3, '?a2')
    err = n4(a0_at, a1, a2)
    if err:
        raise _failed('?', n5(err), {'a1': a1, 'a2': a2})
    result = get(a0)
    give(cell)
    return result


def s411_6bff870a(a1, a2):
    if type(a1) is not n2: a1 = _integer(a1, -2147483648, 4294967295, '?a1')
    take, give, new, get, _ = n1[a1]
    try:
        a0, a0_at = cell = take()
    except IndexError:
        a0, a0_at = cell = new()
    if type(a2) is not n3: a2 = _handle(a2, n3, '?a2')
    err = n4(a0_at, a1, a2)
    if err:
        return n5(err), None
    result = get(a0)
    give(cell)
    return n6, result


def s401_f9485d4b(a1, a2):
    if type(a1) is not n4: a1 = _integer(a1, -2147483648, 4294967295, '?a1')
    try:
        a0, a0_at = cell = n1()
    except IndexError:
        a0, a0_at = cell = n3()
    if type(a2) is not n5: a2 = _handle(a2, n5, '?a2')
    err = n6(a0_at, a1, a2.value)
    if err:
        raise _failed('?', n7(err), {'a1': a1, 'a2': a2})
    result = a0.value
    n2(cell)
    return result


def s376_d1cca981(a1, a2):
    if type(a1) is not n4: a1 = _integer(a1, -2147483648, 4294967295, '?a1')
    try:
        a0, a0_at = cell = n1()
    except IndexError:
        a0, a0_at = cell = n3()
    if type(a2) is not n5: a2 = _handle(a2, n5, '?a2')
    err = n6(a0_at, a1, a2.value)
    if err:
        return n7(err), None
    result = a0.value
    n2(cell)
    return n8, result


def s254_6b865596(a1, a2):
    if type(a2) is not int or a2 >> 32: a2 = _integer(a2, 0, 4294967295, '?a2')
    a0 = n1()
    a1 = _array(a1, n2, a2, '?a1')
    err = n3(a0, a1, a2)
    if err:
        raise _failed('?', n4(err), {'a1': a1, 'a2': a2})
    return a0


def s228_6fefbd90(a1, a2):
    if type(a2) is not int or a2 >> 32: a2 = _integer(a2, 0, 4294967295, '?a2')
    a0 = n1()
    a1 = _by_value(a1, n2, '?a1')
    err = n3(a0, a1, a2)
    if err:
        return n4(err), None
    return n5, a0


def s274_423ac7f6(a1, a2):
    if type(a2) is not int or a2 >> 32: a2 = _integer(a2, 0, 4294967295, '?a2')
    a0 = n1()
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    err = n3(a0, a1, a2)
    if err:
        raise _failed('?', n4(err), {'a1': a1, 'a2': a2})
    return a0


def s249_20247426(a1, a2):
    if type(a2) is not int or a2 >> 32: a2 = _integer(a2, 0, 4294967295, '?a2')
    a0 = n1()
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    err = n3(a0, a1, a2)
    if err:
        return n4(err), None
    return n5, a0


def s255_de0e0d20(a1, a2):
    if type(a2) is not int or a2 >> 32: a2 = _integer(a2, 0, 4294967295, '?a2')
    a0 = n1()
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    err = n3(a0, a1.value, a2)
    if err:
        return n4(err), None
    return n5, a0


def s266_44b5a06c(a1, a2):
    if type(a2) is not int or a2 >> 64: a2 = _integer(a2, 0, 18446744073709551615, '?a2')
    a0 = n1()
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    err = n3(a0, a1, _word(a2))
    if err:
        return n4(err), None
    return n5, a0


def s357_c4d988f0(a1, a2):
    if type(a2) is not n3: a2 = _integer(a2, -2147483648, 4294967295, '?a2')
    a0 = n1()
    try:
        a1_at = a1._at_ if type(a1) is n2 else _reference(a1, n2, '?a1')
    except AttributeError:
        a1_at = _address(a1)
    err = n4(a0, a1_at, a2)
    if err:
        raise _failed('?', n5(err), {'a1': a1, 'a2': a2})
    return a0


def s332_17a971b0(a1, a2):
    if type(a2) is not n3: a2 = _integer(a2, -2147483648, 4294967295, '?a2')
    a0 = n1()
    try:
        a1_at = a1._at_ if type(a1) is n2 else _reference(a1, n2, '?a1')
    except AttributeError:
        a1_at = _address(a1)
    err = n4(a0, a1_at, a2)
    if err:
        return n5(err), None
    return n6, a0


def s481_900c0acb(a1, a2):
    if type(a2) is not n5: a2 = _integer(a2, -2147483648, 4294967295, '?a2')
    try:
        a0, a0_at = cell = n1()
    except IndexError:
        a0, a0_at = cell = n3()
    try:
        a1_at = a1._at_ if type(a1) is n4 else _reference(a1, n4, '?a1')
    except AttributeError:
        a1_at = _address(a1)
    err = n6(a0_at, a1_at, a2)
    if err:
        raise _failed('?', n7(err), {'a1': a1, 'a2': a2})
    result = a0.value
    n2(cell)
    return result


def s456_e830f2f7(a1, a2):
    if type(a2) is not n5: a2 = _integer(a2, -2147483648, 4294967295, '?a2')
    try:
        a0, a0_at = cell = n1()
    except IndexError:
        a0, a0_at = cell = n3()
    try:
        a1_at = a1._at_ if type(a1) is n4 else _reference(a1, n4, '?a1')
    except AttributeError:
        a1_at = _address(a1)
    err = n6(a0_at, a1_at, a2)
    if err:
        return n7(err), None
    result = a0.value
    n2(cell)
    return n8, result


def s373_83cfcb92(a1, a2):
    try:
        a0, a0_at = cell = n1()
    except IndexError:
        a0, a0_at = cell = n3()
    if type(a1) is not n4: a1 = _handle(a1, n4, '?a1')
    if type(a2) is not n4: a2 = _handle(a2, n4, '?a2')
    err = n5(a0_at, a1, a2)
    if err:
        raise _failed('?', n6(err), {'a1': a1, 'a2': a2})
    result = a0.value
    n2(cell)
    return result


def s348_7e3efa7d(a1, a2):
    try:
        a0, a0_at = cell = n1()
    except IndexError:
        a0, a0_at = cell = n3()
    if type(a1) is not n4: a1 = _handle(a1, n4, '?a1')
    if type(a2) is not n4: a2 = _handle(a2, n4, '?a2')
    err = n5(a0_at, a1, a2)
    if err:
        return n6(err), None
    result = a0.value
    n2(cell)
    return n7, result


def s385_be16d3cd(a1, a2):
    try:
        a0, a0_at = cell = n1()
    except IndexError:
        a0, a0_at = cell = n3()
    if type(a1) is not n4: a1 = _handle(a1, n4, '?a1')
    if type(a2) is not n4: a2 = _handle(a2, n4, '?a2')
    err = n5(a0_at, a1.value, a2.value)
    if err:
        raise _failed('?', n6(err), {'a1': a1, 'a2': a2})
    result = a0.value
    n2(cell)
    return result


def s459_cf9c0b66(a1, a2):
    try:
        a0, a0_at = cell = n1()
    except IndexError:
        a0, a0_at = cell = n3()
    if type(a1) is not n4: a1 = _handle(a1, n4, '?a1')
    try:
        a2_at = a2._at_ if type(a2) is n5 else _reference(a2, n5, '?a2')
    except AttributeError:
        a2_at = _address(a2)
    err = n6(a0_at, a1, a2_at)
    if err:
        raise _failed('?', n7(err), {'a1': a1, 'a2': a2})
    result = a0.value
    n2(cell)
    return result


def s463_7cc67fb0(a1, a2):
    try:
        a0, a0_at = cell = n1()
    except IndexError:
        a0, a0_at = cell = n3()
    if type(a1) is not n5: a1 = _handle(a1, n5, '?a1')
    try:
        a2_at = a2._at_ if type(a2) is n6 else _reference(a2, n6, '?a2')
    except AttributeError:
        a2_at = _address(a2)
    err = n7(a0_at, a1, a2_at)
    if err:
        raise _failed('?', n8(err), {'a1': a1, 'a2': a2})
    result = a0.value
    n2(cell)
    return n4[result]


def s545_c4ce1e00(a1, a2, a3):
    a0 = n1()
    try:
        a1_at = a1._at_ if type(a1) is n2 else _reference(a1, n2, '?a1')
    except AttributeError:
        a1_at = _address(a1)
    try:
        a2_at = a2._at_ if type(a2) is n3 else _reference(a2, n3, '?a2')
    except AttributeError:
        a2_at = _address(a2)
    try:
        a3_at = a3._at_ if type(a3) is n4 else _reference(a3, n4, '?a3')
    except AttributeError:
        a3_at = _address(a3)
    err = n5(a0, a1_at, a2_at, a3_at)
    if err:
        return n6(err), None
    return n7, a0


def s329_e3919857(a1, a2, a3):
    if type(a1) is not int or a1 >> 64: a1 = _integer(a1, 0, 18446744073709551615, '?a1')
    a0 = n1()
    if type(a2) is not n2: a2 = _handle(a2, n2, '?a2')
    if type(a3) is not n3: a3 = _handle(a3, n3, '?a3')
    err = n4(a0, _word(a1), a2, a3)
    if err:
        return n5(err), None
    return n6, a0


def s457_dcafa40c(a1, a2, a3):
    if type(a1) is not int or a1 >> 64: a1 = _integer(a1, 0, 18446744073709551615, '?a1')
    if type(a3) is not int or a3 >> 64: a3 = _integer(a3, 0, 18446744073709551615, '?a3')
    a0 = n1()
    try:
        a2_at = a2._at_ if type(a2) is n2 else _reference(a2, n2, '?a2')
    except AttributeError:
        a2_at = _address(a2)
    err = n3(a0, _word(a1), a2_at, _word(a3))
    if err:
        return n4(err), None
    return n5, a0


def s474_3b3ba2e1(a1, a2, a3):
    if type(a1) is not n4: a1 = _integer(a1, -2147483648, 4294967295, '?a1')
    try:
        a0, a0_at = cell = n1()
    except IndexError:
        a0, a0_at = cell = n3()
    if type(a2) is not n5: a2 = _handle(a2, n5, '?a2')
    if type(a3) is not n6: a3 = _handle(a3, n6, '?a3')
    err = n7(a0_at, a1, a2, a3.value)
    if err:
        raise _failed('?', n8(err), {'a1': a1, 'a2': a2, 'a3': a3})
    result = a0.value
    n2(cell)
    return result


def s383_25c7ccc6(a1, a2, a3):
    if type(a2) is not int or a2 >> 32: a2 = _integer(a2, 0, 4294967295, '?a2')
    if type(a3) is not int or a3 >> 32: a3 = _integer(a3, 0, 4294967295, '?a3')
    a0 = _new_struct(n1)
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    err = n3(a0, a1, a2, a3)
    if err:
        raise _failed('?', n4(err), {'a1': a1, 'a2': a2, 'a3': a3})
    return a0


def s348_bbb2952f(a1, a2, a3):
    if type(a2) is not int or a2 >> 32: a2 = _integer(a2, 0, 4294967295, '?a2')
    if type(a3) is not int or a3 >> 32: a3 = _integer(a3, 0, 4294967295, '?a3')
    a0 = _new_struct(n1)
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    err = n3(a0, a1, a2, a3)
    if err:
        return n4(err), None
    return n5, a0


def s550_78bb52f9(a1, a2, a3):
    if type(a2) is not int or not -2147483648 <= a2 <= 2147483647: a2 = _integer(a2, -2147483648, 2147483647, '?a2')
    if type(a3) is not int or a3 >> 64: a3 = _integer(a3, 0, 18446744073709551615, '?a3')
    try:
        a0, a0_at = cell = n1()
    except IndexError:
        a0, a0_at = cell = n3()
    if type(a1) is not n4: a1 = _handle(a1, n4, '?a1')
    err = n5(a0_at, a1, a2, _word(a3))
    if err:
        raise _failed('?', n6(err), {'a1': a1, 'a2': a2, 'a3': a3})
    result = a0.value
    n2(cell)
    return result


def s515_05089d9e(a1, a2, a3):
    if type(a2) is not int or not -2147483648 <= a2 <= 2147483647: a2 = _integer(a2, -2147483648, 2147483647, '?a2')
    if type(a3) is not int or a3 >> 64: a3 = _integer(a3, 0, 18446744073709551615, '?a3')
    try:
        a0, a0_at = cell = n1()
    except IndexError:
        a0, a0_at = cell = n3()
    if type(a1) is not n4: a1 = _handle(a1, n4, '?a1')
    err = n5(a0_at, a1, a2, _word(a3))
    if err:
        return n6(err), None
    result = a0.value
    n2(cell)
    return n7, result


def s570_b950ba95(a1, a2, a3):
    if type(a2) is not int or not -2147483648 <= a2 <= 2147483647: a2 = _integer(a2, -2147483648, 2147483647, '?a2')
    if type(a3) is not int or not -2147483648 <= a3 <= 2147483647: a3 = _integer(a3, -2147483648, 2147483647, '?a3')
    try:
        a0, a0_at = cell = n1()
    except IndexError:
        a0, a0_at = cell = n3()
    if type(a1) is not n4: a1 = _handle(a1, n4, '?a1')
    err = n5(a0_at, a1, a2, a3)
    if err:
        raise _failed('?', n6(err), {'a1': a1, 'a2': a2, 'a3': a3})
    result = a0.value
    n2(cell)
    return result


def s327_650618dc(a1, a2, a3):
    if type(a2) is not n2: a2 = _integer(a2, -2147483648, 4294967295, '?a2')
    if type(a3) is not int or a3 >> 64: a3 = _integer(a3, 0, 18446744073709551615, '?a3')
    a0 = n1()
    a1 = _os_handle(a1, '?a1')
    err = n3(a0, a1, a2, _word(a3))
    if err:
        return n4(err), None
    return n5, a0


def s516_69eb9563(a1, a2, a3):
    if type(a2) is not n3: a2 = _integer(a2, -2147483648, 4294967295, '?a2')
    if type(a3) is not int or a3 >> 64: a3 = _integer(a3, 0, 18446744073709551615, '?a3')
    take, give, new, get, _ = n1[a2]
    try:
        a0, a0_at = cell = take()
    except IndexError:
        a0, a0_at = cell = new()
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    err = n4(a0_at, a1, a2, _word(a3))
    if err:
        return n5(err), None
    result = get(a0)
    give(cell)
    return n6, result


def s377_a72ed78a(a1, a2, a3):
    if type(a3) is not int or a3 >> 32: a3 = _integer(a3, 0, 4294967295, '?a3')
    a0 = n1()
    try:
        a1_at = a1._at_ if type(a1) is n2 else _reference(a1, n2, '?a1')
    except AttributeError:
        a1_at = _address(a1)
    a2 = _by_value(a2, n3, '?a2')
    err = n4(a0, a1_at, a2, a3)
    if err:
        return n5(err), None
    return n6, a0


def s476_b72e5a6c(a1, a2, a3, a4):
    if type(a1) is not int or a1 >> 64: a1 = _integer(a1, 0, 18446744073709551615, '?a1')
    if type(a2) is not int or a2 >> 64: a2 = _integer(a2, 0, 18446744073709551615, '?a2')
    if type(a4) is not int or a4 >> 64: a4 = _integer(a4, 0, 18446744073709551615, '?a4')
    a0 = n1()
    if type(a3) is not n2: a3 = _handle(a3, n2, '?a3')
    err = n3(a0, _word(a1), _word(a2), a3, _word(a4))
    if err:
        return n4(err), None
    return n5, a0


def s476_d550f18e(a1, a2, a3, a4):
    if type(a2) is not int or a2 >> 32: a2 = _integer(a2, 0, 4294967295, '?a2')
    a0 = n1()
    if type(a1) is int and not a1 >> 64: a1 = _word(a1) if a1 else None
    else: a1 = _pointer(a1, None, True, '?a1')
    a3 = _array(a3, n2, a2, '?a3')
    if type(a4) is int and not a4 >> 64: a4 = _word(a4) if a4 else None
    else: a4 = _pointers(a4, a2, '?a4')
    err = n3(a0, a1, a2, a3, a4)
    if err:
        return n4(err), None
    return n5, a0


def s445_9ef153d9(a1, a2, a3, a4):
    if type(a3) is not int or a3 >> 32: a3 = _integer(a3, 0, 4294967295, '?a3')
    if type(a4) is not int or a4 >> 32: a4 = _integer(a4, 0, 4294967295, '?a4')
    a0 = n1()
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    if type(a2) is not n3: a2 = _handle(a2, n3, '?a2')
    err = n4(a0, a1, a2, a3, a4)
    if err:
        raise _failed('?', n5(err), {'a1': a1, 'a2': a2, 'a3': a3, 'a4': a4})
    return a0


def s372_89c4807f(a1, a2, a3, a4):
    if type(a3) is not int or a3 >> 64: a3 = _integer(a3, 0, 18446744073709551615, '?a3')
    a0 = n1()
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    a2 = _array(a2, n3, a3, '?a2')
    if type(a4) is not n4: a4 = _handle(a4, n4, '?a4')
    err = n5(a0, a1, a2, _word(a3), a4)
    if err:
        return n6(err), None
    return n7, a0


def s503_6373116f(a1, a2, a3, a4):
    if type(a3) is not int or a3 >> 64: a3 = _integer(a3, 0, 18446744073709551615, '?a3')
    a0 = n1()
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    a2 = _array(a2, n3, a3, '?a2')
    try:
        a4_at = a4._at_ if type(a4) is n4 else _reference(a4, n4, '?a4')
    except AttributeError:
        a4_at = _address(a4)
    err = n5(a0, a1, a2, _word(a3), a4_at)
    if err:
        raise _failed('?', n6(err), {'a1': a1, 'a2': a2, 'a3': a3, 'a4': a4})
    return a0


def s458_83785294(a1, a2, a3, a4):
    if type(a3) is not int or a3 >> 64: a3 = _integer(a3, 0, 18446744073709551615, '?a3')
    a0 = n1()
    if type(a1) is not n2: a1 = _handle(a1, n2, '?a1')
    a2 = _array(a2, n3, a3, '?a2')
    try:
        a4_at = a4._at_ if type(a4) is n4 else _reference(a4, n4, '?a4')
    except AttributeError:
        a4_at = _address(a4)
    err = n5(a0, a1, a2, _word(a3), a4_at)
    if err:
        return n6(err), None
    return n7, a0


def s591_fd99ddb0(a1, a2, a4, a5):
    if type(a1) is not int or a1 >> 32: a1 = _integer(a1, 0, 4294967295, '?a1')
    if type(a4) is not int or a4 >> 32: a4 = _integer(a4, 0, 4294967295, '?a4')
    a0 = (n1 * a1)() if a1 else None
    try:
        a2_at = a2._at_ if type(a2) is n1 else _reference(a2, n1, '?a2')
    except AttributeError:
        a2_at = _address(a2)
    a3 = _new_struct(n1)
    a5 = _array(a5, n2, a1, '?a5')
    err = n3(a0, a1, a2_at, _byref(a3), a4, a5)
    if err:
        raise _failed('?', n4(err), {'a1': a1, 'a2': a2, 'a4': a4, 'a5': a5})
    return _items(a0, a1, n1), a3


def s827_e1a341e2(a1, a2, a4, a5):
    try:
        bits = a1 | a4 | a5
    except (TypeError, OverflowError):
        bits = None
    if type(bits) is not int or bits >> 32:
        if type(a1) is not int or a1 >> 32: a1 = _integer(a1, 0, 4294967295, '?a1')
        if type(a4) is not int or a4 >> 32: a4 = _integer(a4, 0, 4294967295, '?a4')
        if type(a5) is not int or a5 >> 32: a5 = _integer(a5, 0, 4294967295, '?a5')
    a0 = (n1 * a1)() if a1 else None
    a1_ = n2(a1)
    try:
        a2_at = a2._at_ if type(a2) is n1 else _reference(a2, n1, '?a2')
    except AttributeError:
        a2_at = _address(a2)
    a3 = _new_struct(n1)
    err = n3(a0, a1_, a2_at, _byref(a3), a4, a5)
    if err:
        raise _failed('?', n4(err), {'a1': a1, 'a2': a2, 'a4': a4, 'a5': a5})
    return _items(a0, min(a1_[0], a1), n1), a1_[0], a3


def s201_3543ccd7(a2):
    a0 = n1()
    a1 = n2()
    if type(a2) is not n3: a2 = _handle(a2, n3, '?a2')
    err = n4(a0, a1, a2)
    if err:
        raise _failed('?', n5(err), {'a2': a2})
    return a0, a1[0]


def s192_f57b31e2(a2):
    a0 = n1()
    a1 = n2()
    if type(a2) is not n3: a2 = _handle(a2, n3, '?a2')
    err = n4(a0, a1, a2)
    if err:
        return n5(err), None, None
    return n6, a0, a1[0]


def s271_b9e8015d(a2, a3):
    a0 = n1()
    a1 = n2()
    if type(a2) is not n3: a2 = _handle(a2, n3, '?a2')
    if type(a3) is not bytes: a3 = _text(a3, '?a3')
    err = n4(a0, a1, a2, a3)
    if err:
        raise _failed('?', n5(err), {'a2': a2, 'a3': a3})
    return a0, a1[0]


def s252_6f6f595b(a2, a3):
    a0 = n1()
    a1 = n2()
    if type(a2) is not n3: a2 = _handle(a2, n3, '?a2')
    if type(a3) is not bytes: a3 = _text(a3, '?a3')
    err = n4(a0, a1, a2, a3)
    if err:
        return n5(err), None, None
    return n6, a0, a1[0]


def s529_78a55ff6(a2, a3, a4, a5):
    if type(a4) is not int or a4 >> 64: a4 = _integer(a4, 0, 18446744073709551615, '?a4')
    if type(a5) is not int or not -2147483648 <= a5 <= 2147483647: a5 = _integer(a5, -2147483648, 2147483647, '?a5')
    a0 = n1()
    a1 = n1()
    if type(a2) is not n2: a2 = _handle(a2, n2, '?a2')
    if type(a3) is not n3: a3 = _callback(a3, n3, '?a3')
    err = n4(a0, a1, a2, a3, _word(a4), a5)
    if err:
        raise _failed('?', n5(err), {'a2': a2, 'a3': a3, 'a4': a4, 'a5': a5})
    return a0[0], a1[0]


def s490_0806d1c5(a2, a3, a4, a5):
    if type(a4) is not int or a4 >> 64: a4 = _integer(a4, 0, 18446744073709551615, '?a4')
    if type(a5) is not int or not -2147483648 <= a5 <= 2147483647: a5 = _integer(a5, -2147483648, 2147483647, '?a5')
    a0 = n1()
    a1 = n1()
    if type(a2) is not n2: a2 = _handle(a2, n2, '?a2')
    if type(a3) is not n3: a3 = _callback(a3, n3, '?a3')
    err = n4(a0, a1, a2, a3, _word(a4), a5)
    if err:
        return n5(err), None, None
    return n6, a0[0], a1[0]


def s442_156c242e(a3, a0, a1, a2):
    if type(a0) is not int or a0 >> 32: a0 = _integer(a0, 0, 4294967295, '?a0')
    a1 = _array(a1, n1, a0, '?a1')
    if type(a2) is int and not a2 >> 64: a2 = _word(a2) if a2 else None
    else: a2 = _pointers(a2, a0, '?a2')
    a3.kept = (a2,)
    err = n2(a0, a1, a2, _byref(a3))
    if not err:
        _keep(a3, a2)
        return
    a3.value = 0
    raise _failed('?', n3(err), {'a0': a0, 'a1': a1, 'a2': a2})


def s1835_2162aed2(tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, boxDim, elementStrides, interleave, swizzle, l2Promotion, oobFill):
    if type(tensorDataType) is not n2: tensorDataType = _integer(tensorDataType, -2147483648, 4294967295, '?tensorDataType')
    if type(interleave) is not n5: interleave = _integer(interleave, -2147483648, 4294967295, '?interleave')
    if type(swizzle) is not n6: swizzle = _integer(swizzle, -2147483648, 4294967295, '?swizzle')
    if type(l2Promotion) is not n7: l2Promotion = _integer(l2Promotion, -2147483648, 4294967295, '?l2Promotion')
    if type(oobFill) is not n8: oobFill = _integer(oobFill, -2147483648, 4294967295, '?oobFill')
    tensorMap = n1()
    if type(tensorRank) is not n3: tensorRank = _handle(tensorRank, n3, '?tensorRank')
    if type(globalAddress) is int and not globalAddress >> 64: globalAddress = _word(globalAddress) if globalAddress else None
    else: globalAddress = _pointer(globalAddress, None, False, '?globalAddress')
    globalDim = _array(globalDim, n4, tensorRank.value, '?globalDim')
    globalStrides = _array(globalStrides, n4, tensorRank.value - 1, '?globalStrides')
    boxDim = _array(boxDim, n3, tensorRank.value, '?boxDim')
    elementStrides = _array(elementStrides, n3, tensorRank.value, '?elementStrides')
    err = n9(tensorMap, tensorDataType, tensorRank.value, globalAddress, globalDim, globalStrides, boxDim, elementStrides, interleave, swizzle, l2Promotion, oobFill)
    if err:
        raise _failed('?', n10(err), {'tensorDataType': tensorDataType, 'tensorRank': tensorRank, 'globalAddress': globalAddress, 'globalDim': globalDim, 'globalStrides': globalStrides, 'boxDim': boxDim, 'elementStrides': elementStrides, 'interleave': interleave, 'swizzle': swizzle, 'l2Promotion': l2Promotion, 'oobFill': oobFill})
    return tensorMap


def s2495_6901beff(tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, pixelBoxLowerCorner, pixelBoxUpperCorner, channelsPerPixel, pixelsPerColumn, elementStrides, interleave, swizzle, l2Promotion, oobFill):
    if type(tensorDataType) is not n2: tensorDataType = _integer(tensorDataType, -2147483648, 4294967295, '?tensorDataType')
    if type(interleave) is not n6: interleave = _integer(interleave, -2147483648, 4294967295, '?interleave')
    if type(swizzle) is not n7: swizzle = _integer(swizzle, -2147483648, 4294967295, '?swizzle')
    if type(l2Promotion) is not n8: l2Promotion = _integer(l2Promotion, -2147483648, 4294967295, '?l2Promotion')
    if type(oobFill) is not n9: oobFill = _integer(oobFill, -2147483648, 4294967295, '?oobFill')
    tensorMap = n1()
    if type(tensorRank) is not n3: tensorRank = _handle(tensorRank, n3, '?tensorRank')
    if type(globalAddress) is int and not globalAddress >> 64: globalAddress = _word(globalAddress) if globalAddress else None
    else: globalAddress = _pointer(globalAddress, None, False, '?globalAddress')
    globalDim = _array(globalDim, n4, tensorRank.value, '?globalDim')
    globalStrides = _array(globalStrides, n4, tensorRank.value - 1, '?globalStrides')
    pixelBoxLowerCorner = _array(pixelBoxLowerCorner, n5, tensorRank.value - 2, '?pixelBoxLowerCorner')
    pixelBoxUpperCorner = _array(pixelBoxUpperCorner, n5, tensorRank.value - 2, '?pixelBoxUpperCorner')
    if type(channelsPerPixel) is not n3: channelsPerPixel = _handle(channelsPerPixel, n3, '?channelsPerPixel')
    if type(pixelsPerColumn) is not n3: pixelsPerColumn = _handle(pixelsPerColumn, n3, '?pixelsPerColumn')
    elementStrides = _array(elementStrides, n3, tensorRank.value, '?elementStrides')
    err = n10(tensorMap, tensorDataType, tensorRank.value, globalAddress, globalDim, globalStrides, pixelBoxLowerCorner, pixelBoxUpperCorner, channelsPerPixel.value, pixelsPerColumn.value, elementStrides, interleave, swizzle, l2Promotion, oobFill)
    if err:
        raise _failed('?', n11(err), {'tensorDataType': tensorDataType, 'tensorRank': tensorRank, 'globalAddress': globalAddress, 'globalDim': globalDim, 'globalStrides': globalStrides, 'pixelBoxLowerCorner': pixelBoxLowerCorner, 'pixelBoxUpperCorner': pixelBoxUpperCorner, 'channelsPerPixel': channelsPerPixel, 'pixelsPerColumn': pixelsPerColumn, 'elementStrides': elementStrides, 'interleave': interleave, 'swizzle': swizzle, 'l2Promotion': l2Promotion, 'oobFill': oobFill})
    return tensorMap


def s2892_d4f8bb96(tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, pixelBoxLowerCornerWidth, pixelBoxUpperCornerWidth, channelsPerPixel, pixelsPerColumn, elementStrides, interleave, mode, swizzle, l2Promotion, oobFill):
    if type(tensorDataType) is not n2: tensorDataType = _integer(tensorDataType, -2147483648, 4294967295, '?tensorDataType')
    if type(pixelBoxLowerCornerWidth) is not int or not -2147483648 <= pixelBoxLowerCornerWidth <= 2147483647: pixelBoxLowerCornerWidth = _integer(pixelBoxLowerCornerWidth, -2147483648, 2147483647, '?pixelBoxLowerCornerWidth')
    if type(pixelBoxUpperCornerWidth) is not int or not -2147483648 <= pixelBoxUpperCornerWidth <= 2147483647: pixelBoxUpperCornerWidth = _integer(pixelBoxUpperCornerWidth, -2147483648, 2147483647, '?pixelBoxUpperCornerWidth')
    if type(interleave) is not n5: interleave = _integer(interleave, -2147483648, 4294967295, '?interleave')
    if type(mode) is not n6: mode = _integer(mode, -2147483648, 4294967295, '?mode')
    if type(swizzle) is not n7: swizzle = _integer(swizzle, -2147483648, 4294967295, '?swizzle')
    if type(l2Promotion) is not n8: l2Promotion = _integer(l2Promotion, -2147483648, 4294967295, '?l2Promotion')
    if type(oobFill) is not n9: oobFill = _integer(oobFill, -2147483648, 4294967295, '?oobFill')
    tensorMap = n1()
    if type(tensorRank) is not n3: tensorRank = _handle(tensorRank, n3, '?tensorRank')
    if type(globalAddress) is int and not globalAddress >> 64: globalAddress = _word(globalAddress) if globalAddress else None
    else: globalAddress = _pointer(globalAddress, None, False, '?globalAddress')
    globalDim = _array(globalDim, n4, tensorRank.value, '?globalDim')
    globalStrides = _array(globalStrides, n4, tensorRank.value - 1, '?globalStrides')
    if type(channelsPerPixel) is not n3: channelsPerPixel = _handle(channelsPerPixel, n3, '?channelsPerPixel')
    if type(pixelsPerColumn) is not n3: pixelsPerColumn = _handle(pixelsPerColumn, n3, '?pixelsPerColumn')
    elementStrides = _array(elementStrides, n3, tensorRank.value, '?elementStrides')
    err = n10(tensorMap, tensorDataType, tensorRank.value, globalAddress, globalDim, globalStrides, pixelBoxLowerCornerWidth, pixelBoxUpperCornerWidth, channelsPerPixel.value, pixelsPerColumn.value, elementStrides, interleave, mode, swizzle, l2Promotion, oobFill)
    if err:
        raise _failed('?', n11(err), {'tensorDataType': tensorDataType, 'tensorRank': tensorRank, 'globalAddress': globalAddress, 'globalDim': globalDim, 'globalStrides': globalStrides, 'pixelBoxLowerCornerWidth': pixelBoxLowerCornerWidth, 'pixelBoxUpperCornerWidth': pixelBoxUpperCornerWidth, 'channelsPerPixel': channelsPerPixel, 'pixelsPerColumn': pixelsPerColumn, 'elementStrides': elementStrides, 'interleave': interleave, 'mode': mode, 'swizzle': swizzle, 'l2Promotion': l2Promotion, 'oobFill': oobFill})
    return tensorMap
