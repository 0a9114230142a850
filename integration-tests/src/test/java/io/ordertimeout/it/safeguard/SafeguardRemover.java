package io.ordertimeout.it.safeguard;

import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Interceptors;
import io.ordertimeout.it.support.Shop;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanPostProcessor;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Removes and restores safeguards while the service runs, by changing its statements and its calls
 * of Kafka. A removal that never took effect fails the test.
 */
final class SafeguardRemover {

  /** Identifies the statement that cancels orders. */
  static final String DECISION = "set state = 'CANCELLED'";

  private static final String REGISTRATION = "created_at is null";
  private static final String STORE = "insert into order_deadline";
  private static final Pattern LOOKUP_BY_ORDER_ID =
      Pattern.compile("where (\\w\\.)?order_id = any\\(\\?::text\\[]\\)\\s*$");

  private final @Nullable Database database;
  private final String closedTopic;
  private final Set<Safeguard> removed = ConcurrentHashMap.newKeySet();
  private final Set<Safeguard> effective = ConcurrentHashMap.newKeySet();
  private final AtomicReference<@Nullable IllegalStateException> failure = new AtomicReference<>();

  /**
   * Creates a remover that has removed nothing yet.
   *
   * @param database only needed for {@link Safeguard#POSTGRES_POSITIONS_WITH_STORE}
   * @param closedTopic the topic of closures
   */
  SafeguardRemover(@Nullable Database database, String closedTopic) {
    this.database = database;
    this.closedTopic = closedTopic;
  }

  /** Removes safeguards until {@link #restoreAll}. */
  void remove(Safeguard... safeguards) {
    removed.addAll(List.of(safeguards));
  }

  /** Waits until the removal of a safeguard has taken effect. */
  void awaitEffect(Safeguard safeguard) {
    await("an effect of the removal of " + safeguard).until(() -> effective.contains(safeguard));
  }

  /** Restores one safeguard, which must have been removed effectively. */
  void restore(Safeguard safeguard) {
    removed.remove(safeguard);
    requireEffective(EnumSet.of(safeguard));
  }

  /**
   * Restores all safeguards.
   *
   * @throws IllegalStateException if a removal had no effect
   */
  void restoreAll() {
    Set<Safeguard> all = EnumSet.noneOf(Safeguard.class);
    all.addAll(removed);
    removed.clear();
    requireEffective(all);
  }

  private void requireEffective(Set<Safeguard> safeguards) {
    IllegalStateException thrown = failure.getAndSet(null);
    if (thrown != null) {
      throw thrown;
    }
    for (Safeguard safeguard : safeguards) {
      if (!effective.remove(safeguard)) {
        throw new IllegalStateException("the removal of " + safeguard + " had no effect");
      }
    }
  }

  /** Returns whether a safeguard is removed where it is about to take effect. */
  boolean isRemoved(Safeguard safeguard) {
    if (removed.contains(safeguard)) {
      effective.add(safeguard);
      return true;
    }
    return false;
  }

  /** The interceptors, to be installed within all others. */
  List<BeanPostProcessor> interceptors() {
    return List.of(
        StatementInterceptor.install(new Statements()),
        Interceptors.beans(Admin.class, this::onAdmin),
        Interceptors.producers(this::onProducer),
        Interceptors.consumers(this::onConsumer));
  }

  /** The interceptors to be installed around all others. */
  List<BeanPostProcessor> outermostInterceptors() {
    return List.of(Interceptors.producers(this::onSend));
  }

  private final class Statements implements StatementInterceptor {

    private volatile @Nullable SQLException rejection;

    @Override
    public String rewrite(String sql) {
      String rewritten = sql;
      for (Safeguard safeguard : removed) {
        if (safeguard.isIn(sql) && isRemoved(safeguard)) {
          rewritten = without(safeguard, rewritten);
        }
      }
      if (sql.contains(REGISTRATION) && isRemoved(Safeguard.ARMING_OF_REGISTERED)) {
        rewritten = "with registered as (" + rewritten + ") select * from registered where false";
      } else if (LOOKUP_BY_ORDER_ID.matcher(sql).find()
          && removed.contains(Safeguard.ARMING_OF_REGISTERED)) {
        rewritten = rewritten.stripTrailing() + " and state <> 'PENDING'";
      }
      return rewritten;
    }

    private String without(Safeguard safeguard, String sql) {
      try {
        return safeguard.removedFrom(sql);
      } catch (IllegalStateException e) {
        failure.set(e);
        throw e;
      }
    }

    @Override
    public void before(String sql, Connection connection) throws SQLException {
      if (sql.contains("with raised as") && isRemoved(Safeguard.CONFLICT_DEDUPLICATION)) {
        execute(connection, "delete from outbox where payment_id <> ''");
      }
      SQLException earlier = rejection;
      if (earlier != null && sql.contains(STORE)) {
        throw earlier;
      }
    }

