---------------------------- MODULE OrderTimeout ----------------------------
(***************************************************************************)
(* The protocol by which the service cancels unpaid orders, and what it    *)
(* promises.  README.md explains how to read this file and how to run it.  *)
(*                                                                         *)
(* Everything below a state is one of three things: what Kafka holds, what *)
(* the servers of Postgres hold, and what the instances of the service     *)
(* have in memory.  Actions have the names of the methods that they model. *)
(* Each action is atomic where the code has one statement or transaction;  *)
(* between two actions, anything may happen.                               *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS
  Instances,    \* the instances of the service
  OrderCount,   \* orders are 1..OrderCount
  PaymentCount, \* payments are 1..PaymentCount
  Creations,    \* the records of order-created, as a sequence of orders
  MaxServers,   \* servers of Postgres: one more than there are failovers or restored dumps
  MaxTime,      \* the clock runs from 0 to here
  MaxFaults,    \* 0: no instance crashes; with the wheel: how many crashes, lost sends and new owners there are
  With,         \* what this configuration includes, see Features
  Without       \* the safeguards that a mutant has lost, see Safeguards; empty in the service

(***************************************************************************)
(* What a configuration can include.                                       *)
(***************************************************************************)
WithClosings     == "closings"     \in With \* order-closed exists
WithAttempts     == "attempts"     \in With \* order-payment-attempt exists
WithChanges      == "changes"      \in With \* order-changed exists, and postpones deadlines
WithTransactions == "transactions" \in With \* payments may be appended in a transaction
WithGrowth       == "growth"       \in With \* partitions may be added; payments then go to either
WithRecreation   == "recreation"   \in With \* order-paid may be deleted and created again, once
WithPurge        == "purge"        \in With \* settled orders are purged
WithSplitBrain   == "split brain"  \in With \* an old primary stays up after a failover
WithFailback     == "failback"     \in With \* the old primary, never restarted, may take over again
WithDump         == "dump"         \in With \* a dump is restored, into the server that runs
WithFirstStart   == "first start"  \in With \* no position is stored yet
WithWheel        == "wheel"        \in With \* only orders in the wheel are decided; one instance owns the shard
WithLateOnly     == "late only"    \in With \* the deadline has passed from the start
WithStored       == "stored"       \in With \* the creations are stored and replicated from the start

Features == {"closings", "attempts", "changes", "transactions", "growth", "recreation", "purge", "split brain", "failback",
             "dump", "first start", "wheel", "late only", "stored"}

\* Whether instances notice that another server answers.  Without a failback, that serves progress alone: for
\* everything else, it is enough that the deciding statement compares servers, as the other configurations show.
ServersAreCompared == WithWheel \/ WithFailback

(***************************************************************************)
(* The safeguards.                                                         *)
(***************************************************************************)
\* T is read before Kafka is asked for the ends
TimeBeforeEnds == "TimeBeforeEnds" \notin Without
\* The ends include order-closed
EndsOfClosings == "EndsOfClosings" \notin Without
\* After growth, the ends of all partitions count
EndsOfAllPartitions == "EndsOfAllPartitions" \notin Without
\* ... and order-payment-attempt
EndsOfAttempts == "EndsOfAttempts" \notin Without
\* ... and order-changed
EndsOfChanges == "EndsOfChanges" \notin Without
\* The deciding statement leaves orders alone that are being paid
HoldInStatement == "HoldInStatement" \notin Without
\* ... but no longer than up to the cap
CapOnHolds == "CapOnHolds" \notin Without
\* A change that is read before its order is kept
KeepEarlyChanges == "KeepEarlyChanges" \notin Without
\* The ends include open transactions
EndsOfEverythingAppended == "EndsOfEverythingAppended" \notin Without
\* The deciding statement compares Postgres's positions with the ends
PositionsInStatement == "PositionsInStatement" \notin Without
\* ... under the ids of the topics that were asked about
TopicIds == "TopicIds" \notin Without
\* Positions advance by compare-and-set
ComparePositions == "ComparePositions" \notin Without
\* Positions advance in the transaction that stores the records
PositionsWithRows == "PositionsWithRows" \notin Without
\* Without a stored position, reading starts at the beginning of the log
StartAtBeginning == "StartAtBeginning" \notin Without
\* State = 'PENDING' in the statements that decide and settle
OnlyPending == "OnlyPending" \notin Without
\* The outbox row is written in the deciding transaction
OutboxWithDecision == "OutboxWithDecision" \notin Without
\* A recorded publication deletes its own outbox row, not one of equal number
RecordByKey == "RecordByKey" \notin Without
\* The deciding statement compares the server that executes it with the one that the instance has read back
DecideAfterReadBack == "DecideAfterReadBack" \notin Without
\* The storing transaction compares it with the one from which the instance has its positions
StoreOnKnownServer == "StoreOnKnownServer" \notin Without
\* The identity of a server contains that of its tables, not only its start time
TablesInIdentity == "TablesInIdentity" \notin Without
\* An instance that notices another server forgets the one that it has read back, or has begun to
ForgetOnNewServer == "ForgetOnNewServer" \notin Without
\* A read-back reads the service's own topics up to their end
ReadBack == "ReadBack" \notin Without
\* ... and is completed only on the server on which it was begun
CompleteOnSameServer == "CompleteOnSameServer" \notin Without
\* After the read-back, the reading goes on
ReadOn == "ReadOn" \notin Without
\* Acknowledgements do not move the position in the output topics
OnlyReaderAdvances == "OnlyReaderAdvances" \notin Without
\* A restored conflict also restores the cancellation that it names
RestoreOrderOfConflict == "RestoreOrderOfConflict" \notin Without
\* A conflict that is not published tells of the decision that its order has when it is read from the outbox
CorrectConflicts == "CorrectConflicts" \notin Without
\* An instance publishes what the server contains that it has read back
PublishAfterReadBack == "PublishAfterReadBack" \notin Without
\* Payments of an order that is paid already are kept
KeepSecondPayments == "KeepSecondPayments" \notin Without
\* An instance reads the pending orders into its wheel after the positions from which it reads on
PositionsFirst == "PositionsFirst" \notin Without
\* It reads its records again if another instance has stored them meanwhile
ReadAgain == "ReadAgain" \notin Without
\* Wheel and positions are rebuilt when another server answers
RebuildOnNewServer == "RebuildOnNewServer" \notin Without
\* Rows are kept until deadline + stale-after, whatever the retention
PurgeAfterDeadline == "PurgeAfterDeadline" \notin Without

Safeguards ==
  {"TimeBeforeEnds",
   "EndsOfClosings",
   "EndsOfAttempts",
   "EndsOfChanges",
   "HoldInStatement",
   "CapOnHolds",
   "KeepEarlyChanges",
   "EndsOfAllPartitions",
   "EndsOfEverythingAppended",
   "PositionsInStatement",
   "TopicIds",
   "ComparePositions",
   "PositionsWithRows",
   "StartAtBeginning",
   "OnlyPending",
   "OutboxWithDecision",
   "RecordByKey",
   "DecideAfterReadBack",
   "StoreOnKnownServer",
   "TablesInIdentity",
   "ForgetOnNewServer",
   "ReadBack",
   "CompleteOnSameServer",
   "ReadOn",
   "OnlyReaderAdvances",
   "RestoreOrderOfConflict",
   "CorrectConflicts",
   "PublishAfterReadBack",
   "KeepSecondPayments",
   "PositionsFirst",
   "ReadAgain",
   "RebuildOnNewServer",
   "PurgeAfterDeadline"}

ASSUME With \subseteq Features /\ Without \subseteq Safeguards

-----------------------------------------------------------------------------

Orders   == 1..OrderCount
Payments == 1..PaymentCount
Servers  == 1..MaxServers

OrderOf(p) == ((p - 1) % OrderCount) + 1

Deadline   == 1   \* of every order
Later      == 2   \* of an order whose deadline was postponed
Cap        == 2   \* until when payment attempts hold an order, at most
StaleAfter == 1
Retention  == 1

(* Sequences for Creations. *)
OneOrder    == <<1>>
TwoOrders   == <<1, 2>>
Redelivered == <<1, 1>>

(* Input partitions.  "paid2" is the partition of payments that growth adds. *)
Partitions ==
  {"created", "paid"} \cup (IF WithClosings THEN {"closed"} ELSE {})
                      \cup (IF WithAttempts THEN {"attempts"} ELSE {})
                      \cup (IF WithChanges THEN {"changed"} ELSE {})
                      \cup (IF WithGrowth THEN {"paid2"} ELSE {})

PaymentPartitions == Partitions \cap {"paid", "paid2"}

NotKnown == [none |-> TRUE]

VARIABLES
  now,        \* Postgres's clock
  log,        \* Kafka: the records of each input partition
  topicId,    \* Kafka: the id of order-paid; changes when the topic is created again
  grown,      \* Kafka: whether the partition "paid2" exists
  out,        \* Kafka: what was published to order-cancelled and order-payment-conflict
  pg,         \* Postgres: the committed state of each server
  primary,    \* Postgres: the server to which new connections go
  started,    \* Postgres: the number of servers that there ever were
  replica,    \* Postgres: what the standby has received, or a dump contains
  born,       \* Postgres: what had been published when a server took over
  conn,       \* an instance's server
  owner,      \* the instance to which the group has assigned the shard, with the wheel
  known,      \* an instance's positions, as it believes that they are stored
  at,         \* up to where an instance has read each partition: never beyond its positions
  gate,       \* an instance's T and ends
  reading,    \* an instance's read-back
  wheel,      \* an instance's wheel
  rebuilt,    \* whether an instance has read the pending orders into its wheel
  seen,       \* the server that an instance has noticed last, by its identity; 0 if none
  reflected,  \* the server that an instance has read back, by its identity; 0 if none
  sends,      \* events that instances have in memory or on the way to Kafka
  acked,      \* acknowledged events, with the numbers of their outbox rows
  faults,     \* how many faults happened
  contradicted \* whether a decision contradicted what had been published before its server took over

Kafka     == <<log, topicId, grown, out>>
Postgres  == <<pg, primary, started, replica, born>>
Loop      == <<known, at, wheel, rebuilt>>
Process   == <<reading, seen, reflected>>
Memory    == <<owner, Loop, gate, Process>>
Relay     == <<sends, acked>>
Vars      == <<now, Kafka, Postgres, conn, Memory, Relay, faults, contradicted>>

-----------------------------------------------------------------------------
(***************************************************************************)
(* What Postgres contains.                                                 *)
(***************************************************************************)

Row(state, payment, when) == [state |-> state, payment |-> payment, when |-> when]

NoRow == Row("NONE", 0, 0)

\* Postgres's position: the topic's id and the offset; offset -1 of Kafka is written as id 9 here.
NoPosition == <<9, 0>>

EmptyServer ==
  [ rows      |-> [o \in Orders |-> IF WithStored THEN Row("PENDING", 0, 0) ELSE NoRow],
    pos       |-> [tp \in Partitions |->
                    IF WithFirstStart THEN NoPosition
                    ELSE <<0, IF WithStored /\ tp = "created" THEN Len(Creations) ELSE 0>>],
    outbox    |-> {},     \* pairs of a number and an event
    next      |-> 1,      \* the next number of an outbox row
    paying    |-> {},     \* orders of which a payment is under way
    postponed |-> {},     \* orders whose deadline was postponed, also before they were created
    conflicts |-> {},     \* payments that have raised their conflict
    seconds   |-> {},     \* further payments of paid orders
    out       |-> 0 ]     \* up to where the output topics are reflected, at first their beginning

\* What an event says, of which its id is a part.  A conflict names the state that the payment met.
Cancelled(o)     == <<"order-cancelled", o>>
Conflict(p, met) == <<"order-payment-conflict", p, met>>

Range(s) == {s[k] : k \in 1..Len(s)}

PublishedCancellation(o) == Cancelled(o) \in Range(out)
PublishedConflict(p)     == \E met \in {"CANCELLED", "CLOSED"} : Conflict(p, met) \in Range(out)

IdOf(tp) == IF tp = "paid" THEN topicId ELSE 0

\* Where a consumer of committed records stops: at the first open transaction.
RECURSIVE StableFrom(_, _)
StableFrom(s, k) ==
  IF k > Len(s) THEN Len(s)
  ELSE IF s[k].tx = "open" THEN k - 1 ELSE StableFrom(s, k + 1)
LastStable(tp) == IF WithTransactions THEN StableFrom(log[tp], 1) ELSE Len(log[tp])

WriteOutbox(db, event) ==
  [db EXCEPT !.outbox = @ \cup {<<IF RecordByKey THEN 0 ELSE db.next, event>>},
             !.next = IF RecordByKey THEN @ ELSE @ + 1]

\* PaymentConflicts.raise
Raise(db, p, met) ==
  IF p \in db.conflicts THEN db
  ELSE WriteOutbox([db EXCEPT !.conflicts = @ \cup {p}], Conflict(p, met))

RECURSIVE RaiseAll(_, _)
RaiseAll(db, ps) ==
  IF ps = {} THEN db
  ELSE LET p == CHOOSE q \in ps : TRUE IN RaiseAll(Raise(db, p, "CANCELLED"), ps \ {p})

\* OrderEventStatements.register
Register(db, o) ==
  IF db.rows[o].state \in {"NONE", "PURGED"}
  THEN [db EXCEPT !.rows[o] =
         IF now > Deadline + StaleAfter THEN Row("STALE", 0, now) ELSE Row("PENDING", 0, 0)]
  ELSE db

\* OrderEventStatements.settle, by a payment, and what OrderEventStore does if the row is settled
Pay(db, p) ==
  LET o == OrderOf(p)
      row == db.rows[o]
      paid == [db EXCEPT !.rows[o] = Row("PAID", p, IF WithPurge THEN now ELSE 0)]
  IN CASE row.state \in {"NONE", "PURGED", "PENDING"} -> paid
       [] row.state = "PAID" ->
            IF row.payment # p /\ KeepSecondPayments THEN [db EXCEPT !.seconds = @ \cup {p}] ELSE db
       [] row.state = "CANCELLED" -> IF OnlyPending THEN Raise(db, p, "CANCELLED") ELSE paid
       [] row.state = "CLOSED" -> Raise(db, p, "CLOSED")
       [] OTHER -> db

\* OrderEventStatements.settle, by a closing
Close(db, o) ==
  IF db.rows[o].state \in {"NONE", "PURGED", "PENDING"}
  THEN [db EXCEPT !.rows[o] = Row("CLOSED", 0, IF WithPurge THEN now ELSE 0)]
  ELSE db

\* PaymentAttempts.store
Attempt(db, o, kind) == [db EXCEPT !.paying = IF kind = "start" THEN @ \cup {o} ELSE @ \ {o}]

\* OrderChanges.make
Change(db, o) ==
  IF db.rows[o].state = "PENDING" \/ (KeepEarlyChanges /\ db.rows[o].state = "NONE")
  THEN [db EXCEPT !.postponed = @ \cup {o}] ELSE db

DeadlineOf(db, o) == IF o \in db.postponed THEN Later ELSE Deadline

\* OrderEventStore.store, one record
Store(db, tp, record) ==
  CASE record.tx = "aborted" -> db
    [] tp = "created" -> Register(db, record.id)
    [] tp = "closed" -> Close(db, record.id)
    [] tp = "attempts" -> Attempt(db, record.id, record.kind)
    [] tp = "changed" -> Change(db, record.id)
    [] OTHER -> Pay(db, record.id)

\* An outbox row tells of the cancellation that its payment has met after all: OutboxStore reads it from the
\* order's row, which makes no difference, since nothing is published before.
Corrected(row, o) ==
  IF row[2][1] = "order-payment-conflict" /\ OrderOf(row[2][2]) = o
  THEN <<row[1], Conflict(row[2][2], "CANCELLED")>> ELSE row

\* A cancellation that was published becomes the decision of its row; payments that had settled it become conflicts.
Restore(db, o) ==
  LET row == db.rows[o]
      restored == [db EXCEPT !.rows[o] = Row("CANCELLED", 0, IF WithPurge THEN now ELSE 0),
                             !.outbox = IF CorrectConflicts THEN {Corrected(r, o) : r \in @} ELSE @]
      met == (IF row.state = "PAID" THEN {row.payment} ELSE {})
               \cup {p \in db.seconds : OrderOf(p) = o}
  IN IF row.state = "CANCELLED" THEN db ELSE RaiseAll(restored, met)

\* One record of the output topics is reflected.
Reflect(db, event) ==
  IF event[1] = "order-cancelled" THEN Restore(db, event[2])
  ELSE LET p == event[2]
           o == OrderOf(p)
           noted == [db EXCEPT !.conflicts = @ \cup {p}]
       IN IF ~RestoreOrderOfConflict THEN noted
          ELSE IF event[3] = "CANCELLED"
          THEN IF noted.rows[o].state = "CANCELLED" THEN noted
               ELSE WriteOutbox(Restore(noted, o), Cancelled(o))
          ELSE IF noted.rows[o].state \in {"NONE", "PENDING"}
                 \/ (noted.rows[o].state = "PAID" /\ noted.rows[o].payment = p)
          THEN [noted EXCEPT !.rows[o] = Row("CLOSED", 0, 0)]
          ELSE noted

\* Whether everything that was published before the server took over says that the order is cancelled.
WasCancelledBefore(server, o) ==
  \E k \in 1..born[server] : out[k] = Cancelled(o)

-----------------------------------------------------------------------------
Init ==
  /\ now = IF WithLateOnly THEN Deadline ELSE 0
  /\ log = [tp \in Partitions |->
             IF tp = "created"
             THEN [k \in 1..Len(Creations) |-> [id |-> Creations[k], early |-> TRUE, tx |-> "committed"]]
             ELSE <<>>]
  /\ topicId = 0
  /\ grown = FALSE
  /\ out = <<>>
  /\ pg = [s \in Servers |-> EmptyServer]
  /\ primary = 1
  /\ started = 1
  /\ replica = EmptyServer
  /\ born = [s \in Servers |-> 0]
  /\ conn = [i \in Instances |-> 1]
  /\ known = [i \in Instances |->
       IF MaxFaults = 0 THEN [tp \in Partitions |-> EmptyServer.pos[tp][2]] ELSE NotKnown] \* without crashes, all have started
  /\ at = known
  /\ owner = IF WithWheel THEN CHOOSE i \in Instances : TRUE ELSE NotKnown
  /\ gate = [i \in Instances |-> NotKnown]
  /\ reading = [i \in Instances |-> NotKnown]
  /\ wheel = [i \in Instances |-> {}]
  /\ rebuilt = [i \in Instances |-> FALSE]
  /\ seen = [i \in Instances |-> IF ServersAreCompared /\ MaxFaults = 0 THEN 1 ELSE 0]
  /\ reflected = [i \in Instances |-> IF MaxFaults = 0 /\ ~WithFirstStart THEN 1 ELSE 0]
  /\ sends = {}
  /\ acked = {}
  /\ faults = 0
  /\ contradicted = FALSE

Db(i) == pg[conn[i]]

\* By what an instance recognizes a server: its start time, and the identity of its tables.  A server whose tables
\* come from a dump counts as another one here.  Its start time is that of the server before.
Identity(server) == IF WithDump /\ ~TablesInIdentity THEN 1 ELSE server

IsReadBack(i) == reflected[i] = Identity(conn[i])

MayPublish(i) == PublishAfterReadBack => IsReadBack(i)

-----------------------------------------------------------------------------
(***************************************************************************)
(* The world: time, and what the shop appends.                             *)
(***************************************************************************)

tick ==
  /\ now < MaxTime
  /\ now' = now + 1
  /\ UNCHANGED <<Kafka, Postgres, conn, Memory, Relay, faults, contradicted>>

Appended(p) == \E tp \in PaymentPartitions : p \in {log[tp][k].id : k \in 1..Len(log[tp])}

appendPaid(p, tp, tx) ==
  /\ tx = "open" => WithTransactions
  /\ ~Appended(p)
  /\ tp = "paid2" => grown
  /\ log' = [log EXCEPT ![tp] = Append(@, [id |-> p, early |-> now < Deadline, tx |-> tx])]
  /\ UNCHANGED <<now, topicId, grown, out, Postgres, conn, Memory, Relay, faults, contradicted>>

appendClosed(o) ==
  /\ WithClosings
  /\ o \notin {log["closed"][k].id : k \in 1..Len(log["closed"])}
  /\ log' = [log EXCEPT !["closed"] = Append(@, [id |-> o, early |-> now < Deadline, tx |-> "committed"])]
  /\ UNCHANGED <<now, topicId, grown, out, Postgres, conn, Memory, Relay, faults, contradicted>>

AttemptAppended(o, kind) ==
  \E k \in 1..Len(log["attempts"]) : log["attempts"][k].id = o /\ log["attempts"][k].kind = kind

\* An attempt starts, and perhaps ends.
appendAttempt(o, kind) ==
  /\ WithAttempts
  /\ ~AttemptAppended(o, kind)
  /\ kind = "end" => AttemptAppended(o, "start")
  /\ log' = [log EXCEPT !["attempts"] =
       Append(@, [id |-> o, early |-> now < Deadline, tx |-> "committed", kind |-> kind])]
  /\ UNCHANGED <<now, topicId, grown, out, Postgres, conn, Memory, Relay, faults, contradicted>>

