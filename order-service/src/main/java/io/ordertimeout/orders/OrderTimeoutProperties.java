package io.ordertimeout.orders;

import jakarta.validation.Valid;
import jakarta.validation.constraints.DecimalMax;
import jakarta.validation.constraints.DecimalMin;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.hibernate.validator.constraints.time.DurationMax;
import org.hibernate.validator.constraints.time.DurationMin;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;
import org.springframework.validation.annotation.Validated;

/**
 * The configuration of the service under {@code order-timeout}. Connections are configured by
 * Spring Boot's {@code spring.kafka} and {@code spring.datasource}.
 *
 * @param topics the names of the topics, and whether missing ones are created
 * @param deadline how the payment deadline of an order is determined, and how long orders are kept
 * @param attempts how long payments that are under way keep their orders from being cancelled
 * @param intake how events are read
 * @param schemaRegistry where the schemas of events in Avro are
 * @param wheel the timing wheel that wakes due orders
 * @param expiry how due orders are decided
 * @param outbox how events are published
 * @param reconciler how the wheels are compared with Postgres
 * @param breaker when the circuit breaker pauses expiry
 * @param access who may read and who may make changes
 * @param api how many requests of the HTTP API are processed at the same time
 * @param audit how long the audit log is kept
 */
@Validated
@ConfigurationProperties(prefix = "order-timeout", ignoreUnknownFields = false)
public record OrderTimeoutProperties(
    @Valid @DefaultValue Topics topics,
    @Valid @DefaultValue Deadline deadline,
    @Valid @DefaultValue Attempts attempts,
    @Valid @DefaultValue Intake intake,
    @Valid @DefaultValue SchemaRegistry schemaRegistry,
    @Valid @DefaultValue Wheel wheel,
    @Valid @DefaultValue Expiry expiry,
    @Valid @DefaultValue Outbox outbox,
    @Valid @DefaultValue Reconciler reconciler,
    @Valid @DefaultValue CircuitBreaker breaker,
    @Valid @DefaultValue Access access,
    @Valid @DefaultValue Api api,
    @Valid @DefaultValue Audit audit) {

  /** Refuses events that could not be distinguished or decoded. */
  public OrderTimeoutProperties {
    boolean isAvro = intake.encodings().areAvro() || outbox.format() == OutgoingFormat.AVRO;
    if (isAvro && schemaRegistry.url() == null) {
      throw new IllegalArgumentException(
          "order-timeout.intake.encodings or order-timeout.outbox.format is avro, so"
              + " order-timeout.schema-registry.url has to be set");
    }
    if (!topics.areDistinct() && !intake.types().areUsed()) {
      throw new IllegalArgumentException(
          "order-timeout.topics.created is %s, .paid is %s, .closed is %s%s%s: they must differ, or order-timeout.intake.types must list the types of their events"
              .formatted(
                  topics.created(),
                  topics.paid(),
                  topics.closed(),
                  topics.haveAttempts() ? ", .attempts is " + topics.attempts() : "",
                  topics.haveChanges() ? ", .changed is " + topics.changed() : ""));
    }
    for (PaymentPolicy policy : deadline.policies()) {
      if (!policy.warnings().isEmpty() && !topics.haveWarnings()) {
        throw new IllegalArgumentException(
            "the policy '%s' states warnings, so order-timeout.topics.expiring has to be set"
                .formatted(policy.name()));
      }
      if (policy.confirm() != null && !topics.haveAttempts()) {
        throw new IllegalArgumentException(
            "the policy '%s' states confirm, so order-timeout.topics.attempts has to be set"
                .formatted(policy.name()));
      }
    }
    if (intake.types().areUsed()) {
      requireBoth("attempts", topics.attempts(), intake.types().attempts());
      requireBoth("changed", topics.changed(), intake.types().changed());
    }
  }

  private static void requireBoth(String name, String topic, Set<String> types) {
    if (topic.isEmpty() != types.isEmpty()) {
      throw new IllegalArgumentException(
          "order-timeout.topics.%1$s is %2$s, and order-timeout.intake.types.%1$s lists %3$s: set both, or neither"
              .formatted(
                  name, topic.isEmpty() ? "not set" : topic, types.isEmpty() ? "none" : types));
    }
  }

  /**
   * Topics.
   *
   * @param created input topic of created orders
   * @param paid input topic of payments; may be the same as that of created orders, if intake.types
   *     distinguishes them
   * @param closed input topic of orders closed elsewhere; may also be the same
   * @param attempts input topic of payment attempts, which keep their orders from being cancelled;
   *     may also be the same; empty, by default, if there are none
   * @param changed input topic of changes of pending orders, such as of their deadlines; may also
   *     be the same; empty, by default, if there are none
   * @param cancelled output topic of cancelled orders
   * @param conflict output topic of payments whose order was already cancelled or closed
   * @param expiring output topic of warnings, which precede cancellations; empty, by default, if
   *     none are published
   * @param deadLetterSuffix suffix that turns the name of an input topic into that of its
   *     dead-letter topic
   * @param createMissing whether topics that are missing at startup are created; if not, the
   *     startup fails
   * @param partitions number of partitions of a topic that the service creates; for the input
   *     topics, the number of shards
   * @param replicationFactor replication factor of a topic that the service creates; -1 for the
   *     broker's default
   */
  public record Topics(
      @NotBlank @DefaultValue("order-created") String created,
      @NotBlank @DefaultValue("order-paid") String paid,
      @NotBlank @DefaultValue("order-closed") String closed,
      @DefaultValue("") String attempts,
      @DefaultValue("") String changed,
      @NotBlank @DefaultValue("order-cancelled") String cancelled,
      @NotBlank @DefaultValue("order-payment-conflict") String conflict,
      @DefaultValue("") String expiring,
      @NotBlank @DefaultValue(".dlt") String deadLetterSuffix,
      @DefaultValue("false") boolean createMissing,
      @Min(1) @Max(10_000) @DefaultValue("6") int partitions,
      @Min(-1) @Max(Short.MAX_VALUE) @DefaultValue("-1") short replicationFactor) {

    /** The input topics, all of which have the same number of partitions. */
    public Set<String> inputs() {
      return Stream.concat(Stream.of(created), settling().stream())
          .collect(Collectors.toUnmodifiableSet());
    }

    /**
     * The settling topics: what is in them keeps orders from being cancelled, so a payment
     * watermark covers them.
     */
    public Set<String> settling() {
      return Stream.of(paid, closed, attempts, changed)
          .filter(topic -> !topic.isEmpty())
          .collect(Collectors.toUnmodifiableSet());
    }

    /** Whether the topic is a settling one. */
    public boolean settles(String topic) {
      return settling().contains(topic);
    }

    /** The output topics. */
    public List<String> outputs() {
      return Stream.of(cancelled, conflict, expiring).filter(topic -> !topic.isEmpty()).toList();
    }

    /** Whether there is a topic of warnings. */
    public boolean haveWarnings() {
      return !expiring.isEmpty();
    }

    /** Whether there is a topic of payment attempts. */
    public boolean haveAttempts() {
      return !attempts.isEmpty();
    }

    /** Whether there is a topic of changes. */
    public boolean haveChanges() {
      return !changed.isEmpty();
    }

    private boolean areDistinct() {
      List<String> all = List.of(created, paid, closed, attempts, changed);
      return inputs().size() == all.stream().filter(topic -> !topic.isEmpty()).count();
    }

    /** The name of the dead-letter topic of an input topic. */
    public String deadLetters(String input) {
      return input + deadLetterSuffix;
    }
  }

  /**
   * Payment deadlines.
   *
   * @param defaultTimeout time to pay, from the creation of the order, if the order states none and
   *     no policy matches
   * @param maxTimeout longest accepted time from creation to deadline; an order with a later
   *     deadline is a dead letter
   * @param staleAfter how far a deadline may be in the past when its order is first read; beyond
   *     it, the order is recorded as closed and not cancelled
   * @param retention how long settled orders are kept after both their decision and their deadline
   *     before they are purged; they are kept for stale-after at least
   * @param purgeInterval pause between two purges of settled orders and of what is over
   * @param holidays days that are no business days, such as 2026-12-25, besides Saturdays and
   *     Sundays
   * @param policies deadlines by channel, payment method and amount; the first policy that matches
   *     applies
   */
  public record Deadline(
      @DurationMin(seconds = 1) @DurationMax(days = 36_500) @DefaultValue("15m")
          Duration defaultTimeout,
      @DurationMin(seconds = 1) @DurationMax(days = 36_500) @DefaultValue("400d")
          Duration maxTimeout,
      @DurationMin(seconds = 0) @DurationMax(days = 36_500) @DefaultValue("24h")
          Duration staleAfter,
      @DurationMin(hours = 1) @DurationMax(days = 36_500) @DefaultValue("7d") Duration retention,
      @DurationMin(seconds = 1) @DurationMax(days = 36_500) @DefaultValue("1m")
          Duration purgeInterval,
      @DefaultValue Set<LocalDate> holidays,
      @DefaultValue List<@Valid PaymentPolicy> policies) {

    /** How much a shop's clock may be ahead of Postgres's clock. */
    public static final Duration CLOCK_TOLERANCE = Duration.ofDays(1);

    /**
     * Refuses timeouts that no order can have, and a policy that no order can get, because an
     * earlier one matches first.
     */
    public Deadline {
      if (defaultTimeout.compareTo(maxTimeout) > 0) {
        throw new IllegalArgumentException(
            "order-timeout.deadline.default-timeout, %s, is longer than max-timeout, %s: every order without another deadline would be a dead letter"
                .formatted(defaultTimeout, maxTimeout));
      }
      for (int i = 0; i < policies.size(); i++) {
        PaymentPolicy policy = policies.get(i);
        if (policy.shortest().compareTo(maxTimeout) > 0) {
          throw new IllegalArgumentException(
              "order-timeout.deadline.policies[%s] ('%s') gives more time to pay than max-timeout, %s: every order of it would be a dead letter"
                  .formatted(i, policy.name(), maxTimeout));
        }
        for (PaymentPolicy earlier : policies.subList(0, i)) {
          if (earlier.covers(policy)) {
            throw new IllegalArgumentException(
                "order-timeout.deadline.policies[%s] ('%s') never applies: '%s', which is before it, matches the same orders, in upper or lower case"
                    .formatted(i, policy.name(), earlier.name()));
          }
        }
      }
    }

    /** The longest time from the intake of an order to its deadline. */
    public Duration longestWait() {
      return maxTimeout.plus(CLOCK_TOLERANCE);
    }
  }

  /**
   * Payment attempts. While one is under way, its order is not cancelled.
   *
   * @param hold how long an attempt is under way that does not state until when
   * @param cap how long after its deadline attempts keep an order from being cancelled, at most
   */
  public record Attempts(
      @DurationMin(seconds = 1) @DurationMax(days = 365) @DefaultValue("30m") Duration hold,
      @DurationMin(seconds = 0) @DurationMax(days = 365) @DefaultValue("2h") Duration cap) {}

  /**
   * The intake of events.
   *
   * @param groupId consumer group whose members share the shards
   * @param groupProtocol rebalance protocol: consumer (requires brokers 4.0 or later) or classic
   * @param instanceId unique name of this instance in the consumer group, stable across restarts
   *     (static membership): while the instance restarts, its shards are not reassigned; not set by
   *     default
   * @param leaveOnStop whether an instance with such a name gives up its shards when it is stopped,
   *     so that others take over immediately; after a crash, they wait for it nevertheless
   * @param threads number of consumer threads of this instance
   * @param batchSize maximum number of records stored in one transaction
   * @param coordinatorTimeout how long the coordinator of the consumer group may fail, although
   *     brokers answer, before the instances move to the next generation of the group
   * @param advanceGeneration whether the instances move to the next generation of the group
   *     automatically; if not, an operator has to call the API
   * @param unusableLimit the highest share of unusable records, of a topic's last hundred or of a
   *     batch, that become dead letters; above it, the topic is not read on until an operator
   *     permits it or the records can be used; 1 for no limit
   * @param encodings how the values of each topic are encoded
   * @param deserializer what the classes among the encodings need
   * @param formats how the values of each topic contain their events
   * @param zones the zones of times that are stated without one
   * @param types how an event's type is determined, if not by its topic
   * @param fields names of the fields of the incoming events
   */
  public record Intake(
      @NotBlank @DefaultValue("order-timeout") String groupId,
      @DefaultValue("consumer") GroupProtocol groupProtocol,
      @Nullable String instanceId,
      @DefaultValue("false") boolean leaveOnStop,
      @Min(1) @Max(64) @DefaultValue("1") int threads,
      @Min(1) @Max(50_000) @DefaultValue("2000") int batchSize,
      @DurationMin(seconds = 10) @DurationMax(days = 36_500) @DefaultValue("60s")
          Duration coordinatorTimeout,
      @DefaultValue("true") boolean advanceGeneration,
      @DecimalMin("0") @DecimalMax("1") @DefaultValue("0.5") double unusableLimit,
      @Valid @DefaultValue Encodings encodings,
      @Valid @DefaultValue Deserializer deserializer,
      @Valid @DefaultValue Formats formats,
      @DefaultValue Zones zones,
      @Valid @DefaultValue Types types,
      @Valid @DefaultValue Fields fields) {}

  /**
   * The encodings of the values in the input topics.
   *
   * @param created encoding of the topic of created orders: json, avro, or the name of a class that
   *     implements Kafka's Deserializer
   * @param paid encoding of the topic of payments, if it is another one
   * @param closed encoding of the topic of orders closed elsewhere, if it is another one
   * @param attempts encoding of the topic of payment attempts, if it is another one
   * @param changed encoding of the topic of changes, if it is another one
   */
  public record Encodings(
      @NotBlank @DefaultValue(Encodings.JSON) String created,
      @NotBlank @DefaultValue(Encodings.JSON) String paid,
      @NotBlank @DefaultValue(Encodings.JSON) String closed,
      @NotBlank @DefaultValue(Encodings.JSON) String attempts,
      @NotBlank @DefaultValue(Encodings.JSON) String changed) {

    /** Values in JSON. */
    public static final String JSON = "json";

    /** Values in Avro, each after the id of its schema in the schema registry. */
    public static final String AVRO = "avro";

    private boolean areAvro() {
      return List.of(created, paid, closed, attempts, changed).contains(AVRO);
    }
  }

  /**
   * What Deserializers of the shop need.
   *
   * @param properties settings of the classes among the encodings
   * @param libraries directory with the jars of the classes among the encodings, if these are not
   *     on the class path
   */
  public record Deserializer(
      @DefaultValue Map<String, String> properties, @Nullable Path libraries) {

    @Override
    public String toString() {
      return "Deserializer[properties hidden, libraries=" + libraries + "]";
    }
  }

  /**
   * A schema registry with Confluent's API.
   *
   * @param url address of the schema registry, for example http://registry:8081, or with the path
   *     /apis/ccompat/v7 for Apicurio
   * @param username user, if the schema registry requires a log-in
   * @param password password of that user
   * @param timeout time within which the schema registry has to answer
   */
  public record SchemaRegistry(
      @Nullable String url,
      @Nullable String username,
      @Nullable String password,
      @DurationMin(millis = 1) @DurationMax(minutes = 1) @DefaultValue("5s") Duration timeout) {

    /** Refuses what no request can be sent to. */
    public SchemaRegistry {
      if (url != null && !isUsable(url)) {
        throw new IllegalArgumentException(
            "order-timeout.schema-registry.url is not an http or https URL without a user. It is not"
                + " printed, because it may contain a password");
      }
      if ((username == null) != (password == null)) {
        throw new IllegalArgumentException(
            "order-timeout.schema-registry.username and .password have to be set together");
      }
    }

    private static boolean isUsable(String url) {
      try {
        URI uri = new URI(url);
        return Set.of("http", "https").contains(String.valueOf(uri.getScheme()))
            && uri.getHost() != null
            && uri.getUserInfo() == null
            && uri.getQuery() == null;
      } catch (URISyntaxException e) {
        return false;
      }
    }

    @Override
    public String toString() {
      return "SchemaRegistry[url=" + url + ", password hidden]";
    }
  }

  /**
   * The formats of the input topics.
   *
   * @param created format of the topic of created orders: plain, cloudevents, debezium or outbox
   * @param paid format of the topic of payments, if it is another one
   * @param closed format of the topic of orders closed elsewhere, if it is another one
   * @param attempts format of the topic of payment attempts, if it is another one
   * @param changed format of the topic of changes, if it is another one
   */
  public record Formats(
      @DefaultValue("plain") Format created,
      @DefaultValue("plain") Format paid,
      @DefaultValue("plain") Format closed,
      @DefaultValue("plain") Format attempts,
      @DefaultValue("plain") Format changed) {}

  /**
   * The zones of times that the input topics state without one, such as those of columns of type
   * timestamp or DATETIME. Without a zone, such a time is unusable.
   *
   * @param created zone of local times in the topic of created orders, such as America/Los_Angeles,
   *     -08:00 or UTC; without one, an order with such a time is a dead letter
   * @param paid zone of local times in the topic of payments; without one, such a time is replaced
   * @param closed zone of local times in the topic of orders closed elsewhere; without one, such a
   *     time is replaced
   * @param attempts zone of local times in the topic of payment attempts; without one, an attempt
   *     with such a time is under way for attempts.hold
   * @param changed zone of local times in the topic of changes; without one, a change with such a
   *     time is a dead letter, and its order is parked
   */
  public record Zones(
      @Nullable ZoneId created,
      @Nullable ZoneId paid,
      @Nullable ZoneId closed,
      @Nullable ZoneId attempts,
      @Nullable ZoneId changed) {}

  /** How a record contains its event. */
  public enum Format {
    /** The value is the event. */
    PLAIN,
    /** CloudEvents, structured or binary; their data is the event. */
    CLOUDEVENTS,
    /** A change of a table, as Debezium publishes it; the new row is the event. */
    DEBEZIUM,
    /** Debezium's outbox event router; the payload is the event, as JSON or as text with JSON. */
    OUTBOX
  }

  /**
   * The types of events, for topics with several. If any are listed, the type of every event is
   * looked up in these lists, and its topic does not matter.
   *
   * @param from where the type is: a field or JSON Pointer of the event, or header: and the name of
   *     a header; by default, where the format has it
   * @param created types of created orders
   * @param paid types of payments
   * @param closed types of orders closed elsewhere
   * @param attempts types of payment attempts
   * @param changed types of changes
   * @param ignored types that do not matter, or * for all others; an event of any other type is a
   *     dead letter, and its order is not cancelled, because it may have been paid
   */
  public record Types(
      @Nullable String from,
      @DefaultValue Set<String> created,
      @DefaultValue Set<String> paid,
      @DefaultValue Set<String> closed,
      @DefaultValue Set<String> attempts,
      @DefaultValue Set<String> changed,
      @DefaultValue Set<String> ignored) {

    /** Refuses types that are listed more than once. */
    public Types {
      Set<String> seen = new HashSet<>();
      for (Set<String> listed : List.of(created, paid, closed, attempts, changed, ignored)) {
        for (String type : listed) {
          if (!seen.add(type)) {
            throw new IllegalArgumentException(
                "order-timeout.intake.types lists %s for more than one event".formatted(type));
          }
        }
      }
    }

    /** Whether events are distinguished by type instead of by topic. */
    public boolean areUsed() {
      return Stream.of(created, paid, closed, attempts, changed).anyMatch(l -> !l.isEmpty());
    }
  }

  /** Kafka's rebalance protocols. */
  public enum GroupProtocol {
    /** The protocol of KIP-848, for brokers 4.0 or later. */
    CONSUMER,
    /** The protocol that every broker supports. */
    CLASSIC
  }

  /**
   * The location of each value in an event: the name of a top-level field or, with a leading slash,
   * a JSON Pointer (RFC 6901).
   *
   * @param orderId field of the order's id, in every event
   * @param createdAt field of the time when the order was created
   * @param payBy field of the payment deadline, as an instant
   * @param timeout field of the time to pay, as a duration from the creation
   * @param channel field of the sales channel
   * @param paymentMethod field of the payment method
   * @param amount field of the amount, an object with the fields value and currency
   * @param currency field of the amount's currency, if the amount is a number or text; not set by
   *     default
   * @param paymentId field of the payment's id
   * @param paidAt field of the time when the payment was made
   * @param closedAt field of the time when the order was closed
   * @param reason field of the reason why the order was closed
   * @param attemptId field of the id of a payment attempt
   * @param status field of its status, STARTED or ENDED
   * @param until field of the time until which it is under way
   * @param changedAt field of the time when an order was changed
   * @param policy field of the name of the policy that applies to a changed order from then on
   */
  public record Fields(
      @NotBlank @DefaultValue("orderId") String orderId,
      @NotBlank @DefaultValue("createdAt") String createdAt,
      @NotBlank @DefaultValue("payBy") String payBy,
      @NotBlank @DefaultValue("timeout") String timeout,
      @NotBlank @DefaultValue("channel") String channel,
      @NotBlank @DefaultValue("paymentMethod") String paymentMethod,
      @NotBlank @DefaultValue("amount") String amount,
      @Nullable String currency,
      @NotBlank @DefaultValue("paymentId") String paymentId,
      @NotBlank @DefaultValue("paidAt") String paidAt,
      @NotBlank @DefaultValue("closedAt") String closedAt,
      @NotBlank @DefaultValue("reason") String reason,
      @NotBlank @DefaultValue("attemptId") String attemptId,
      @NotBlank @DefaultValue("status") String status,
      @NotBlank @DefaultValue("until") String until,
      @NotBlank @DefaultValue("changedAt") String changedAt,
      @NotBlank @DefaultValue("policy") String policy) {}

  /**
   * The timing wheel.
   *
   * @param tick resolution of the wheel; an order is woken at most one tick after its deadline
   * @param loadPage number of orders read from Postgres per query while a shard is rebuilt
   */
  public record Wheel(
      @DurationMin(millis = 1) @DurationMax(hours = 1) @DefaultValue("10ms") Duration tick,
      @Min(1) @Max(1_000_000) @DefaultValue("10000") int loadPage) {}

  /**
   * The decision on due orders.
   *
   * @param threads number of threads that decide batches of due orders
   * @param batchSize maximum number of orders decided in one statement
   * @param retryDelay pause after a failed decision or a failed request for the payment watermark
   * @param settlementGrace how long after its deadline an order is not cancelled yet, to allow for
   *     payments that take time to reach Kafka
   * @param maxRate maximum number of orders that this instance decides per second, to spread the
   *     backlog after an outage; 0 for no limit
   * @param watermarkScope which payments must be read before an order is cancelled: those of its
   *     shard, until one turns out to be in another partition than its order, or those of all
   *     shards from the start (for producers that partition differently, or by other keys than the
   *     order id)
   * @param afterOutage how orders are treated whose deadline passed during an outage
   * @param outageAfter how long a shard must be without Kafka, Postgres or an owner to count as an
   *     outage
   */
  public record Expiry(
      @Min(1) @Max(64) @DefaultValue("4") int threads,
      @Min(1) @Max(50_000) @DefaultValue("1000") int batchSize,
      @DurationMin(millis = 1) @DurationMax(days = 36_500) @DefaultValue("500ms")
          Duration retryDelay,
      @DurationMin(seconds = 0) @DurationMax(days = 365) @DefaultValue("0s")
          Duration settlementGrace,
      @Min(0) @Max(10_000_000) @DefaultValue("0") int maxRate,
      @DefaultValue("shard") WatermarkScope watermarkScope,
      @DefaultValue("cancel-now") AfterOutage afterOutage,
      @DurationMin(seconds = 10) @DurationMax(days = 36_500) @DefaultValue("1m")
          Duration outageAfter) {}

  /** The payments that the payment watermark covers. */
  public enum WatermarkScope {
    /** Payments in the partition with the same number as the order's. */
    SHARD,
    /**
     * Payments in all partitions; a single unreadable partition delays the expiry of all orders.
     */
    ALL
  }

  /** The treatment of due orders after an outage of this service, of Kafka or of Postgres. */
  public enum AfterOutage {
    /** Due orders are cancelled, unless the backlog contains their payment. */
    CANCEL_NOW,
    /** Each deadline moves by the part of the outage during which its order existed. */
    EXTEND_BY_OUTAGE
  }

  /**
   * The comparison of the wheels with Postgres.
   *
   * @param interval pause between two comparisons of the owned shards
   * @param confirmAfter how long a difference must persist before it is repaired; must exceed the
   *     time that any change takes from Postgres to the wheel
   * @param overdueAfter how long after its deadline a pending order counts as overdue
   */
  public record Reconciler(
      @DurationMin(seconds = 1) @DurationMax(days = 36_500) @DefaultValue("5m") Duration interval,
      @DurationMin(millis = 100) @DurationMax(days = 36_500) @DefaultValue("5s")
          Duration confirmAfter,
      @DurationMin(seconds = 1) @DurationMax(days = 36_500) @DefaultValue("10s")
          Duration overdueAfter) {}

  /**
   * The circuit breaker, which pauses expiry before an abnormal number of orders is cancelled.
   *
   * @param enabled whether the circuit breaker may pause expiry
   * @param window time window in which cancellations are compared with created orders
   * @param maxRatio maximum ratio of cancellations to created orders in the window
   * @param minCancellations minimum number of cancellations in the window for the ratio to be
   *     checked
   * @param maxSilence longest time without any payment while orders are created
   * @param minRegistrations minimum number of created orders for the silence to be checked and for
   *     the ratio's metric to have a value
   * @param moveDeadlines whether deadlines move by the length of the circuit breaker's pause
   */
  public record CircuitBreaker(
      @DefaultValue("false") boolean enabled,
      @DurationMin(seconds = 10) @DurationMax(hours = 6) @DefaultValue("10m") Duration window,
      @DecimalMin("0") @DecimalMax("1000000") @DefaultValue("0.5") double maxRatio,
      @Min(1) @DefaultValue("100") int minCancellations,
      @DurationMin(seconds = 1) @DurationMax(days = 36_500) @DefaultValue("10m")
          Duration maxSilence,
      @Min(1) @DefaultValue("100") int minRegistrations,
      @DefaultValue("true") boolean moveDeadlines) {}

  /**
   * Access to the HTTP API. The users {@code operator} and {@code viewer} exist only if the service
   * neither accepts tokens ({@code spring.security.oauth2.resourceserver.jwt}) nor uses an identity
   * provider ({@code spring.security.oauth2.client}).
   *
   * @param operatorPassword password of the user operator, in plain text or as {bcrypt}…; if not
   *     set, one is generated and logged at startup
   * @param viewerPassword password of the user viewer, in plain text or as {bcrypt}…; if not set,
   *     this user does not exist
   * @param rolesClaim claim that lists the roles of a token or user; a dot separates the names of
   *     nested objects
   * @param viewerRole role that may read
   * @param operatorRole role that may read and make changes
   * @param maxFailures number of failed log-ins that a user may have from an address before further
   *     ones are rejected
   * @param failuresWithin time in which that number of failed log-ins is regained, one after the
   *     other
   * @param maxBodySize size of the largest request body that is read
   * @param bodyTimeout time within which the body of a request has to arrive
   */
  public record Access(
      @Nullable String operatorPassword,
      @Nullable String viewerPassword,
      @NotBlank @DefaultValue("roles") String rolesClaim,
      @NotBlank @DefaultValue("order-timeout-viewer") String viewerRole,
      @NotBlank @DefaultValue("order-timeout-operator") String operatorRole,
      @Min(1) @DefaultValue("10") int maxFailures,
      @DurationMin(seconds = 1) @DurationMax(days = 36_500) @DefaultValue("5m")
          Duration failuresWithin,
      @DefaultValue("8MB") DataSize maxBodySize,
      @DurationMin(millis = 100) @DurationMax(hours = 1) @DefaultValue("10s")
          Duration bodyTimeout) {

    @Override
    public String toString() {
      return "Access[passwords hidden]";
    }
  }

  /**
   * The HTTP API.
   *
   * @param maxConcurrentRequests maximum number of requests that read Postgres at the same time,
   *     each of them by one connection, and as many that make changes; further ones wait for up to
   *     5 s
   */
  public record Api(@Min(1) @Max(1_000) @DefaultValue("4") int maxConcurrentRequests) {}

  /**
   * The audit log.
   *
   * @param retention how long the audit log is kept; pauses, holds and outages that are over are
   *     kept as long, and longer if a pending order may have been open at the time
   */
  public record Audit(
      @DurationMin(days = 1) @DurationMax(days = 36_500) @DefaultValue("400d")
          Duration retention) {}

  /** How records contain CloudEvents. */
  public enum OutgoingFormat {
    /** The attributes are headers, and the value is the data. */
    BINARY,
    /** The value has the attributes and the data. */
    STRUCTURED,
    /** As in the binary mode, but the value is in Avro. */
    AVRO
  }

  /**
   * The publication of events.
   *
   * @param source CloudEvents source of the events
   * @param format where a record has the attributes of its CloudEvent: in headers (binary), or
   *     around the data in its value (structured); or in headers, with the data in Avro (avro)
   * @param batchSize maximum number of publications that are recorded in one statement; ten times
   *     as many events of a topic partition may be sent and not acknowledged
   * @param queueCapacity maximum number of unpublished events in memory; further ones wait in
   *     Postgres
   * @param sweepInterval pause between two searches for unpublished events in Postgres
   */
  public record Outbox(
      @NotBlank @DefaultValue("/order-timeout") String source,
      @DefaultValue("binary") OutgoingFormat format,
      @Min(1) @Max(50_000) @DefaultValue("1000") int batchSize,
      @Min(1) @Max(10_000_000) @DefaultValue("100000") int queueCapacity,
      @DurationMin(millis = 100) @DurationMax(days = 36_500) @DefaultValue("30s")
          Duration sweepInterval) {}
}
