"""Docker's two outputs in one stream."""

from hypothesis import given
from hypothesis import strategies as st

from patchwright.sandbox.docker.engine import Demultiplexer


def frame(kind: int, data: bytes) -> bytes:
    return bytes([kind, 0, 0, 0]) + len(data).to_bytes(4) + data


@given(
    st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=40))),
    st.integers(1, 20),
)
def test_outputs_are_told_apart_however_the_stream_is_cut(
    sent: list[tuple[int, bytes]], size: int
) -> None:
    stream = b"".join(frame(kind, data) for kind, data in sent)
    demultiplexer = Demultiplexer()
    outputs = [
        demultiplexer.feed(stream[start : start + size])
        for start in range(0, len(stream), size)
    ]
    for kind, name in ((1, "stdout"), (2, "stderr")):
        wanted = b"".join(data for sent_kind, data in sent if sent_kind == kind)
        assert b"".join(getattr(output, name) for output in outputs) == wanted