appendChanged(o) ==
  /\ WithChanges
  /\ o \notin {log["changed"][k].id : k \in 1..Len(log["changed"])}
  /\ log' = [log EXCEPT !["changed"] = Append(@, [id |-> o, early |-> now < Deadline, tx |-> "committed"])]
  /\ UNCHANGED <<now, topicId, grown, out, Postgres, conn, Memory, Relay, faults, contradicted>>

endTransaction(tp, end) ==
  /\ \E k \in 1..Len(log[tp]) : log[tp][k].tx = "open" /\ log' = [log EXCEPT ![tp][k].tx = end]
  /\ UNCHANGED <<now, topicId, grown, out, Postgres, conn, Memory, Relay, faults, contradicted>>

addPartition ==
  /\ WithGrowth
  /\ ~grown
  /\ grown' = TRUE
  /\ UNCHANGED <<now, log, topicId, out, Postgres, conn, Memory, Relay, faults, contradicted>>

\* The records of the old topic are stored already; what is lost with a topic places a hold, which is not modelled.
recreateTopic ==
  /\ WithRecreation
  /\ topicId = 0
  /\ Len(log["paid"]) > 0
  /\ pg[primary].pos["paid"] = <<0, Len(log["paid"])>>
  /\ topicId' = 1
  /\ log' = [log EXCEPT !["paid"] = <<>>]
  /\ UNCHANGED <<now, grown, out, Postgres, conn, Memory, Relay, faults, contradicted>>

