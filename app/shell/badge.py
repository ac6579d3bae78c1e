from __future__ import annotations

from math import isinf
from typing import NamedTuple

from app.sessions.session_controller import SessionController
from broker_core.clock import ns_from_s
from broker_core.engine.runner import MAX_LAG_S, EngineStatus, Mode
from widgets.formats import clock_time, duration, session_time
from widgets.i18n import tr


class Badge(NamedTuple):
    """`look` is live, attached, replay, branch, warning or failure; `tip` says what it means and what leads on. `lock`
    is the command that opens or locks a cluster that is not ours.
    """

    look: str
    word: str
    tip: str = ""
    lock: str = ""


def shown_badge(controller: SessionController) -> Badge:
    """The past with its time, a branch, what is run again, or how the session is doing; and, always in sight, how long
    a cluster that is not ours stays unlocked.
    """
    found, guarded = _found(controller), controller.source.guarded
    if guarded is None:
        return found
    guard, attached = guarded.guard, found.look == "attached"
    if guard.verbs:
        time = "∞" if isinf(guard.left_s) else clock_time(int(guard.left_s))
        word = tr("{word}, UNLOCKED {time}", word=found.word, time=time)
        return Badge("warning" if attached else found.look, word, found.tip, "lock")
    tip = tr("{tip}\nNothing is written to it. Session > Unlock opens it for a while.", tip=found.tip)
    if not attached:
        return found._replace(lock="unlock")
    return Badge(found.look, tr("{word}, read-only", word=found.word), tip, "unlock")


def _found(controller: SessionController) -> Badge:
    if not controller.live:
        return _of_the_past(controller)
    if (standing := controller.source.standing) is not None:
        return Badge(standing.look, standing.word, standing.tip)
    status, stopped, branched = controller.source.status, controller.time.stopped, bool(controller.branching.origin)
    now = badge(status, stopped=stopped, live=tr("BRANCH") if branched else tr("LIVE"))
    if not branched or now.look == "failure":
        if controller.branching.rerunning:
            return Badge("warning", tr("RUNNING AGAIN, {share}", share=_share(controller)))
        return now
    tip = tr(
        "A branch: the same as the original session up to {time} (hatched on the timeline), live from there.",
        time=session_time(controller.branching.at_ns or 0),
    )
    if controller.branching.rerunning:
        return Badge("branch", tr("BRANCH, {state}", state=_share(controller)), tip)
    word = tr("BRANCH, {state}", state=now.word) if stopped or status.mode is Mode.FINISHED else now.word
    return Badge("branch", word, "\n".join(line for line in (tip, now.tip) if line))


def _share(controller: SessionController) -> str:
    return f"{controller.source.end_ns / controller.branching.rerun_until_ns:.0%}"


def _of_the_past(controller: SessionController) -> Badge:
    if controller.stored is not None:
        tip = tr("A recorded session. Branch here (Ctrl+B) to continue from this moment.")
    else:
        tip = tr("The past: nothing can be changed here. Alt+Right returns to the present.")
    time = session_time(controller.snapshot.time_ns).partition(".")[0]
    return Badge("replay", tr("REPLAY {time}", time=time), tip)


def badge(status: EngineStatus, *, stopped: bool, live: str) -> Badge:
    """`live` is the word for a session that goes on."""
    mode = status.mode
    if mode is Mode.FAILED:
        return Badge("failure", tr("FAILED"))
    if mode is Mode.FINISHED:
        return Badge("warning", tr("FINISHED"), tr("Shift+F8 goes on past the end, Ctrl+R starts it again."))
    if stopped:
        return Badge("warning", tr("STOPPED"), tr("Shift+F8 goes on from here, Ctrl+R starts it again."))
    if mode is Mode.PAUSED:
        return Badge("warning", tr("{live}, PAUSED", live=live))
    if status.behind_s > MAX_LAG_S * status.speed:
        behind = duration(ns_from_s(status.behind_s))
        word = tr("{live} {speed}×, behind by {time}", live=live, speed=f"{status.speed:g}", time=behind)
        return Badge("warning", word)
    return Badge("live", live)
