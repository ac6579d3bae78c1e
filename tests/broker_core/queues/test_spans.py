"""The index from offsets to spans says the same as a plain dict."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from broker_core.queues.spans import LeaseSpan, SpanIndex
from broker_core.queues.states import LeaseState


def span(first: int, end: int) -> LeaseSpan:
    return LeaseSpan(first, end, LeaseState.AVAILABLE, 0, (0,) * (end - first), first, end - first)


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(1, 150), st.booleans()), max_size=30))
def test_what_is_put_in_and_cleared_is_found_as_in_a_dict(steps):
    index, model = SpanIndex(), dict[int, LeaseSpan]()
    for first, count, putting in steps:
        offsets = range(first, first + count)
        if putting:
            free = [offset for offset in offsets if offset not in model]
            for start in [offset for offset in free if offset - 1 not in free]:
                end = start
                while end in free:
                    end += 1
                one = span(start, end)
                index.put(start, end, one)
                model.update(dict.fromkeys(range(start, end), one))
        else:
            held = [offset for offset in offsets if offset in model]
            for start in [offset for offset in held if offset - 1 not in held]:
                end = start
                while end in held:
                    end += 1
                index.clear(start, end)
                for offset in range(start, end):
                    model.pop(offset).open -= 1
        for offset in range(0, 460):
            found = index.get(offset)
            assert found is model.get(offset)
            if found is not None:
                end = offset
                while model.get(end) is found and end < offset + 70:
                    end += 1
                assert index.end_of(found, offset, offset + 70) == end
        assert index.first_offset() == min(model, default=None)
        assert sum(end - first for first, end, _ in index.runs()) == len(model)