-----------------------------------------------------------------------------
(***************************************************************************)
(* Intake.                                                                 *)
(***************************************************************************)

Pending(db) == {o \in Orders : db.rows[o].state = "PENDING"}

Start(db, tp) ==
  IF db.pos[tp] # NoPosition THEN db.pos[tp][2]
  ELSE IF StartAtBeginning \/ tp = "created" THEN 0 ELSE Len(log[tp])

\* What Postgres contains once the positions that were missing are stored (StoredPositions.begin),
\* and those of a topic that was created again are replaced (StoredPositions.restart).
Positioned(db) ==
  [db EXCEPT !.pos = [tp \in Partitions |->
     IF db.pos[tp] = NoPosition THEN <<IdOf(tp), Start(db, tp)>>
     ELSE IF db.pos[tp][1] # IdOf(tp) THEN <<IdOf(tp), 0>>
     ELSE db.pos[tp]]]

Offsets(db) == [tp \in Partitions |-> db.pos[tp][2]]

IsNewServer(i) == ServersAreCompared /\ seen[i] # Identity(conn[i])

\* An instance notices which server answers.  A process remembers that, even if its consumer is replaced.
Notice(i) ==
  LET server == Identity(conn[i])
      forgets == ServersAreCompared /\ ForgetOnNewServer
  IN
  /\ seen' = [seen EXCEPT ![i] = IF ServersAreCompared THEN server ELSE 0]
  /\ reflected' = [reflected EXCEPT ![i] = IF forgets /\ @ # server THEN 0 ELSE @]
  /\ reading' = [reading EXCEPT ![i] =
       IF forgets /\ @ # NotKnown /\ reading[i].server # server THEN NotKnown ELSE @]

