package io.ordertimeout.it.oracle;

import io.ordertimeout.it.oracle.Violation.Kind;

/** What the service has not done yet: it is quiet when everything is zero. */
record UnfinishedWork(long inputRecords, long outboxRows, long overdueOrders) {

  static final UnfinishedWork NONE = new UnfinishedWork(0, 0, 0);

  boolean isNone() {
    return equals(NONE);
  }

  Violation violation() {
    return new Violation(
        Kind.NOT_QUIET,
        "%d input records are not stored, %d events are in the outbox, %d orders are overdue"
            .formatted(inputRecords, outboxRows, overdueOrders),
        "");
  }
}
