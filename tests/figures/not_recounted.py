"""What the window shows and no recount holds, and why: "place | object | figure", each as a regular expression.

Whatever is shown and not listed here has a recount, or the test fails.
"""

from __future__ import annotations

NOT_RECOUNTED = {
    # Looks, names and words, no figures.
    r"canvas \| .* \| (hue|badge)": "who is drawn in which colour and by which letter",
    r"canvas \| .* \| (reads|taken_by)": "what feeds a queue, and who takes from it",
    r"canvas \| group:.* \| takes_members": "whether a consumer can be dropped there is a matter of the session's kind",
    r"canvas \| .* > .* \| is_stopped": "whether time goes on, by which the line is drawn",
    r"backpressure \| .* \| policy": "the policy in words; `limits` has it",
    r"inspector \| .* \| Backpressure: (When full|Rate limit)": "the limits in words; they are held in the panel",
    r"inspector \| lane:.* \| Messages": "the words of a link",
    r"inspector \| bench \| .*": "who is on the bench is held on the canvas",
    r"inspector \| producer:.* \| Lingers": "a setting of the scenario",
    r"tabs \| (?!Dead letters).* \| count": "no other tab counts anything of the session",
    r"card \| .* \| cause": "why, in words",
    r"canvas \| lane:.* \| (placed|replication)": "a broker of our own has no replicas",
    # Of the program, not of the session.
    r"status \| bar \| (seed|recording|frame)": "of the run, of the disk, and of this window",
    r"timeline \| strip \| head_ns": "where the window looks; the clock is held",
    r"timeline \| strip \| branch_ns": "where the session left another one is in no event",
    # What no event tells, and no figure is derived from.
    r".* \| Payload": "values are not recorded in events",
    r"inspector \| .* \| Member of .*: Heartbeat": "heartbeats are no events",
    r"inspector \| .* \| .*Stored": "what batches take on disk: headers and compression are in no event",
    r"inspector \| queue:.* \| Rules: Consumers waiting": "who waits for a message is no event",
    r"inspector \| (producer|consumer|worker):.* \| In this state": "what a client does between two events is none",
}