\* Where an instance owns the shard, a former owner only stores and decides on, until it notices.
Owns(i) == WithWheel => owner = i

\* ShardAssignment and StartingPositions.seek: an instance takes over, or starts again after a reset.
\* Nothing keeps another instance from believing that it owns the shard as well.
\* The mutant skips what was paid or closed before a partition was read for the first time.
acquire(i) ==
  LET db == Positioned(Db(i)) IN
  /\ Owns(i)
  /\ known[i] = NotKnown
  /\ pg' = [pg EXCEPT ![conn[i]] = db]
  /\ known' = [known EXCEPT ![i] = Offsets(db)]
  /\ at' = [at EXCEPT ![i] = Offsets(db)]
  /\ Notice(i)
  /\ UNCHANGED <<now, Kafka, primary, started, replica, born, conn, owner, wheel, rebuilt, gate,
                 Relay, faults, contradicted>>

\* ShardRebuild reads the pending orders into the wheel, some time after the instance has begun to read on.
rebuild(i) ==
  /\ WithWheel
  /\ Owns(i)
  /\ ~rebuilt[i]
  /\ PositionsFirst => known[i] # NotKnown
  /\ wheel' = [wheel EXCEPT ![i] = @ \cup Pending(Db(i))]
  /\ rebuilt' = [rebuilt EXCEPT ![i] = TRUE]
  /\ UNCHANGED <<now, Kafka, Postgres, conn, owner, known, at, gate, Process, Relay, faults, contradicted>>

