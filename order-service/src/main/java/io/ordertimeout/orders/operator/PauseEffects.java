package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.operator.status.InstanceReports;
import io.ordertimeout.orders.operator.status.Overview.Counted;
import io.ordertimeout.orders.order.PastDueOrders;
import io.ordertimeout.orders.order.PastDueOrders.EndOfPause;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.suspension.Suspension;
import io.ordertimeout.orders.suspension.Suspensions;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Tells what the end of a pause would do, before it is ended. Thread-safe. */
@Component
public class PauseEffects {

  /**
   * What the end of a pause would do now to the orders past their deadlines. They are counted among
   * the oldest and the newest 2,000 orders past due of each shard; if that is not all of them,
   * {@code complete} is false, and there are at least as many as stated.
   *
   * @param cancelled orders that are cancelled at once, unless a payment is found
   * @param moved orders whose deadlines move; {@code earliest} is the first of the new deadlines
   * @param suspended orders that another pause or a hold still keeps from being decided
   * @param maxPerSecond how many orders all instances decide per second at most; null if that is
   *     not limited
   */
  public record Effect(
      Counted cancelled, Counted moved, Counted suspended, @Nullable Long maxPerSecond) {}

  private final Suspensions suspensions;
  private final PastDueOrders pastDue;
  private final InstanceReports reports;
  private final DatabaseClock clock;
  private final long maxRate;

  PauseEffects(
      Suspensions suspensions,
      PastDueOrders pastDue,
      InstanceReports reports,
      DatabaseClock clock,
      OrderTimeoutProperties properties) {
    this.suspensions = suspensions;
    this.pastDue = pastDue;
    this.reports = reports;
    this.clock = clock;
    this.maxRate = properties.expiry().maxRate();
  }

  /**
   * Counts the orders that the end of a pause would concern now.
   *
   * @throws UnknownSubjectException if there is no such pause
   * @throws ImpossibleChangeException if it has ended
   */
  public Effect ofEnding(long id) {
    Suspension pause =
        suspensions
            .find(id)
            .filter(Suspension::isPause)
            .orElseThrow(() -> new UnknownSubjectException("there is no pause " + id));
    Instant end = pause.endedAt() == null ? pause.endsAt() : pause.endedAt();
    if (end != null && !end.isAfter(clock.readExact())) {
      throw new ImpossibleChangeException("pause %d has ended, at %s".formatted(id, end));
    }
    EndOfPause effect = pastDue.endOfPause(id);
    return new Effect(
        Counted.of(effect.cancelled()),
        Counted.of(effect.moved()),
        Counted.of(effect.suspended()),
        maxRate == 0 ? null : maxRate * Math.max(1, reports.present()));
  }
}
