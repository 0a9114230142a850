package io.ordertimeout.orders;

import jakarta.validation.Valid;
import jakarta.validation.constraints.DecimalMin;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.hibernate.validator.constraints.time.DurationMax;
import org.hibernate.validator.constraints.time.DurationMin;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/**
 * Everything that is configurable under {@code order-timeout}; connections are Spring Boot's own
 * {@code spring.kafka} and {@code spring.datasource}.
 *
 * @param topics names of the topics and how missing ones are treated
 * @param deadline how the payment deadline of an order comes about and how long orders are kept
 * @param intake how events are read
 * @param wheel the timing wheel that wakes the expiry
 * @param expiry how due orders are decided
 * @param outbox how decided events are published
 * @param reconciler how wheels and Postgres are compared
 * @param breaker when expiry pauses by itself
 * @param access who may look and who may change
 */
@Validated
@ConfigurationProperties(prefix = "order-timeout", ignoreUnknownFields = false)
public record OrderTimeoutProperties(
    @Valid @DefaultValue Topics topics,
    @Valid @DefaultValue Deadline deadline,
    @Valid @DefaultValue Intake intake,
    @Valid @DefaultValue Wheel wheel,
    @Valid @DefaultValue Expiry expiry,
    @Valid @DefaultValue Outbox outbox,
    @Valid @DefaultValue Reconciler reconciler,
    @Valid @DefaultValue CircuitBreaker breaker,
    @Valid @DefaultValue Access access) {

  /**
   * Topics.
   *
   * @param created topic of created orders, read
   * @param paid topic of payments, read
   * @param closed topic of orders closed elsewhere, read
   * @param cancelled topic of cancelled orders, written
   * @param conflict topic of payments that found their order cancelled, written
   * @param deadLetterSuffix appended to the name of an input topic to name its dead-letter topic
   * @param createMissing whether topics that are missing at start are created; otherwise their
   *     absence is an error
   * @param partitions partitions of a created topic; the number of shards
   * @param replicationFactor replicas of a created topic; -1 takes the broker's default
   */
  public record Topics(
      @NotBlank @DefaultValue("order-created") String created,
      @NotBlank @DefaultValue("order-paid") String paid,
      @NotBlank @DefaultValue("order-closed") String closed,
      @NotBlank @DefaultValue("order-cancelled") String cancelled,
      @NotBlank @DefaultValue("order-payment-conflict") String conflict,
      @NotBlank @DefaultValue(".dlt") String deadLetterSuffix,
      @DefaultValue("false") boolean createMissing,
      @Min(1) @Max(10_000) @DefaultValue("6") int partitions,
      @Min(-1) @Max(Short.MAX_VALUE) @DefaultValue("-1") short replicationFactor) {

    /** The topics that are read, each of which has the same number of partitions. */
    public Set<String> inputs() {
      return Set.of(created, paid, closed);
    }

    /** The dead-letter topic of an input topic. */
    public String deadLetters(String input) {
      return input + deadLetterSuffix;
    }
  }

  /**
   * Payment deadlines.
   *
   * @param defaultTimeout time to pay from the creation of an order that states none and that no
   *     policy matches
   * @param maxTimeout longest accepted time from creation to deadline; an order beyond it is a dead
   *     letter
   * @param staleAfter how long a deadline may be past when its order is first seen; beyond it the
   *     order is recorded as closed, not cancelled
   * @param retention how long settled orders are kept before they are purged
   * @param purgeInterval pause between two purges of settled orders
   * @param policies timeouts by channel and payment method; the first that matches is taken
   */
  public record Deadline(
      @DurationMin(seconds = 1) @DefaultValue("15m") Duration defaultTimeout,
      @DurationMin(seconds = 1) @DurationMax(days = 36_500) @DefaultValue("400d")
          Duration maxTimeout,
      @DurationMin(seconds = 0) @DurationMax(days = 36_500) @DefaultValue("24h")
          Duration staleAfter,
      @DurationMin(hours = 1) @DurationMax(days = 36_500) @DefaultValue("7d") Duration retention,
      @DurationMin(seconds = 1) @DefaultValue("1m") Duration purgeInterval,
      @DefaultValue List<@Valid Policy> policies) {}

  /**
   * A timeout for some orders.
   *
   * @param name name of the policy, recorded with the order
   * @param channel channel that an order must have; any if not set
   * @param paymentMethod payment method that an order must have; any if not set
   * @param timeout time to pay from the creation of the order
   */
  public record Policy(
      @NotBlank String name,
      @Nullable String channel,
      @Nullable String paymentMethod,
      @DurationMin(seconds = 1) Duration timeout) {}

  /**
   * Reading of events.
   *
   * @param groupId consumer group whose members share the shards
   * @param groupProtocol rebalance protocol: consumer for brokers from 4.0, or classic
   * @param instanceId name of this instance within the group, stable over its restarts and unique:
   *     its shards then wait for it while it restarts (static membership); none by default
   * @param threads consumer threads of this instance
   * @param batchSize most records stored in one transaction
   * @param startBack how far back reading starts on a partition without a committed offset
   * @param fields names of the fields of the incoming events
   */
  public record Intake(
      @NotBlank @DefaultValue("order-timeout") String groupId,
      @DefaultValue("consumer") GroupProtocol groupProtocol,
      @Nullable String instanceId,
      @Min(1) @Max(64) @DefaultValue("1") int threads,
      @Min(1) @Max(50_000) @DefaultValue("2000") int batchSize,
      @DurationMin(seconds = 0) @DefaultValue("1h") Duration startBack,
      @Valid @DefaultValue Fields fields) {}

  /** Kafka's rebalance protocols. */
  public enum GroupProtocol {
    /** The protocol of KIP-848, for brokers from 4.0. */
    CONSUMER,
    /** The protocol before it, for every broker. */
    CLASSIC
  }

  /**
   * Where in an event a value stands: the name of a field or, with a leading slash, a JSON Pointer
   * (RFC 6901).
   *
   * @param orderId the order's id, in every event
   * @param createdAt when the order was created
   * @param payBy instant of the payment deadline
   * @param timeout time to pay, from the creation
   * @param channel sales channel
   * @param paymentMethod payment method
   * @param amount object with the fields value and currency
   * @param paymentId the payment's id
   * @param paidAt when the payment was made
   * @param closedAt when the order was closed
   * @param reason why the order was closed
   */
  public record Fields(
      @NotBlank @DefaultValue("orderId") String orderId,
      @NotBlank @DefaultValue("createdAt") String createdAt,
      @NotBlank @DefaultValue("payBy") String payBy,
      @NotBlank @DefaultValue("timeout") String timeout,
      @NotBlank @DefaultValue("channel") String channel,
      @NotBlank @DefaultValue("paymentMethod") String paymentMethod,
      @NotBlank @DefaultValue("amount") String amount,
      @NotBlank @DefaultValue("paymentId") String paymentId,
      @NotBlank @DefaultValue("paidAt") String paidAt,
      @NotBlank @DefaultValue("closedAt") String closedAt,
      @NotBlank @DefaultValue("reason") String reason) {}

  /**
   * The timing wheel.
   *
   * @param tick resolution; an order is woken at most this much after its deadline
   * @param loadPage orders read from Postgres at a time while a shard is rebuilt
   */
  public record Wheel(
      @DurationMin(millis = 1) @DurationMax(hours = 1) @DefaultValue("10ms") Duration tick,
      @Min(1) @Max(1_000_000) @DefaultValue("10000") int loadPage) {}

  /**
   * Deciding of due orders.
   *
   * @param threads threads that decide batches, each of one shard
   * @param batchSize most orders decided in one statement
   * @param retryDelay pause after a failed decision or an unanswered question for the watermark
   * @param settlementGrace how long after its deadline an order is still not cancelled, for
   *     payments that take their time from the customer to Kafka
   * @param maxRate most orders a second that this instance decides, so that what an outage has held
   *     back does not come out at once; 0 for no limit
   * @param watermarkScope which payments have to be read before an order is cancelled: those of its
   *     shard, or those of all shards, for producers that do not partition alike
   * @param afterOutage what becomes of orders whose deadlines passed while nobody watched them
   * @param outageAfter how long a shard has to be without Kafka, Postgres or an owner for it to be
   *     an outage
   */
  public record Expiry(
      @Min(1) @Max(64) @DefaultValue("4") int threads,
      @Min(1) @Max(50_000) @DefaultValue("1000") int batchSize,
      @DurationMin(millis = 1) @DefaultValue("500ms") Duration retryDelay,
      @DurationMin(seconds = 0) @DurationMax(days = 365) @DefaultValue("0s")
          Duration settlementGrace,
      @Min(0) @Max(10_000_000) @DefaultValue("0") int maxRate,
      @DefaultValue("shard") WatermarkScope watermarkScope,
      @DefaultValue("cancel-now") AfterOutage afterOutage,
      @DurationMin(seconds = 10) @DefaultValue("1m") Duration outageAfter) {}

  /** How far the payment watermark looks. */
  public enum WatermarkScope {
    /** Payments in the partition of the order's number. */
    SHARD,
    /** Payments in all partitions: one that cannot be read holds back all orders. */
    ALL
  }

  /** What becomes of orders after an outage of this service, of Kafka or of Postgres. */
  public enum AfterOutage {
    /** They are cancelled if no payment turns up in what was not read. */
    CANCEL_NOW,
    /** Their deadlines move by the part of the outage they lived through. */
    EXTEND_BY_OUTAGE
  }

  /**
   * Comparing of wheels and Postgres.
   *
   * @param interval pause between two comparisons of the owned shards
   * @param confirmAfter how long a difference has to stand until it is repaired; longer than
   *     anything takes from Postgres to the wheel
   * @param overdueAfter how long behind its deadline an order counts as overdue
   */
  public record Reconciler(
      @DurationMin(seconds = 1) @DefaultValue("5m") Duration interval,
      @DurationMin(millis = 100) @DefaultValue("5s") Duration confirmAfter,
      @DurationMin(seconds = 1) @DefaultValue("10s") Duration overdueAfter) {}

  /**
   * Pausing of expiry before an abnormal number of orders is cancelled.
   *
   * @param enabled whether the breaker may pause expiry
   * @param window over which registrations and cancellations are compared
   * @param maxRatio most cancellations for each registration within the window
   * @param minCancellations fewest cancellations within the window for their ratio to count
   * @param maxSilence longest time without any payment while orders come in
   * @param minRegistrations fewest orders that have to come in for the silence, and the ratio's
   *     metric, to count
   * @param moveDeadlines whether deadlines move by the length of the pause
   */
  public record CircuitBreaker(
      @DefaultValue("false") boolean enabled,
      @DurationMin(seconds = 10) @DurationMax(hours = 6) @DefaultValue("10m") Duration window,
      @DecimalMin("0") @DefaultValue("0.5") double maxRatio,
      @Min(1) @DefaultValue("100") int minCancellations,
      @DurationMin(seconds = 1) @DefaultValue("10m") Duration maxSilence,
      @Min(1) @DefaultValue("100") int minRegistrations,
      @DefaultValue("true") boolean moveDeadlines) {}

  /**
   * Who may look and who may change. Where tokens are accepted ({@code
   * spring.security.oauth2.resourceserver.jwt}), they alone say; elsewhere there are two users.
   *
   * @param operatorPassword password of the user operator, plain or as {bcrypt}…; if not set, one
   *     is generated and logged at the start
   * @param viewerPassword password of the user viewer, plain or as {bcrypt}…; if not set, there is
   *     no such user
   * @param rolesClaim claim of a token that lists its roles; a dot leads into an object
   * @param viewerRole role of those who may look
   * @param operatorRole role of those who may look and change
   * @param maxFailures failed log-ins of an address after which it has to wait
   * @param failuresWithin how long failed log-ins count, and an address has to wait
   */
  public record Access(
      @Nullable String operatorPassword,
      @Nullable String viewerPassword,
      @NotBlank @DefaultValue("roles") String rolesClaim,
      @NotBlank @DefaultValue("order-timeout-viewer") String viewerRole,
      @NotBlank @DefaultValue("order-timeout-operator") String operatorRole,
      @Min(1) @DefaultValue("10") int maxFailures,
      @DurationMin(seconds = 1) @DefaultValue("5m") Duration failuresWithin) {

    @Override
    public String toString() {
      return "Access[passwords not shown]";
    }
  }

  /**
   * Publishing of decided events.
   *
   * @param source CloudEvents source of the events
   * @param batchSize most events sent before their acknowledgements are awaited
   * @param queueCapacity most events kept in memory; what exceeds it waits in Postgres
   * @param sweepInterval pause between two searches for events left in Postgres
   */
  public record Outbox(
      @NotBlank @DefaultValue("/order-timeout") String source,
      @Min(1) @Max(50_000) @DefaultValue("1000") int batchSize,
      @Min(1) @Max(10_000_000) @DefaultValue("100000") int queueCapacity,
      @DurationMin(millis = 100) @DefaultValue("30s") Duration sweepInterval) {}
}