\* An instance loses what its consumer's loop remembers.
DropLoop(i) ==
  /\ known' = [known EXCEPT ![i] = NotKnown]
  /\ at' = [at EXCEPT ![i] = NotKnown]
  /\ gate' = [gate EXCEPT ![i] = NotKnown]
  /\ wheel' = [wheel EXCEPT ![i] = {}]
  /\ rebuilt' = [rebuilt EXCEPT ![i] = FALSE]

\* PositionComparison.compare.  While records arrive, an instance compares only if it cannot store one.  While none
\* arrive, it compares every second, which finds no more than the next record would.
Differs(i) ==
  \/ StoreOnKnownServer /\ IsNewServer(i)
  \/ \E tp \in Partitions : Db(i).pos[tp] # <<IdOf(tp), known[i][tp]>>

Lost(i) ==
  \/ RebuildOnNewServer /\ IsNewServer(i)
  \/ \E tp \in Partitions : Db(i).pos[tp][1] # IdOf(tp) \/ Db(i).pos[tp][2] < known[i][tp]

\* Postgres may have lost something: ShardAssignment.reset drops everything that came from it.
reset(i) ==
  /\ Owns(i)
  /\ known[i] # NotKnown
  /\ Differs(i)
  /\ Lost(i)
  /\ DropLoop(i)
  /\ Notice(i)
  /\ UNCHANGED <<now, Kafka, Postgres, conn, owner, Relay, faults, contradicted>>

\* Another instance has advanced the positions.  This one still reads the records up to there, because their orders
\* may be missing in its wheel.  Storing them again changes nothing, so without the wheel that is left out.
catchUp(i) ==
  /\ Owns(i)
  /\ known[i] # NotKnown
  /\ Differs(i)
  /\ ~Lost(i)
  /\ known' = [known EXCEPT ![i] = Offsets(Db(i))]
  /\ at' = IF ReadAgain /\ WithWheel THEN at ELSE [at EXCEPT ![i] = Offsets(Db(i))]
  /\ Notice(i)
  /\ UNCHANGED <<now, Kafka, Postgres, conn, owner, wheel, rebuilt, gate, Relay, faults, contradicted>>

Max(a, b) == IF a > b THEN a ELSE b

\* BatchIntake.ingest: a record is stored together with the position behind it.  Nothing changes if Postgres
\* contains the record already, except that the wheel learns of its order.
ingest(i, tp) ==
  LET db == Db(i)
      from == at[i][tp]
      next == Max(from + 1, known[i][tp])
      record == log[tp][from + 1]
      advanced == IF ComparePositions \/ db.pos[tp][2] < next
                  THEN [db EXCEPT !.pos[tp] = <<IdOf(tp), next>>] ELSE db
      stored == IF PositionsWithRows THEN Store(advanced, tp, record)
                ELSE advanced \* a crash keeps the record from being stored
      order == IF tp \in PaymentPartitions THEN OrderOf(record.id) ELSE record.id
  IN
  /\ known[i] # NotKnown
  /\ from < LastStable(tp)
  /\ StoreOnKnownServer => ~IsNewServer(i)
  /\ db.pos[tp][1] = IdOf(tp)
  /\ ComparePositions => db.pos[tp][2] = known[i][tp]
  /\ pg' = [pg EXCEPT ![conn[i]] = stored]
  /\ known' = [known EXCEPT ![i][tp] = next]
  /\ at' = [at EXCEPT ![i][tp] = from + 1]
  /\ gate' = IF Pending(stored) = {} /\ OnlyPending THEN [gate EXCEPT ![i] = NotKnown] ELSE gate
  /\ sends' = IF MayPublish(i) THEN sends \cup (stored.outbox \ db.outbox) ELSE sends
  /\ wheel' = [wheel EXCEPT ![i] = IF ~WithWheel THEN {}
                                   ELSE IF tp = "created" /\ stored.rows[order].state = "PENDING" THEN @ \cup {order}
                                   ELSE IF stored.rows[order].state # "PENDING" THEN @ \ {order} ELSE @]
  /\ UNCHANGED <<now, Kafka, primary, started, replica, born, conn, owner, rebuilt, Process,
                 acked, faults, contradicted>>

-----------------------------------------------------------------------------
(***************************************************************************)
(* Watermark and decision.                                                 *)
(***************************************************************************)

Settling == {tp \in Partitions :
  \/ tp = "paid"
  \/ tp = "closed" /\ EndsOfClosings
  \/ tp = "attempts" /\ EndsOfAttempts
  \/ tp = "changed" /\ EndsOfChanges
  \/ tp = "paid2" /\ grown /\ EndsOfAllPartitions}

MayWaitLonger == WithAttempts \/ WithChanges

T == IF MayWaitLonger THEN now ELSE Deadline

\* PaymentAttempts.andNoneUnderWay
IsBeingPaid(i, db, o) == HoldInStatement /\ o \in db.paying /\ (CapOnHolds => gate[i].time < Cap)

Ends == [tp \in Settling |->
  <<IdOf(tp), IF EndsOfEverythingAppended THEN Len(log[tp]) ELSE LastStable(tp)>>]

\* PaymentWatermark.ask reads T and then asks Kafka (EndOffsets.of).  A T before the deadline lets nothing pass, so
\* it is left out; of a T that has passed it, only that counts, so the answer can stand for both steps.  Where an order
\* may wait longer, T counts, and Kafka is asked again with a later one.
\* Asking changes nothing, so an answer that is never used is left out, too.
\* The mutant asks Kafka first and reads T later.
askEndOffsets(i) ==
  /\ Owns(i)
  /\ known[i] # NotKnown
  /\ Pending(Db(i)) # {}
  /\ IF TimeBeforeEnds
     THEN /\ IF gate[i] = NotKnown THEN TRUE ELSE MayWaitLonger /\ gate[i].time < now
          /\ now >= Deadline
          /\ gate' = [gate EXCEPT ![i] = [passed |-> TRUE, time |-> T, ends |-> Ends]]
     ELSE \/ gate[i] = NotKnown /\ gate' = [gate EXCEPT ![i] = [passed |-> FALSE, time |-> T, ends |-> Ends]]
          \/ gate[i] # NotKnown /\ ~gate[i].passed /\ now >= Deadline /\ gate' = [gate EXCEPT ![i].passed = TRUE]
  /\ UNCHANGED <<now, Kafka, Postgres, conn, owner, Loop, Process, Relay, faults, contradicted>>

