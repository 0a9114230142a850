package io.ordertimeout.it.safeguard;

import static io.ordertimeout.it.safeguard.Statements.rewritten;
import static io.ordertimeout.it.safeguard.Statements.with;
import static io.ordertimeout.it.safeguard.Statements.without;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Interceptors;
import io.ordertimeout.it.support.Shop;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.BiConsumer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Each safeguard, as what is to be put under the service for it to be without. */
final class Without {

  /** In the statement that decides, and in no other. */
  static final String DECISION = "select 'ORDER_CANCELLED'";

  private static final String REGISTRATION = "where d.created_at is null";

  private Without() {}

  /** The payments end where they begin: there is none to wait for. */
  static BeanPostProcessor theGate() {
    return Interceptors.beans(
        Admin.class,
        call -> {
          Object[] arguments = call.getArguments();
          if (call.getMethod().getName().equals("listOffsets")) {
            Map<Object, OffsetSpec> begins = new HashMap<>();
            ((Map<?, ?>) arguments[0]).keySet().forEach(p -> begins.put(p, OffsetSpec.earliest()));
            arguments[0] = begins;
          }
          return call.proceed();
        });
  }

  /** Cancels whatever state the order is in. */
  static BeanPostProcessor theGuardOfTheDecision() {
    return rewritten(
        DECISION, without("and state = 'PENDING'").andThen(without("and d.state = 'PENDING'")));
  }

  /** Settles whatever state the order is in. */
  static BeanPostProcessor theGuardOfTheSettling() {
    return rewritten("close_reason = excluded.close_reason", without("where d.state = 'PENDING'"));
  }

  /** Registers an order anew that is known. */
  static BeanPostProcessor theGuardOfTheRegistration() {
    return rewritten(REGISTRATION, without(REGISTRATION));
  }

  /** Leaves it to the gate to wait for payments. */
  static BeanPostProcessor theWatermarkInTheDecision() {
    return rewritten(DECISION, with("greatest(?::timestamptz, 'infinity')", "?::timestamptz"));
  }

  /** Trusts the instance's clock alone. */
  static BeanPostProcessor postgresClockInTheDecision() {
    return rewritten(DECISION, with("?::timestamptz", "least(?::timestamptz, clock_timestamp())"));
  }

  /** Decides, and has the event in memory alone. */
  static BeanPostProcessor theOutbox() {
    return rewritten(
        DECISION,
        sql ->
            sql.substring(0, sql.indexOf("insert into outbox"))
                + """
                select
                  -row_number() over () as id, 'ORDER_CANCELLED' as kind, order_id,
                  '' as payment_id, shard, created_at, deadline, decided_at as cancelled_at,
                  null::timestamptz as paid_at, null as traceparent,
                  clock_timestamp() as written_at
                from cancelled
                """);
  }

  /** Every publication under an id of its own. */
  static BeanPostProcessor stableEventIds() {
    return Interceptors.beans(
        Producer.class,
        call -> {
          Object[] arguments = call.getArguments();
          if (call.getMethod().getName().equals("send")) {
            ProducerRecord<?, ?> record = (ProducerRecord<?, ?>) arguments[0];
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
        });
  }

  /** Raises a conflict whenever a payment comes, be it the same. */
  static BeanPostProcessor oneConflictAPayment() {
    return rewritten(
        "insert into payment_conflict",
        sql ->
            sql.replaceFirst(
                "insert into payment_conflict[^)]*\\)\\s*"
                    + "(select order_id, payment_id, paid_at from incoming)"
                    + "[^)]*returning order_id, payment_id, paid_at",
                "$1"));
  }

  /** Commits to Kafka what was read before it is stored. */
  static BeanPostProcessor kafkasCommitAfterTheStore() {
    return onceRead((consumer, next) -> consumer.commitSync(next));
  }

  /** Notes in Postgres what was read before it is stored. */
  static BeanPostProcessor postgresPositionsWithTheStore(Database database) {
    return onceRead(
        (consumer, next) ->
            next.forEach(
                (partition, offset) ->
                    database.execute(
                        """
                        update intake_position set next_offset = greatest(next_offset, ?)
                        where topic = ? and partition = ?
                        """,
                        offset.offset(),
                        partition.topic(),
                        partition.partition())));
  }

  private static BeanPostProcessor onceRead(
      BiConsumer<Consumer<?, ?>, Map<TopicPartition, OffsetAndMetadata>> ahead) {
    return Interceptors.consumers(
        call -> {
          Object result = call.proceed();
          if (result instanceof ConsumerRecords<?, ?> records && !records.isEmpty()) {
            ahead.accept(
                (Consumer<?, ?>) Objects.requireNonNull(call.getThis()), records.nextOffsets());
          }
          return result;
        });
  }

  /** Forgets the orders that the decision left pending. */
  static BeanPostProcessor armingAgain() {
    return rewritten(
        "state = 'PENDING' and not exists (select from parked_order",
        with("false and", "state = 'PENDING' and"));
  }

  /** Stores orders and arms none of them, neither the new nor those delivered again. */
  static List<BeanPostProcessor> armingOfTheRegistered() {
    return List.of(
        rewritten(REGISTRATION, sql -> "with r as (" + sql + ") select * from r where false"),
        rewritten(
            "where order_id = any(?::text[])",
            sql -> sql.stripTrailing() + " and state <> 'PENDING'"));
  }

  /** Takes over shards with empty wheels. */
  static BeanPostProcessor theRebuild() {
    return rewritten(
        "and (deadline, id) >", with("and false and (deadline, id) >", "and (deadline, id) >"));
  }
}
