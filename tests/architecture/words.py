"""Words that names in the product may not have, with the plain ones to write instead.

They were riddles: seven modules had names made of "ask", with seven meanings, and none
was a word that a worker in this field would search for.
"""

# No part of a name is one of these.
RETIRED = {
    "accord": "workflow check",
    "adornment adornments": "pull metadata",
    "attention": "cancel token",
    "bell doorbell": "notifier",
    "birth": "creation",
    "board switchboard": "tracker, channel router",
    "called_off": "cancelled",
    "choosing placing": "repository resolution, candidates",
    "chronicle": "run log",
    "complaint complaints": "error output",
    "conceal concealing discretion": "redaction",
    "conduct kit toolkit": "configuration, dependencies",
    "consenting openness": "consent, visibility",
    "cue": "step",
    "demands": "requirements",
    "desk helm tending": "run administration, command handlers",
    "disown disowned disowning": "marked unknown",
    "door doors entrance": "route, webhook source, socket",
    "duty presence pulse vitals": "heartbeat, health",
    "ear hear hearing listening": "trigger rules, subscriber, inbox",
    "editions": "ETag cache",
    "errand": "job",
    "examining": "checks",
    "flavour": "deployment",
    "framing": "message header",
    "gate gates house": "access check, policy",
    "given_back let_go": "released",
    "graft grafts": "commit tree",
    "heed heeded orders unsaid wish wishes": "run overrides, configuration, defaults",
    "keepsake keepsakes": "artifacts",
    "ledger": "idempotency table",
    "moments": "times",
    "moving": "merging",
    "needles": "matches",
    "objector opinions": "requested changes, reviews",
    "occasion": "trigger",
    "origins": "provenance",
    "parcel": "bundle",
    "patience": "retry, time limit",
    "paying purse standing_orders": "budget",
    "pen": "event writer",
    "prompter": "scripted user",
    "prudence": "recommendation",
    "receipt receipts": "delivery result",
    "rehearsal rehearse": "dry run",
    "relatives": "linked issues",
    "resolving": "run, worker",
    "rival rivals": "competing pull request",
    "scene": "context",
    "shelf": "in-memory log",
    "showing": "notification",
    "sites talk": "chat and ticket integrations",
    "stand_down": "skip",
    "steady": "normalise",
    "stock": "image store",
    "tally": "counters",
    "tape": "recording",
    "ties tying": "linked threads",
    "traits": "capabilities",
    "trial": "probe",
    "unasked": "no trigger",
    "upkeep": "lifecycle events, maintenance",
    "visit": "connection, session",
}
# Words that also have a plain meaning: no module, class or function that others use has
# one of these for its whole name.
VAGUE = (
    "asked beat carry case cut done finding fold fence front hints kept known listed "
    "mirrors moved opening past places reading refusals remarks ring room runner said "
    "side signs small stage surfaces told wait words working"
)
# Names that have such a word all the same, and why.
EXEMPT = {
    "0005_talk": "a migration's name is stored in databases",
    "Gate GateRequest gate": "the proxy's gate to the network; a job of the workflow",
    "TalkThread": "a thread of a chat or of a ticket, as it is stored",
    "Receipt receipt receipt_of": "a column of a table, and an output of the Action",
    "openness origins": "fields of what is stored with a run",
    "beat": "Celery's word for its timer",
    "fence fold hints": "words of Markdown, of functional programs, of the shell",
    "known listed": "methods that return just that",
    "carry": "carries out one effect",
    "reading": "a transaction that only reads",
    "remarks": "a field of what `runs show` prints",
    "wait": "waits",
    "words": "the words of a shell command",
    "told": "who was told",
}
