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
 * may then be decided. It is the payment deadline plus the grace, which is that of all orders plus
 * that of the order's policy. Thread-safe.
 */
@Component
class NextStage {

  /** SQL columns of the order {@code d} that {@link #of} reads. */
  static final String COLUMNS = "d.deadline, d.grace_seconds";

  /**
   * SQL expression: how long after its deadline the order {@code d} is not cancelled yet. It needs
   * the {@link #parameters}.
   */
  static final String GRACE = "make_interval(secs => :graceSeconds + coalesce(d.grace_seconds, 0))";

  private final Duration settlementGrace;

  NextStage(OrderTimeoutProperties properties) {
    this.settlementGrace = properties.expiry().settlementGrace();
  }

  /** Returns the parameters of {@link #GRACE}. */
  Map<String, ?> parameters() {
    return Map.of("graceSeconds", settlementGrace.toMillis() / 1e3);
  }

  /** Returns the next stage of an order. */
  Instant of(ResultSet row) throws SQLException {
    return requiredInstant(row, "deadline").plus(settlementGrace).plus(grace(row));
  }

  /** Returns the grace of an order's policy; zero if it has none. */
  static Duration grace(ResultSet row) throws SQLException {
    return Duration.ofSeconds(row.getLong("grace_seconds"));
  }
}
