"""What can go wrong, by whose fault it is.

BughuntError
├── UsageError             the caller's mistake: exit code 2
│   ├── SettingsError      bughunt.toml, the environment or a flag
│   ├── CharterError       a charter file or a charter in it
│   ├── MessageRefused     a message that cannot be received as it is
│   ├── ReceiptKeyReused   its key belongs to another text
│   └── NoSuchRecord       a Q, RUN or message that the tower does not hold (a LookupError too)
├── EnvironmentFailure     the machine does not allow what we need: exit code 4
│   ├── BrowserMissing     no browser to start
│   └── TowerUnavailable   the database cannot be opened or written
│       ├── TransactionLost  its server broke off: do the same again
│       ├── NewerSchema    it was written by a newer bughunt
│       └── EvidenceNotWritten  a full disk, a read-only folder
└── BrokenInvariant        the tower refused: a bug of ours, exit code 4
    ├── RunTaken           the RUN is no more this process's to write: stop
    ├── EvidenceDamaged    stored bytes are not what was written
    └── one for each code of tower/guards (tower/refusals.py pairs them):
        QuestionKeyIsUnique
        QuestionIdentityIsFixed
        QuestionIsNeverDeleted
        QuestionAnswerRequiresDoneRun
        QuestionIsMalformed
        RunWithoutQuestion
        RunIsNeverDeleted
        RunKeyIsUnique
        RunIsTerminal
        RunIdentityIsFixed
        RunTransitionRefused
        RunVerdictBeforeTerminal
        RunDoneRequiresVerifiedLanding
        RunEnvErrorRequiresCause
        RunFailedRequiresReason
        RunTerminalRequiresTime
        RunVerdictRefused
        RunSupersededByNoSuccessor
        RunCitesAnotherQuestion
        RunIsMalformed
        MoveUnattributed
        EventIsForged
        EventIsImmutable
        EventWithoutSubject
        EventIsMalformed
        ReceiptKeyIsUnique
        ReceiptIsNeverDeleted
        ReceiptIdentityIsFixed
        ReceiptIsSettled
        ReceiptTransitionRefused
        ReceiptSettledRequiresRelation
        ReceiptIsMalformed
        RelationWithoutReceipt
        RelationWithoutQuestion
        RelationIsImmutable
        RelationIsMalformed
        BlobIsImmutable
        BlobIsMalformed
        AttachmentWithoutReceipt
        AttachmentIsImmutable
        AttachmentIsMalformed
        EvidenceWithoutRun
        EvidenceAfterTerminal
        EvidenceIsImmutable
        EvidenceSeqIsUnique
        EvidenceLoadIsUnique
        EvidenceIsMalformed
        TombstoneWithoutEvidence
        TombstoneMustMatchEvidence
        TombstoneBeforeTerminal
        TombstoneIsImmutable
        TombstoneIsMalformed

Every message says what to do next.
"""

from __future__ import annotations

__all__ = [
    "AttachmentIsImmutable",
    "AttachmentIsMalformed",
    "AttachmentWithoutReceipt",
    "BlobIsImmutable",
    "BlobIsMalformed",
    "BrokenInvariant",
    "BrowserMissing",
    "BughuntError",
    "CharterError",
    "EnvironmentFailure",
    "EventIsForged",
    "EventIsImmutable",
    "EventIsMalformed",
    "EventWithoutSubject",
    "EvidenceAfterTerminal",
    "EvidenceDamaged",
    "EvidenceIsImmutable",
    "EvidenceIsMalformed",
    "EvidenceLoadIsUnique",
    "EvidenceNotWritten",
    "EvidenceSeqIsUnique",
    "EvidenceWithoutRun",
    "MessageRefused",
    "MoveUnattributed",
    "NewerSchema",
    "NoSuchRecord",
    "QuestionAnswerRequiresDoneRun",
    "QuestionIdentityIsFixed",
    "QuestionIsMalformed",
    "QuestionIsNeverDeleted",
    "QuestionKeyIsUnique",
    "ReceiptIdentityIsFixed",
    "ReceiptIsMalformed",
    "ReceiptIsNeverDeleted",
    "ReceiptIsSettled",
    "ReceiptKeyIsUnique",
    "ReceiptKeyReused",
    "ReceiptSettledRequiresRelation",
    "ReceiptTransitionRefused",
    "RelationIsImmutable",
    "RelationIsMalformed",
    "RelationWithoutQuestion",
    "RelationWithoutReceipt",
    "RunCitesAnotherQuestion",
    "RunDoneRequiresVerifiedLanding",
    "RunEnvErrorRequiresCause",
    "RunFailedRequiresReason",
    "RunIdentityIsFixed",
    "RunIsMalformed",
    "RunIsNeverDeleted",
    "RunIsTerminal",
    "RunKeyIsUnique",
    "RunSupersededByNoSuccessor",
    "RunTaken",
    "RunTerminalRequiresTime",
    "RunTransitionRefused",
    "RunVerdictBeforeTerminal",
    "RunVerdictRefused",
    "RunWithoutQuestion",
    "SettingsError",
    "TombstoneBeforeTerminal",
    "TombstoneIsImmutable",
    "TombstoneIsMalformed",
    "TombstoneMustMatchEvidence",
    "TombstoneWithoutEvidence",
    "TowerUnavailable",
    "TransactionLost",
    "UsageError",
]