Reached(i, db) ==
  \A tp \in DOMAIN gate[i].ends :
    IF PositionsInStatement
    THEN /\ TopicIds => db.pos[tp][1] = gate[i].ends[tp][1]
         /\ db.pos[tp][2] >= gate[i].ends[tp][2]
    ELSE at[i][tp] >= gate[i].ends[tp][2]

\* DueOrderDecision.cancel: the deciding statement.
cancel(i, o) ==
  LET db == Db(i)
      server == conn[i]
      decided == [db EXCEPT !.rows[o] = Row("CANCELLED", 0, IF WithPurge THEN now ELSE 0)]
      written == IF OutboxWithDecision THEN WriteOutbox(decided, Cancelled(o)) ELSE decided
  IN
  /\ known[i] # NotKnown
  /\ gate[i] # NotKnown
  /\ gate[i].passed
  /\ db.rows[o].state \in (IF OnlyPending THEN {"PENDING"} ELSE {"PENDING", "PAID"})
  /\ gate[i].time >= DeadlineOf(db, o)
  /\ ~IsBeingPaid(i, db, o)
  /\ Reached(i, db)
  /\ DecideAfterReadBack => IsReadBack(i)
  /\ WithWheel => o \in wheel[i]
  /\ pg' = [pg EXCEPT ![server] = written]
  /\ sends' = sends \cup (IF OutboxWithDecision THEN written.outbox \ db.outbox ELSE {<<0, Cancelled(o)>>})
  /\ gate' = [gate EXCEPT ![i] = NotKnown]
  /\ wheel' = [wheel EXCEPT ![i] = @ \ {o}]
  /\ contradicted' = (contradicted \/ WasCancelledBefore(server, o))
  /\ UNCHANGED <<now, Kafka, primary, started, replica, born, conn, owner, known, at, rebuilt, Process,
                 acked, faults>>

-----------------------------------------------------------------------------
(***************************************************************************)
(* Relay.                                                                  *)
(***************************************************************************)

\* OutboxRelay.publish.  The sending instance may have crashed meanwhile: what is on its way may still arrive.
\* A repetition of an event says nothing new, so it is left out.
publish ==
  \E e \in sends :
    /\ sends' = sends \ {e}
    /\ out' = IF e[2] \in Range(out) THEN out ELSE Append(out, e[2])
    /\ acked' = IF RecordByKey THEN {} ELSE acked \cup {e}
    /\ UNCHANGED <<now, log, topicId, grown, Postgres, conn, Memory, faults, contradicted>>

\* The sending instance crashes before the event reaches Kafka.  Where progress does not count, an event that
\* is lost is no different from one that stays on its way for ever.
loseSend ==
  /\ WithWheel
  /\ faults < MaxFaults
  /\ \E e \in sends : sends' = sends \ {e}
  /\ faults' = faults + 1
  /\ UNCHANGED <<now, Kafka, Postgres, conn, Memory, acked, contradicted>>

\* OutboxSweep.next finds what a crash left behind.
sweep(i) ==
  /\ Owns(i)
  /\ known[i] # NotKnown
  /\ MayPublish(i)
  /\ \E e \in Db(i).outbox \ sends : e[2] \notin Range(out) /\ sends' = sends \cup {e}
  /\ UNCHANGED <<now, Kafka, Postgres, conn, Memory, acked, faults, contradicted>>

Index(event) == CHOOSE k \in 1..Len(out) : out[k] = event

