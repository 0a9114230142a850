package io.ordertimeout.orders.benchmarks.servers;

/**
 * What a Postgres server has done since it was started.
 *
 * @param statements the statements that contenders have executed
 * @param walBytes the bytes of its write-ahead log
 */
public record PostgresUsage(long statements, long walBytes) {

  /** What it has done since then. */
  public PostgresUsage since(PostgresUsage earlier) {
    return new PostgresUsage(statements - earlier.statements, walBytes - earlier.walBytes);
  }
}
