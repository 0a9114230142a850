package io.ordertimeout.orders.order;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import org.hibernate.annotations.Immutable;
import org.jspecify.annotations.Nullable;

/**
 * A row of {@code order_deadline}, read for operators. It is immutable: every change of an order is
 * one conditional statement, never a write of an entity.
 */
@Entity
@Immutable
public class OrderDeadline {

  @Id private String orderId = "";

  private long id;

  @Enumerated(EnumType.STRING)
  private OrderState state = OrderState.PENDING;

  private int shard;
  private @Nullable Instant createdAt;
  private @Nullable Instant deadline;
  private @Nullable Integer graceSeconds;
  private @Nullable Integer confirmSeconds;
  private @Nullable String policy;
  private @Nullable String channel;
  private @Nullable String paymentMethod;

  @Column(columnDefinition = "numeric")
  private @Nullable BigDecimal amount;

  private @Nullable String currency;
  private @Nullable Instant decidedAt;

  @Enumerated(EnumType.STRING)
  private @Nullable DecidedBy decidedBy;

  private @Nullable String paymentId;
  private @Nullable Instant paidAt;
  private @Nullable Instant closedAt;
  private @Nullable String closeReason;
  private @Nullable Instant registeredAt;
  private @Nullable Instant extendedUntil;

  /** Creates a row for the persistence provider. */
  protected OrderDeadline() {}

  /** Returns the order as operators see it, but for how late it was cancelled. */
  public OrderView view() {
    return view(null);
  }

  /**
   * Returns the order as operators see it.
   *
   * @param lateByMillis how late it was cancelled, which its cancellation tells
   */
  public OrderView view(@Nullable Long lateByMillis) {
    return new OrderView(
        orderId,
        state,
        shard,
        createdAt,
        deadline,
        graceSeconds == null ? null : Duration.ofSeconds(graceSeconds),
        confirmSeconds == null ? null : Duration.ofSeconds(confirmSeconds),
        policy,
        channel,
        paymentMethod,
        amount == null || currency == null ? null : Money.of(amount, currency),
        decidedAt,
        decidedBy,
        paymentId,
        lateByMillis);
  }

  /** Returns the order's id. */
  public String orderId() {
    return orderId;
  }

  /** Returns the id of the row. */
  public long id() {
    return id;
  }

  /** Returns when the payment that settled the order was made. */
  public @Nullable Instant paidAt() {
    return paidAt;
  }

  /** Returns when the order was closed elsewhere. */
  public @Nullable Instant closedAt() {
    return closedAt;
  }

  /** Returns why the order was closed. */
  public @Nullable String closeReason() {
    return closeReason;
  }

  /** Returns when the first event of the order was stored; null for orders of earlier versions. */
  public @Nullable Instant registeredAt() {
    return registeredAt;
  }

  /** Returns the end of the last interruption that has moved the deadline. */
  public @Nullable Instant extendedUntil() {
    return extendedUntil;
  }
}