Recorded(db, event, number) ==
  LET deleted == [db EXCEPT !.outbox = {row \in @ : IF RecordByKey THEN row[2] # event ELSE row[1] # number}]
  IN IF OnlyReaderAdvances \/ deleted.out >= Index(event) THEN deleted
     ELSE [deleted EXCEPT !.out = Index(event)]

\* OutboxStore.record.  An acknowledgement may be recorded late, by whichever server answers then.
record(i) ==
  /\ IF RecordByKey
     THEN \E row \in Db(i).outbox :
            row[2] \in Range(out) /\ pg' = [pg EXCEPT ![conn[i]] = Recorded(@, row[2], 0)]
     ELSE \E e \in acked : pg' = [pg EXCEPT ![conn[i]] = Recorded(@, e[2], e[1])]
  /\ UNCHANGED <<now, Kafka, primary, started, replica, born, conn, Memory, Relay, faults, contradicted>>

-----------------------------------------------------------------------------
(***************************************************************************)
(* The reader of the service's own output topics.                          *)
(***************************************************************************)

askPublishedEnd(i) ==
  /\ Owns(i)
  /\ ~IsReadBack(i)
  /\ reading[i] = NotKnown
  /\ reading' = [reading EXCEPT ![i] = [server |-> Identity(conn[i]), end |-> Len(out), done |-> FALSE]]
  /\ UNCHANGED <<now, Kafka, Postgres, conn, owner, Loop, gate, seen, reflected, Relay, faults, contradicted>>

\* One record is restored together with the position behind it.
reflectPublished(i) ==
  LET db == Db(i)
      restored == [Reflect(db, out[db.out + 1]) EXCEPT !.out = @ + 1]
  IN
  /\ known[i] # NotKnown \/ reading[i] # NotKnown
  /\ db.out < Len(out)
  /\ ReadOn \/ ~IsReadBack(i)
  /\ pg' = [pg EXCEPT ![conn[i]] = restored]
  /\ UNCHANGED <<now, Kafka, primary, started, replica, born, conn, Memory, Relay, faults, contradicted>>

\* The statement of ReadBackState.complete: the server on which the read-back was begun has reached the end.
ReachesEnd(i) ==
  /\ reading[i] # NotKnown
  /\ ~reading[i].done
  /\ CompleteOnSameServer => reading[i].server = Identity(conn[i])
  /\ ReadBack => Db(i).out >= reading[i].end

\* It has found that.  Without a failback, what comes between it and the memory makes no difference: the server
\* either answers still, or never again.
reachPublishedEnd(i) ==
  /\ WithFailback
  /\ ReachesEnd(i)
  /\ reading' = [reading EXCEPT ![i] = [server |-> Identity(conn[i]), end |-> 0, done |-> TRUE]]
  /\ UNCHANGED <<now, Kafka, Postgres, conn, owner, Loop, gate, seen, reflected, Relay, faults, contradicted>>

\* The instance remembers it.
completeReadBack(i) ==
  /\ IF WithFailback THEN reading[i] # NotKnown /\ reading[i].done ELSE ReachesEnd(i)
  /\ reflected' = [reflected EXCEPT ![i] = IF WithFailback THEN reading[i].server ELSE Identity(conn[i])]
  /\ reading' = [reading EXCEPT ![i] = NotKnown]
  /\ UNCHANGED <<now, Kafka, Postgres, conn, owner, Loop, gate, seen, Relay, faults, contradicted>>

\* A read-back that another server has overtaken is given up.
abandonReadBack(i) ==
  /\ reading[i] # NotKnown
  /\ ~reading[i].done
  /\ CompleteOnSameServer
  /\ reading[i].server # Identity(conn[i])
  /\ reading' = [reading EXCEPT ![i] = NotKnown]
  /\ UNCHANGED <<now, Kafka, Postgres, conn, owner, Loop, gate, seen, reflected, Relay, faults, contradicted>>

-----------------------------------------------------------------------------
(***************************************************************************)
(* The purge.                                                              *)
(***************************************************************************)

purge(o) ==
  /\ WithPurge
  /\ pg[primary].rows[o].state \in {"PAID", "CLOSED", "CANCELLED", "STALE"}
  /\ now > pg[primary].rows[o].when + Retention
  /\ PurgeAfterDeadline => now > Deadline + StaleAfter
  /\ pg' = [pg EXCEPT ![primary].rows[o] = Row("PURGED", 0, 0)]
  /\ UNCHANGED <<now, Kafka, primary, started, replica, born, conn, Memory, Relay, faults, contradicted>>

-----------------------------------------------------------------------------
(***************************************************************************)
(* Faults.                                                                 *)
(***************************************************************************)

crash(i) ==
  /\ faults < MaxFaults
  /\ known[i] # NotKnown
  /\ DropLoop(i)
  /\ seen' = [seen EXCEPT ![i] = 0]
  /\ reflected' = [reflected EXCEPT ![i] = 0]
  /\ reading' = [reading EXCEPT ![i] = NotKnown]
  /\ faults' = IF WithWheel THEN faults + 1 ELSE faults
  /\ UNCHANGED <<now, Kafka, Postgres, conn, owner, Relay, contradicted>>

\* The group assigns the shard to another instance, or the fleet moves to another group.  The former owner may not
\* notice before its consumer is replaced.
reassign(i) ==
  /\ WithWheel
  /\ faults < MaxFaults
  /\ owner # i
  /\ owner' = i
  /\ faults' = faults + 1
  /\ UNCHANGED <<now, Kafka, Postgres, conn, Loop, gate, Process, Relay, contradicted>>

\* A consumer is closed: the memory of its loop is lost, that of its process is not.
closeConsumer(i) ==
  /\ known[i] # NotKnown
  /\ WithFailback \/ (WithWheel /\ owner # i)
  /\ DropLoop(i)
  /\ UNCHANGED <<now, Kafka, Postgres, conn, owner, Process, Relay, faults, contradicted>>

\* The standby catches up, or a dump is taken.
replicate ==
  /\ started < MaxServers
  /\ replica # pg[primary]
  /\ replica' = pg[primary]
  /\ UNCHANGED <<now, Kafka, pg, primary, started, born, conn, Memory, Relay, faults, contradicted>>

\* The tables go back to what they were when they were copied.
GoBack ==
  /\ started < MaxServers
  /\ started' = started + 1
  /\ primary' = started + 1
  /\ pg' = [s \in Servers |-> IF s = started + 1 THEN replica
                              ELSE IF WithSplitBrain \/ WithFailback THEN pg[s] ELSE EmptyServer]
  /\ born' = [born EXCEPT ![started + 1] = Len(out)]
  /\ replica' = IF started + 1 = MaxServers THEN EmptyServer ELSE replica
  /\ conn' = IF WithSplitBrain THEN conn ELSE [i \in Instances |-> started + 1]
  /\ UNCHANGED <<now, Kafka, Memory, Relay, faults, contradicted>>

\* The standby takes over as it is: what it has not received is lost.
failOver == ~WithDump /\ GoBack

\* A dump is restored while the instances run: what was committed since is lost.
restoreDump == WithDump /\ GoBack

\* An instance that was still connected to an old primary comes to the new one, with its memory.
reconnect(i) ==
  /\ conn[i] # primary
  /\ conn' = [conn EXCEPT ![i] = primary]
  /\ pg' = [s \in Servers |->
       IF s # primary /\ ~WithFailback /\ \A j \in Instances : j = i \/ conn[j] # s THEN EmptyServer ELSE pg[s]]
  /\ UNCHANGED <<now, Kafka, primary, started, replica, born, Memory, Relay, faults, contradicted>>

\* Whether an instance has noticed the primary, or has not begun to read back another server.
HasNoticed(i) == seen[i] = Identity(primary) \/ <<seen[i], reflected[i], reading[i]>> = <<0, 0, NotKnown>>

\* The first server, which never stopped, takes over again: everything since is lost, and by its start time and tables
\* it is the server that was read back once.  If there are several instances, each of them has noticed the server in
\* between; README.md says why.
failBack ==
  /\ WithFailback
  /\ primary # 1
  /\ started = MaxServers
  /\ \A i \in Instances : HasNoticed(i) \/ Instances = {i}
  /\ primary' = 1
  /\ conn' = [i \in Instances |-> 1]
  /\ pg' = [s \in Servers |-> IF s = 1 THEN pg[1] ELSE EmptyServer]
  /\ born' = [born EXCEPT ![1] = Len(out)]
  /\ started' = MaxServers + 1
  /\ UNCHANGED <<now, Kafka, replica, Memory, Relay, faults, contradicted>>

-----------------------------------------------------------------------------
Next ==
  \/ tick
  \/ \E p \in Payments, tp \in PaymentPartitions, tx \in {"committed", "open"} : appendPaid(p, tp, tx)
  \/ \E tp \in PaymentPartitions, end \in {"committed", "aborted"} : endTransaction(tp, end)
  \/ \E o \in Orders : appendClosed(o) \/ appendChanged(o)
  \/ \E o \in Orders, kind \in {"start", "end"} : appendAttempt(o, kind)
  \/ addPartition \/ recreateTopic
  \/ \E i \in Instances :
       \/ acquire(i) \/ rebuild(i) \/ reset(i) \/ catchUp(i)
       \/ \E tp \in Partitions : ingest(i, tp)
       \/ askEndOffsets(i)
       \/ \E o \in Orders : cancel(i, o)
       \/ sweep(i) \/ record(i)
       \/ askPublishedEnd(i) \/ reflectPublished(i) \/ reachPublishedEnd(i)
       \/ completeReadBack(i) \/ abandonReadBack(i)
       \/ crash(i) \/ reassign(i) \/ closeConsumer(i) \/ reconnect(i)
  \/ publish \/ loseSend
  \/ \E o \in Orders : purge(o)
  \/ replicate \/ failOver \/ restoreDump \/ failBack

Spec == Init /\ [][Next]_Vars

-----------------------------------------------------------------------------
(***************************************************************************)
(* The promises.                                                           *)
(***************************************************************************)

InUse == {primary} \cup {conn[i] : i \in Instances}

Final(o) == pg[primary].rows[o]

\* Everything that was appended is stored, everything that was decided is published.
Quiet ==
  /\ \A i \in Instances : conn[i] = primary
  /\ pg[primary].outbox = {}
  /\ \A tp \in Partitions : pg[primary].pos[tp] = <<IdOf(tp), Len(log[tp])>>
  /\ \A tp \in Partitions : LastStable(tp) = Len(log[tp])
  /\ IF ReadOn THEN pg[primary].out = Len(out) ELSE \E i \in Instances : IsReadBack(i)

SettledInTime(o) ==
  \/ \E tp \in PaymentPartitions : \E k \in 1..Len(log[tp]) :
       log[tp][k].early /\ log[tp][k].tx = "committed" /\ OrderOf(log[tp][k].id) = o
  \/ WithClosings /\ \E k \in 1..Len(log["closed"]) : log["closed"][k].early /\ log["closed"][k].id = o

\* P1: what lies below the stored position of order-created has a row.
P1_NoDeadlineLost ==
  \A s \in InUse : \A k \in 1..Len(Creations) :
    (pg[s].pos["created"] # NoPosition /\ k <= pg[s].pos["created"][2]) => pg[s].rows[Creations[k]].state # "NONE"

\* P2: no decision contradicts what was published before its server took over, and in the end
\* the rows say what the world was told.  A payment may settle such an order until its cancellation is restored.
P2_PublishedDecisionNeverChanges ==
  /\ ~contradicted
  /\ Quiet => \A o \in Orders : PublishedCancellation(o) => Final(o).state \in {"CANCELLED", "PURGED"}

\* What lies below the position in the output topics is reflected.
P2_Reflected ==
  \A s \in InUse : \A k \in 1..pg[s].out :
    IF out[k][1] = "order-cancelled" THEN pg[s].rows[out[k][2]].state \in {"CANCELLED", "PURGED"}
    ELSE out[k][2] \in pg[s].conflicts

\* P3: nobody sees a cancellation of an order that was paid or closed before its deadline.
P3_PaymentInTimeNeverOverridden ==
  \A o \in Orders : SettledInTime(o) => ~PublishedCancellation(o)

\* P3: nobody sees a cancellation of an order while it is being paid, unless that was not so in time.
P3_NotCancelledWhileBeingPaid ==
  (WithAttempts /\ now < Cap) => \A o \in Orders : \A k \in 1..Len(log["attempts"]) :
    (log["attempts"][k] = [id |-> o, early |-> TRUE, tx |-> "committed", kind |-> "start"]
      /\ ~AttemptAppended(o, "end")) => ~PublishedCancellation(o)

\* P3: nobody sees a cancellation before the deadline to which an order was postponed in time.
P3_PostponedNotCancelled ==
  (WithChanges /\ now < Later) => \A k \in 1..Len(log["changed"]) :
    log["changed"][k].early => ~PublishedCancellation(log["changed"][k].id)

\* P4: a decision is in the outbox until it is published.
P4_DecisionsArePublished ==
  \A o \in Orders : Final(o).state = "CANCELLED" =>
    \/ PublishedCancellation(o)
    \/ \E row \in pg[primary].outbox : row[2] = Cancelled(o)

\* P6: in the end, each payment of a cancelled order has its conflict.
P6_LateMoneyHasConflict ==
  Quiet => \A tp \in PaymentPartitions : \A k \in 1..Len(log[tp]) :
    LET p == log[tp][k].id IN
    (log[tp][k].tx = "committed" /\ PublishedCancellation(OrderOf(p)) /\ Final(OrderOf(p)).state # "PURGED")
      => PublishedConflict(p)

\* P6: no conflict without a payment that was appended, and in the end none of an order that counts as paid.
P6_NoConflictWithoutReason ==
  \A p \in Payments : PublishedConflict(p) =>
    /\ Appended(p) \/ topicId # 0
    /\ Quiet => Final(OrderOf(p)).state \in {"CANCELLED", "CLOSED", "PURGED"}

\* P6: a conflict that was published before a server took over is not published with another content.
P6_PublishedConflictNeverChanges ==
  \A p \in Payments : \A met \in {"CANCELLED", "CLOSED"} :
    (\E k \in 1..born[primary] : out[k] = Conflict(p, met))
      => \A other \in {"CANCELLED", "CLOSED"} \ {met} : Conflict(p, other) \notin Range(out)

-----------------------------------------------------------------------------
(***************************************************************************)
(* Progress: once faults end, each order is decided and its decision is    *)
(* published.  Checked in a configuration of its own.                      *)
(***************************************************************************)

Fairness ==
  /\ WF_Vars(tick)
  /\ WF_Vars(publish)
  /\ \A i \in Instances :
       /\ WF_Vars(owner = i /\ (acquire(i) \/ reset(i) \/ catchUp(i)))
       /\ WF_Vars(owner = i /\ rebuild(i))
       /\ \A tp \in Partitions : WF_Vars(owner = i /\ ingest(i, tp))
       /\ WF_Vars(owner = i /\ askEndOffsets(i))
       /\ \A o \in Orders : WF_Vars(owner = i /\ cancel(i, o))
       /\ WF_Vars(owner = i /\ sweep(i))
       \* An instance reads a server back once it has noticed it.
       /\ WF_Vars(owner = i /\ ~IsNewServer(i) /\ (askPublishedEnd(i) \/ reachPublishedEnd(i)
                                                   \/ completeReadBack(i) \/ abandonReadBack(i)))
       /\ WF_Vars(owner = i /\ reflectPublished(i))

FairSpec == Spec /\ Fairness

Decided(o) ==
  \/ Final(o).state \in {"PAID", "CLOSED"}
  \/ Final(o).state = "CANCELLED" /\ PublishedCancellation(o)

P1_EveryOrderIsDecided == \A o \in Orders : <>[]Decided(o)

Symmetric == Permutations(Instances)

\* What eight steps lead to.
ShortPaths == TLCGet("level") <= 8
=============================================================================
