package io.ordertimeout.orders.benchmarks.contender;

/** What shops use instead of the order service. */
public enum Peer {
  POLLING_JOB("polling job"),
  DB_SCHEDULER("db-scheduler"),
  QUARTZ("Quartz"),
  JOB_RUNR("JobRunr");

  private final String title;

  Peer(String title) {
    this.title = title;
  }

  /** The name by which it is known. */
  public String title() {
    return title;
  }
}
