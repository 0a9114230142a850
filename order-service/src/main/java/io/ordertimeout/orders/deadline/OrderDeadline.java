package io.ordertimeout.orders.deadline;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.math.BigDecimal;
import java.time.Instant;
import org.hibernate.annotations.Immutable;
import org.jspecify.annotations.Nullable;

/**
 * One order as operators read it. The way of an event writes it by the statements of {@link
 * OrderEventStatements} alone, which is why it has no setters.
 */
@Entity
@Immutable
@Table(name = "order_deadline")
public class OrderDeadline {

  @Id
  @Column(name = "order_id")
  private String orderId = "";

  @Column(name = "id")
  private long id;

  @Column(name = "shard")
  private int shard;

  @Enumerated(EnumType.STRING)
  @Column(name = "state")
  private OrderState state = OrderState.PENDING;

  @Column(name = "created_at")
  private @Nullable Instant createdAt;

  @Column(name = "deadline")
  private @Nullable Instant deadline;

  @Column(name = "policy")
  private @Nullable String policy;

  @Column(name = "channel")
  private @Nullable String channel;

  @Column(name = "payment_method")
  private @Nullable String paymentMethod;

  @Column(name = "amount", columnDefinition = "numeric")
  private @Nullable BigDecimal amount;

  @Column(name = "currency")
  private @Nullable String currency;

  @Column(name = "decided_at")
  private @Nullable Instant decidedAt;

  @Enumerated(EnumType.STRING)
  @Column(name = "decided_by")
  private @Nullable DecidedBy decidedBy;

  @Column(name = "payment_id")
  private @Nullable String paymentId;

  @Column(name = "paid_at")
  private @Nullable Instant paidAt;

  @Column(name = "closed_at")
  private @Nullable Instant closedAt;

  @Column(name = "registered_at")
  private @Nullable Instant registeredAt;

  @Column(name = "published_at")
  private @Nullable Instant publishedAt;

  @Column(name = "extended_until")
  private @Nullable Instant extendedUntil;

  @Column(name = "close_reason")
  private @Nullable String closeReason;

  /** For the persistence provider. */
  protected OrderDeadline() {}

  /** The order's id. */
  public String orderId() {
    return orderId;
  }

  /** The row's id, by which the wheel knows the order. */
  public long id() {
    return id;
  }

  /** The shard that watches the order. */
  public int shard() {
    return shard;
  }

  /** Where the order stands. */
  public OrderState state() {
    return state;
  }

  /** When the order was created, if that is known yet. */
  public @Nullable Instant createdAt() {
    return createdAt;
  }

  /** When the order is to be paid by, if its creation is known yet. */
  public @Nullable Instant deadline() {
    return deadline;
  }

  /** What set the deadline. */
  public @Nullable String policy() {
    return policy;
  }

  /** The sales channel. */
  public @Nullable String channel() {
    return channel;
  }

  /** The payment method. */
  public @Nullable String paymentMethod() {
    return paymentMethod;
  }

  /** How much is to be paid, in {@link #currency()}. */
  public @Nullable BigDecimal amount() {
    return amount;
  }

  /** The currency of {@link #amount()}. */
  public @Nullable String currency() {
    return currency;
  }

  /** When the order left {@code PENDING}. */
  public @Nullable Instant decidedAt() {
    return decidedAt;
  }

  /** What made the order leave {@code PENDING}. */
  public @Nullable DecidedBy decidedBy() {
    return decidedBy;
  }

  /** The payment that settled the order. */
  public @Nullable String paymentId() {
    return paymentId;
  }

  /** When that payment was made. */
  public @Nullable Instant paidAt() {
    return paidAt;
  }

  /** When the order was closed elsewhere. */
  public @Nullable Instant closedAt() {
    return closedAt;
  }

  /** Why the order was closed. */
  public @Nullable String closeReason() {
    return closeReason;
  }

  /** When the first event of the order was stored; unknown of orders from before that was noted. */
  public @Nullable Instant registeredAt() {
    return registeredAt;
  }

  /** When Kafka acknowledged the order's cancellation. */
  public @Nullable Instant publishedAt() {
    return publishedAt;
  }

  /** The end of the last interruption by which the deadline was extended. */
  public @Nullable Instant extendedUntil() {
    return extendedUntil;
  }
}
