package io.ordertimeout.orders.order;

import static io.ordertimeout.orders.platform.postgres.ResultSets.requiredInstant;

import io.ordertimeout.orders.OrderTimeoutProperties;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.springframework.stereotype.Component;

/**
 * The next stage of a pending order: the time at which its wheel has to wake it, because something
 * may then be decided. It is the next warning; after the last one, or without warnings, it is the
 * payment deadline plus the grace, which is that of all orders plus that of the order's policy.
 * Thread-safe.
 */
@Component
class NextStage {

  /** SQL expression: how long before its deadline the next warning of the order {@code d} is. */
  private static final String LEAD = "d.leads[coalesce(d.warned, 0) + 1]";

  /** SQL columns of the order {@code d} that {@link #of} reads. */
  static final String COLUMNS = "d.deadline, d.grace_seconds, %s as lead_seconds".formatted(LEAD);

  /** SQL expression: the time of the next warning of the order {@code d}; null if none is left. */
  static final String WARNING = "d.deadline - make_interval(secs => %s)".formatted(LEAD);

  /**
   * SQL expression: how long after its deadline the order {@code d} is not cancelled yet. It needs
   * the {@link #parameters}.
   */
  static final String GRACE = "make_interval(secs => :graceSeconds + coalesce(d.grace_seconds, 0))";

  private final Duration settlementGrace;
  private final boolean areWarned;

  NextStage(OrderTimeoutProperties properties) {
    this.settlementGrace = properties.expiry().settlementGrace();
    this.areWarned = properties.topics().haveWarnings();
  }

  /** Whether warnings are published. */
  boolean areWarned() {
    return areWarned;
  }

  /** Returns the parameters of {@link #GRACE}. */
  Map<String, ?> parameters() {
    return Map.of("graceSeconds", settlementGrace.toMillis() / 1e3);
  }

  /** Returns the next stage of an order. */
  Instant of(ResultSet row) throws SQLException {
    Instant deadline = requiredInstant(row, "deadline");
    if (areWarned) {
      Integer lead = row.getObject("lead_seconds", Integer.class);
      if (lead != null) {
        return deadline.minusSeconds(lead);
      }
    }
    return deadline.plus(settlementGrace).plusSeconds(row.getLong("grace_seconds"));
  }
}