class BughuntError(Exception):
    """Any failure that bughunt names itself."""


class UsageError(BughuntError):
    """The caller asked for something that cannot be done as asked."""


class SettingsError(UsageError):
    """A setting in `bughunt.toml`, the environment or a flag is wrong or missing."""


class CharterError(UsageError):
    """A charter file cannot be imported, or what it holds is no charter."""


class MessageRefused(UsageError):
    """A message cannot be received as it is; nothing was stored."""


class ReceiptKeyReused(UsageError):
    """The key belongs to another text already."""


class NoSuchRecord(UsageError, LookupError):
    """The tower holds no such Q, RUN or evidence."""


class EnvironmentFailure(BughuntError):
    """The machine does not allow what is needed."""


class BrowserMissing(EnvironmentFailure):
    """No Chromium could be started."""


class TowerUnavailable(EnvironmentFailure):
    """The tower's database cannot be opened, read or written."""


class TransactionLost(TowerUnavailable):
    """The database's server broke off a connection or a transaction: the same call again may succeed."""


class NewerSchema(TowerUnavailable):
    """The database was written by a newer bughunt than this one."""


class EvidenceNotWritten(TowerUnavailable):
    """Evidence could not be stored, so nothing may be said on its strength."""


class BrokenInvariant(BughuntError):
    """The tower refused a change that would break an invariant: a bug of ours."""


class RunTaken(BrokenInvariant):
    """The RUN is another process's by now, or over: whoever meets this stops working on it."""


class EvidenceDamaged(BrokenInvariant):
    """Stored evidence is not there any more, or is not what was written."""


class QuestionKeyIsUnique(BrokenInvariant):
    """There is a Q with this project, charter, target and plan already."""


class QuestionIdentityIsFixed(BrokenInvariant):
    """What a Q was asked about cannot change."""


class QuestionIsNeverDeleted(BrokenInvariant):
    """A Q is never deleted."""


class QuestionAnswerRequiresDoneRun(BrokenInvariant):
    """A Q is ANSWERED by a DONE run only."""


class QuestionIsMalformed(BrokenInvariant):
    """A Q with a value that no Q can have."""


class RunWithoutQuestion(BrokenInvariant):
    """A RUN needs its Q."""


class RunIsNeverDeleted(BrokenInvariant):
    """A RUN is never deleted or replaced."""


class RunKeyIsUnique(BrokenInvariant):
    """There is a RUN with this idempotency key already."""


class RunIsTerminal(BrokenInvariant):
    """A terminal RUN never changes again."""


class RunIdentityIsFixed(BrokenInvariant):
    """What a RUN was an attempt at, and whose, cannot change."""


class RunTransitionRefused(BrokenInvariant):
    """This state cannot follow that one (tower/states.py)."""


class RunVerdictBeforeTerminal(BrokenInvariant):
    """Only a terminal RUN carries a verdict, a reason or a landing."""


class RunDoneRequiresVerifiedLanding(BrokenInvariant):
    """DONE needs a verified landing and the evidence rows that back it."""


