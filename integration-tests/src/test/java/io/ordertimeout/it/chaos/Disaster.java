package io.ordertimeout.it.chaos;

/** What can happen. */
enum Disaster {
  INSTANCE_KILLED,
  /** For longer than its session in the consumer group lasts; it does not know that it is out. */
  INSTANCE_FROZEN,
  ROLLING_RESTART,
  SCALED_OUT,
  SCALED_IN,
  KAFKA_KILLED,
  POSTGRES_CRASHED,
  KAFKA_CUT,
  POSTGRES_CUT,
  KAFKA_REFUSED,
  POSTGRES_REFUSED,
  KAFKA_BLACK_HOLE,
  POSTGRES_BLACK_HOLE
}
