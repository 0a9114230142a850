package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.order.Amount;
import io.ordertimeout.orders.order.PaymentTerms;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Shows until when an order could be paid with the policies in force. Thread-safe. */
@Component
public class DeadlinePreview {

  /**
   * Until when an order could be paid.
   *
   * @param policy what sets the deadline: the name of a policy, or DEFAULT
   * @param deadline its payment deadline; null if the policy exempts the order
   * @param warnings when it is warned that it is about to be cancelled
   * @param dueAt when it could first be cancelled, after the grace; null if never
   * @param confirmBy until when it waits for a confirmation that nothing can be paid any more; null
   *     if it does not
   */
  public record Preview(
      String policy,
      @Nullable Instant deadline,
      List<Instant> warnings,
      @Nullable Instant dueAt,
      @Nullable Instant confirmBy) {}

  private final PaymentDeadlines deadlines;
  private final Duration settlementGrace;

  DeadlinePreview(PaymentDeadlines deadlines, OrderTimeoutProperties properties) {
    this.deadlines = deadlines;
    this.settlementGrace = properties.expiry().settlementGrace();
  }

  /**
   * Previews an order that states neither a deadline nor a timeout of its own.
   *
   * @throws IllegalArgumentException if it would be a dead letter
   */
  public Preview of(
      Instant createdAt,
      @Nullable String channel,
      @Nullable String paymentMethod,
      @Nullable Amount amount) {
    try {
      return of(
          deadlines.of(createdAt, true, createdAt, null, null, channel, paymentMethod, amount));
    } catch (UnusableRecordException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  private Preview of(PaymentTerms terms) {
    Instant deadline = terms.deadline();
    if (deadline == null) {
      return new Preview(terms.policy(), null, List.of(), null, null);
    }
    Duration confirm = terms.confirm();
    return new Preview(
        terms.policy(),
        deadline,
        terms.warnings().stream().skip(terms.warningsOver()).map(deadline::minus).toList(),
        deadline.plus(terms.grace()).plus(settlementGrace),
        confirm == null ? null : deadline.plus(confirm));
  }
}
