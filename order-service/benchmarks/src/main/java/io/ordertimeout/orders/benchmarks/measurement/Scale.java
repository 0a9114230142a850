package io.ordertimeout.orders.benchmarks.measurement;

/**
 * How large and long the measurements are.
 *
 * @param pending stored pending orders of the large stage
 * @param settled stored settled orders of the large stage
 * @param duePerSecond orders that come due per second under steady load
 * @param seconds duration of the steady load
 * @param burst orders that come due at once
 * @param backlog events of a backlog
 * @param rush orders that are created per second during a rush
 * @param day orders of a day that passes through the table
 * @param starts starts of the service without a crash, of each kind
 * @param firstStart old records that a first start finds
 */
public record Scale(
    int pending,
    int settled,
    int duePerSecond,
    int seconds,
    int burst,
    int backlog,
    int rush,
    int day,
    int starts,
    int firstStart) {

  public static final Scale DEFAULT =
      new Scale(5_000_000, 10_000_000, 500, 60, 100_000, 600_000, 20_000, 1_000_000, 3, 1_000_000);

  /** Checks that everything runs. */
  public static final Scale QUICK =
      new Scale(50_000, 50_000, 50, 10, 2_000, 20_000, 500, 20_000, 0, 20_000);

  public Scale withPending(int number) {
    return new Scale(
        number, settled, duePerSecond, seconds, burst, backlog, rush, day, starts, firstStart);
  }

  public Scale withSettled(int number) {
    return new Scale(
        pending, number, duePerSecond, seconds, burst, backlog, rush, day, starts, firstStart);
  }

  public Scale withDuePerSecond(int number) {
    return new Scale(
        pending, settled, number, seconds, burst, backlog, rush, day, starts, firstStart);
  }

  public Scale withSeconds(int number) {
    return new Scale(
        pending, settled, duePerSecond, number, burst, backlog, rush, day, starts, firstStart);
  }

  public Scale withBurst(int number) {
    return new Scale(
        pending, settled, duePerSecond, seconds, number, backlog, rush, day, starts, firstStart);
  }

  public Scale withBacklog(int number) {
    return new Scale(
        pending, settled, duePerSecond, seconds, burst, number, rush, day, starts, firstStart);
  }

  public Scale withRush(int number) {
    return new Scale(
        pending, settled, duePerSecond, seconds, burst, backlog, number, day, starts, firstStart);
  }

  public Scale withDay(int number) {
    return new Scale(
        pending, settled, duePerSecond, seconds, burst, backlog, rush, number, starts, firstStart);
  }

  public Scale withStarts(int number) {
    return new Scale(
        pending, settled, duePerSecond, seconds, burst, backlog, rush, day, number, firstStart);
  }

  public Scale withFirstStart(int number) {
    return new Scale(
        pending, settled, duePerSecond, seconds, burst, backlog, rush, day, starts, number);
  }
}
