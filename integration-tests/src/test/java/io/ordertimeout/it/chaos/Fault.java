package io.ordertimeout.it.chaos;

/** A fault that the chaos test injects. */
enum Fault {
  INSTANCE_KILLED,
  /** Frozen for longer than its session in the consumer group, without noticing it. */
  INSTANCE_FROZEN,
  ROLLING_RESTART,
  SCALED_OUT,
  SCALED_IN,
  /** One broker, for less or more than its session with the controller. */
  BROKER_KILLED,
  /** The broker that leads a partition of an input topic, until another one leads it. */
  LEADER_KILLED,
  /** One broker, until the controller gives it up; it then runs on with what it knew. */
  BROKER_FROZEN,
  /** One broker refuses the services, while the brokers reach each other. */
  BROKER_REFUSED,
  /** One broker does not answer the services, while the brokers reach each other. */
  BROKER_BLACK_HOLE,
  /** All brokers at once. */
  KAFKA_KILLED,
  KAFKA_CUT,
  KAFKA_REFUSED,
  KAFKA_BLACK_HOLE,
  POSTGRES_CRASHED,
  /** A failover to a standby that lacks the latest commits. */
  POSTGRES_FAILED_OVER_WITH_LOSS,
  /** A failover to a standby that has all commits, because they waited for it. */
  POSTGRES_FAILED_OVER,
  POSTGRES_CUT,
  POSTGRES_REFUSED,
  POSTGRES_BLACK_HOLE,
  /** An earlier dump takes the place of the database, while its server and the instances run on. */
  DUMP_RESTORED,
  /** A failover with loss, while one partition of an output topic has no leader. */
  OUTPUT_PARTITION_MISSING_DURING_FAILOVER,
  /**
   * One bit of a batch in an input topic is flipped on the leader's disk. The orders of the other
   * shards have to be decided in time meanwhile.
   */
  SEGMENT_CORRUPTED;

  /** Whether it excuses nothing but what belongs to one shard. */
  boolean disturbsOneShard() {
    return this == SEGMENT_CORRUPTED;
  }
}
