"""The calls of XLA: what a target reads of a call frame, what it says of itself, and what becomes of its errors."""

import ctypes
from ctypes import addressof, c_int, c_int64, c_void_p, pointer, sizeof

import numpy as np
import pytest

from supple._cuda import xla
from supple._gradients import on_gpu
from supple.errors import BadInput

jax = pytest.importorskip("jax", reason="supple.jax needs jax")
jnp = jax.numpy
held = []


def registered(name, work):
    """Registers a target for the CPU, which needs no stream."""
    import supple.jax

    held.append(xla.target(work, supple.jax._interface_version()))
    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(held[-1]), platform="cpu")


def as_array(buffer):
    kind = ctypes.c_float if buffer.dtype == np.float32 else ctypes.c_double
    size = int(np.prod(buffer.shape))
    return np.ctypeslib.as_array((kind * size).from_address(buffer.pointer)).reshape(buffer.shape)


def double(call):
    held.append((call.number("number"), call.arguments[0].shape, call.arguments[0].dtype))
    as_array(call.results[0])[:] = 2 * as_array(call.arguments[0])


def called(name, x, number=7):
    result = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.ffi.ffi_call(name, result, vmap_method="broadcast_all")(x, number=np.int64(number))


def test_xla_calls_a_target_with_arrays_and_a_number_also_under_jit_and_vmap():
    registered("supple_test_double", double)
    x = jnp.arange(6, dtype=jnp.float32).reshape(2, 3)
    assert np.array_equal(called("supple_test_double", x), 2 * x)
    assert held[-1] == (7, (2, 3), np.dtype(np.float32))
    doubled = jax.jit(jax.vmap(lambda row: called("supple_test_double", row, number=-(2**40))))(x)
    assert np.array_equal(doubled, 2 * x)
    assert held[-1][0] == -(2**40)


def test_exceptions_of_a_target_are_errors_of_xla():
    def fails(call):
        raise BadInput("three words here")

    registered("supple_test_fails", fails)
    registered("supple_test_lacks", lambda call: call.number("missing"))
    registered("supple_test_stream", lambda call: call.stream)  # a CPU has none
    registered("supple_test_interrupted", lambda call: (_ for _ in ()).throw(KeyboardInterrupt))
    registered("supple_test_other", on_gpu.evaluate)
    expected = {
        "fails": "BadInput: three words here",
        "lacks": "without the attribute missing",
        "stream": "XLA: ",
        "interrupted": "KeyboardInterrupt",
        "other": "compiled in another process",
    }
    for name, message in expected.items():
        with pytest.raises(Exception, match=message):  # its class has another name in each version of JAX
            called(f"supple_test_{name}", jnp.ones(3), number=10**9).block_until_ready()


@pytest.mark.parametrize("says_its_own", [True, False])
def test_a_target_says_its_version_and_no_traits(says_its_own):
    metadata = xla.Metadata(sizeof(xla.Metadata), traits=9)
    extension = xla.Extension(sizeof(xla.Extension), xla.METADATA, None, addressof(metadata))
    functions = xla.Functions(version=xla.Version(sizeof(xla.Version), None, 0, 5))
    frame = xla.Frame(sizeof(xla.Frame), pointer(extension), pointer(functions) if says_its_own else None)
    handler = xla.target(lambda call: pytest.fail("a question is not a call"), (0, 3))
    assert not handler(addressof(frame))
    assert (metadata.version.major, metadata.version.minor) == ((0, 5) if says_its_own else (0, 3))
    assert metadata.traits == 0


def test_memory_is_asked_for_from_xla_and_given_back_also_after_an_error():
    """A call frame made here, with functions that write down what they are asked."""
    asked = []

    def function(name, kind):
        def written(address):
            arguments = kind.from_address(address)
            asked.append(name)
            if name == "stream":
                arguments.stream = 77
            elif name == "allocate":
                assert arguments.size == 24
                arguments.data = 4096
            elif name == "free":
                assert (arguments.size, arguments.data) == (24, 4096)
            elif name == "error":
                asked.append(arguments.message.decode())
                return 1234
            return None

        held.append(xla.HANDLER(written))
        return ctypes.cast(held[-1], c_void_p).value

    functions = xla.Functions(
        create_error=function("error", xla._ErrorArguments),
        get_stream=function("stream", xla._StreamArguments),
        allocate=function("allocate", xla._AllocateArguments),
        free=function("free", xla._FreeArguments),
    )
    dims = (c_int64 * 2)(5, 3)
    buffer = xla.Buffer(sizeof(xla.Buffer), None, 12, 64, 2, dims)
    values = (c_void_p * 1)(addressof(buffer))
    arrays = xla.Arrays(sizeof(xla.Arrays), None, 1, (c_int * 1)(xla.BUFFER), values)
    frame = xla.Frame(sizeof(xla.Frame), None, pointer(functions), None, 3, arrays, arrays)

    def works(call):
        assert call.stream == 77
        assert call.stream.allocate((3,), np.dtype(float))[0] == 4096
        assert call.arguments[0].shape == (5, 3)
        raise ValueError("later")

    assert xla.target(works, (0, 3))(addressof(frame)) == 1234
    assert asked == ["stream", "allocate", "free", "error", "ValueError: later"]
