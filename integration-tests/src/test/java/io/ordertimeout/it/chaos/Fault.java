package io.ordertimeout.it.chaos;

/** A fault that the chaos test injects. */
enum Fault {
  INSTANCE_KILLED,
  /** Frozen for longer than its session in the consumer group, without noticing it. */
  INSTANCE_FROZEN,
  ROLLING_RESTART,
  SCALED_OUT,
  SCALED_IN,
  KAFKA_KILLED,
  POSTGRES_CRASHED,
  /** A failover to a standby that lacks the latest commits. */
  POSTGRES_FAILED_OVER_WITH_LOSS,
  /** A failover to a standby that has all commits, because they waited for it. */
  POSTGRES_FAILED_OVER,
  KAFKA_CUT,
  POSTGRES_CUT,
  KAFKA_REFUSED,
  POSTGRES_REFUSED,
  KAFKA_BLACK_HOLE,
  POSTGRES_BLACK_HOLE
}