    /** Without isolation, what is rejected once is rejected with every row of its batch. */
    @Override
    public void failed(String sql, SQLException failure) {
      if (sql.contains(STORE) && isRemoved(Safeguard.ISOLATION_OF_REJECTED_ROWS)) {
        rejection = failure;
      }
    }

    @Override
    public void after(String sql, Connection connection) throws SQLException {
      if (sql.contains(DECISION) && isRemoved(Safeguard.OUTBOX)) {
        execute(connection, "delete from outbox where payment_id = ''");
      }
      if (sql.contains("update intake_position")) {
        rejection = null;
      }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
      try (Statement statement = connection.createStatement()) {
        statement.executeUpdate(sql);
      }
    }
  }

  /** Without the gate, the topics end where they begin, so there is nothing to wait for. */
  @SuppressWarnings("unchecked")
  private @Nullable Object onAdmin(MethodInvocation call) throws Throwable {
    if (call.getMethod().getName().equals("listOffsets")) {
      Map<TopicPartition, OffsetSpec> asked =
          new HashMap<>((Map<TopicPartition, OffsetSpec>) call.getArguments()[0]);
      asked.replaceAll(
          (partition, end) -> isIgnored(partition.topic()) ? OffsetSpec.earliest() : end);
      call.getArguments()[0] = asked;
    }
    return call.proceed();
  }

  private boolean isIgnored(String topic) {
    return isRemoved(Safeguard.WATERMARK_GATE)
        || (topic.equals(closedTopic) && isRemoved(Safeguard.CLOSINGS_IN_ENDS));
  }

  /** Without the acknowledgement, whatever happens to a record counts as its publication. */
  private @Nullable Object onSend(MethodInvocation call) throws Throwable {
    Object[] arguments = call.getArguments();
    if (call.getMethod().getName().equals("send") && isRemoved(Safeguard.ACKNOWLEDGEMENT)) {
      ProducerRecord<?, ?> record = (ProducerRecord<?, ?>) arguments[0];
      Callback callback = (Callback) arguments[1];
      RecordMetadata unknown =
          new RecordMetadata(
              new TopicPartition(record.topic(), RecordMetadata.UNKNOWN_PARTITION),
              -1,
              -1,
              -1,
              -1,
              -1);
      arguments[1] =
          (Callback)
              (metadata, failure) ->
                  callback.onCompletion(failure == null ? metadata : unknown, null);
    }
    return call.proceed();
  }

  private @Nullable Object onProducer(MethodInvocation call) throws Throwable {
    Object[] arguments = call.getArguments();
    if (call.getMethod().getName().equals("send")
        && arguments[0] instanceof ProducerRecord<?, ?> record
        && record.headers().lastHeader("ce_id") != null
        && isRemoved(Safeguard.STABLE_EVENT_IDS)) {
      String eventId = UUID.randomUUID().toString();
      ObjectNode body =
          (ObjectNode)
              JsonMapper.shared().readTree((byte[]) Objects.requireNonNull(record.value()));
      body.put("eventId", eventId);
      record.headers().remove("ce_id").add("ce_id", Shop.utf8(eventId));
      arguments[0] =
          new ProducerRecord<>(
              record.topic(),
              record.partition(),
              (Object) record.key(),
              (Object) JsonMapper.shared().writeValueAsBytes(body),
              record.headers());
    }
    return call.proceed();
  }

  /** Records positions as soon as records are read, before they are stored. */
  private @Nullable Object onConsumer(MethodInvocation call) throws Throwable {
    Object result = call.proceed();
    Consumer<?, ?> consumer = (Consumer<?, ?>) Objects.requireNonNull(call.getThis());
    // A consumer without a subscription is none of the intake's.
    if (result instanceof ConsumerRecords<?, ?> records
        && !records.isEmpty()
        && !consumer.subscription().isEmpty()) {
      Map<TopicPartition, OffsetAndMetadata> next = records.nextOffsets();
      if (isRemoved(Safeguard.KAFKA_COMMIT_AFTER_STORE)) {
        consumer.commitSync(next);
      }
      if (isRemoved(Safeguard.POSTGRES_POSITIONS_WITH_STORE)) {
        next.forEach(this::advancePosition);
      }
    }
    return result;
  }

  private void advancePosition(TopicPartition partition, OffsetAndMetadata next) {
    Objects.requireNonNull(database)
        .execute(
            """
        update intake_position set next_offset = greatest(next_offset, ?)
        where topic = ? and partition = ?
        """,
            next.offset(),
            partition.topic(),
            partition.partition());
  }
}
