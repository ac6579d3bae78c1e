from __future__ import annotations

from widgets.i18n import tr

Words = tuple[str, str, str]  # a sentence, what to do about it, and the words on the button that does it


def not_recorded(why_no_branch: str) -> Words:
    """Of a recorded session; `why_no_branch` is "" if it can be run again up to the moment that is shown."""
    sentence = tr("A recording contains the events of messages, not the messages.")
    if why_no_branch:
        return sentence, tr("They cannot be restored. {why}", why=why_no_branch), ""
    how = tr("A branch reruns the same inputs up to the moment shown, in a new session that has these messages.")
    return sentence, how, tr("Branch here (Ctrl+B)")


def only_of_now() -> Words:
    return (
        tr("The log of this moment is not available."),
        tr("Segments are known only for the present."),
        tr("Follow live (Alt+Right)"),
    )