class RunEnvErrorRequiresCause(BrokenInvariant):
    """ENV_ERROR needs a recorded cause, and two loads unless browser or model is to blame."""


class RunFailedRequiresReason(BrokenInvariant):
    """FAILED needs a reason."""


class RunTerminalRequiresTime(BrokenInvariant):
    """A terminal RUN needs the time of its end."""


class RunVerdictRefused(BrokenInvariant):
    """The verdict or landing does not go with the state and its reason."""


class RunSupersededByNoSuccessor(BrokenInvariant):
    """SUPERSEDED names a later RUN of the same Q, and nothing else does."""


class RunCitesAnotherQuestion(BrokenInvariant):
    """A RUN cites an earlier RUN of its own Q only."""


class RunIsMalformed(BrokenInvariant):
    """A RUN with a value that no RUN can have."""


class MoveUnattributed(BrokenInvariant):
    """A change of state says who made it, when and why, and is counted."""


class EventIsForged(BrokenInvariant):
    """Only a change of state makes the event that tells of it."""


class EventIsImmutable(BrokenInvariant):
    """An event is never changed, replaced or deleted."""


class EventWithoutSubject(BrokenInvariant):
    """An event needs the RUN, Q or receipt that it is about."""


class EventIsMalformed(BrokenInvariant):
    """An event with a value that none can have."""


class ReceiptKeyIsUnique(BrokenInvariant):
    """There is a receipt with this idempotency key already."""


class ReceiptIsNeverDeleted(BrokenInvariant):
    """A receipt is never deleted or replaced."""


class ReceiptIdentityIsFixed(BrokenInvariant):
    """What arrived, and when, cannot change."""


class ReceiptIsSettled(BrokenInvariant):
    """A settled receipt never changes again."""


class ReceiptTransitionRefused(BrokenInvariant):
    """This state of a receipt cannot follow that one (tower/states.py)."""


class ReceiptSettledRequiresRelation(BrokenInvariant):
    """A receipt is APPLIED when each part of it is tied to a Q, and IGNORED when none is."""


class ReceiptIsMalformed(BrokenInvariant):
    """A receipt with a value that none can have."""


class RelationWithoutReceipt(BrokenInvariant):
    """A relation needs its receipt."""


class RelationWithoutQuestion(BrokenInvariant):
    """A relation needs its Q, of the receipt's own project."""


class RelationIsImmutable(BrokenInvariant):
    """A relation is never changed, replaced, repeated or deleted."""


class RelationIsMalformed(BrokenInvariant):
    """A relation with a value that none can have."""


class BlobIsImmutable(BrokenInvariant):
    """A blob is never changed or deleted."""


class BlobIsMalformed(BrokenInvariant):
    """A blob whose name is no digest."""


class AttachmentWithoutReceipt(BrokenInvariant):
    """An attachment needs its receipt."""


class AttachmentIsImmutable(BrokenInvariant):
    """An attachment comes with its receipt, and is never changed, replaced or deleted."""


class AttachmentIsMalformed(BrokenInvariant):
    """An attachment with a value that none can have."""


class EvidenceWithoutRun(BrokenInvariant):
    """Evidence needs its RUN."""


class EvidenceAfterTerminal(BrokenInvariant):
    """Nothing is added to a terminal RUN."""


class EvidenceIsImmutable(BrokenInvariant):
    """Evidence is never changed, replaced or deleted."""


class EvidenceSeqIsUnique(BrokenInvariant):
    """There is evidence with this number in the RUN already."""


class EvidenceLoadIsUnique(BrokenInvariant):
    """This load of the RUN has been recorded already."""


class EvidenceIsMalformed(BrokenInvariant):
    """Evidence with a value that no evidence can have."""


class TombstoneWithoutEvidence(BrokenInvariant):
    """A tombstone needs its evidence."""


class TombstoneMustMatchEvidence(BrokenInvariant):
    """A tombstone says hash and size of what was there."""


class TombstoneBeforeTerminal(BrokenInvariant):
    """The evidence of a RUN that is not over keeps its bytes."""


class TombstoneIsImmutable(BrokenInvariant):
    """A tombstone is never changed, replaced, repeated or deleted."""


class TombstoneIsMalformed(BrokenInvariant):
    """A tombstone with a value that none can have."""
