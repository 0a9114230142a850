package io.ordertimeout.orders.benchmarks.measurement;

import com.zaxxer.hikari.HikariDataSource;
import io.ordertimeout.orders.benchmarks.traffic.OrderIds;
import io.ordertimeout.orders.benchmarks.traffic.Shop;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.LongFunction;
import java.util.stream.LongStream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * The durable work of the service, as fast as one connection can do it: the same tables with their
 * indexes and checks, the same values, batches of the same size, and in the burst the same events
 * in Kafka. What is left out is what makes it right: reading topics, decoding, and every condition
 * but the order's state.
 */
final class BareStatements {

  /** A row of figures that belongs to the bare statements. */
  static final String ROW = "bare statements";

  private static final int SHARDS = 6;

  private static final String TOPIC = "bare-cancelled";

  /** The default of the service's batches of records. */
  private static final int INTAKE_BATCH = 2_000;

  /** The default of the service's batches of decisions and publications. */
  private static final int DECISION_BATCH = 1_000;

  private static final String[] TABLES = {
    "create table bare_order (like order_deadline including all)",
    "create table bare_outbox (like outbox including all)"
  };

  private static final String CREATE =
      """
      insert into bare_order as d (
        order_id, shard, state, created_at, deadline, policy, channel, amount, currency)
      select i.order_id, i.shard, 'PENDING', i.created_at, i.deadline, i.policy, i.channel, i.amount,
        i.currency
      from unnest(
        ?::text[], ?::int[], ?::timestamptz[], ?::timestamptz[], ?::text[], ?::text[], ?::numeric[],
        ?::text[])
        as i(order_id, shard, created_at, deadline, policy, channel, amount, currency)
      order by i.order_id
      on conflict (order_id) do nothing
      returning d.id, d.shard, d.deadline
      """;

  private static final String PAY =
      """
      insert into bare_order as d (
        order_id, shard, state, decided_at, decided_by, payment_id, paid_at)
      select i.order_id, i.shard, 'PAID', clock_timestamp(), 'PAYMENT', i.payment_id, i.paid_at
      from unnest(?::text[], ?::int[], ?::text[], ?::timestamptz[])
        as i(order_id, shard, payment_id, paid_at)
      order by i.order_id
      on conflict (order_id) do update set
        state = excluded.state, decided_at = excluded.decided_at, decided_by = excluded.decided_by,
        payment_id = excluded.payment_id, paid_at = excluded.paid_at
      where d.state = 'PENDING'
      returning d.id, d.shard
      """;

  private static final String DECIDE =
      """
      with cancelled as (
        update bare_order
        set state = 'CANCELLED', decided_at = clock_timestamp(), decided_by = 'EXPIRY'
        where id = any(?::bigint[]) and state = 'PENDING'
        returning id, order_id, shard, created_at, deadline, decided_at
      ), written as (
        insert into bare_outbox (order_row, shard, written_at)
        select id, shard, decided_at from cancelled
      )
      select id, order_id, created_at, deadline, decided_at from cancelled
      """;

  private static final String RECORD =
      """
      update bare_outbox o set
        published_at = clock_timestamp(), record_partition = a.partition, record_offset = a.record_offset
      from unnest(?::bigint[], ?::int[], ?::bigint[]) as a(order_row, partition, record_offset)
      where o.order_row = a.order_row and o.payment_id = ''
      """;

  /** An event that is sent, and the row that its acknowledgement is recorded in. */
  private record Sent(long row, Future<RecordMetadata> acknowledgement) {}

  private final Shop shop;
  private final int orders;

  /** Uses tables of its own beside those of the shop's service, which must have created them. */
  BareStatements(Shop shop, int orders) {
    this.shop = shop;
    this.orders = orders;
    for (String table : TABLES) {
      shop.database().admin().sql(table).update();
    }
    shop.create(shop.topic(TOPIC));
    shop.database()
        .admin()
        .sql("grant all on bare_order, bare_outbox to \"%s\"".formatted(shop.database().user()))
        .update();
  }

  /** Orders per second that are stored. */
  double created() throws SQLException {
    create(0, orders);
    return create(orders, 3 * orders);
  }

  private double create(int from, int to) throws SQLException {
    Timestamp time = new Timestamp(System.currentTimeMillis());
    return run(
        CREATE,
        from,
        to,
        (connection, statement, numbers) -> {
          statement.setArray(1, array(connection, "text", numbers, OrderIds::of));
          statement.setArray(2, array(connection, "int4", numbers, BareStatements::shard));
          statement.setArray(3, array(connection, "timestamptz", numbers, number -> time));
          statement.setArray(4, array(connection, "timestamptz", numbers, number -> time));
          statement.setArray(5, array(connection, "text", numbers, number -> "PAY_BY"));
          statement.setArray(6, array(connection, "text", numbers, number -> "web"));
          statement.setArray(
              7, array(connection, "numeric", numbers, number -> new BigDecimal("59.90")));
          statement.setArray(8, array(connection, "text", numbers, number -> "EUR"));
        });
  }

  /** Orders per second that become paid. */
  double paid() throws SQLException {
    Timestamp time = new Timestamp(System.currentTimeMillis());
    return run(
        PAY,
        orders,
        2 * orders,
        (connection, statement, numbers) -> {
          statement.setArray(1, array(connection, "text", numbers, OrderIds::of));
          statement.setArray(2, array(connection, "int4", numbers, BareStatements::shard));
          statement.setArray(
              3, array(connection, "text", numbers, number -> "p-" + OrderIds.of(number)));
          statement.setArray(4, array(connection, "timestamptz", numbers, number -> time));
        });
  }

  @FunctionalInterface
  private interface Parameters {
    void set(Connection connection, PreparedStatement statement, long[] numbers)
        throws SQLException;
  }

  /** Executes a statement for all orders, and reads what it returns. */
  private double run(String sql, int from, int to, Parameters parameters) throws SQLException {
    try (HikariDataSource source = shop.database().open(1);
        Connection connection = source.getConnection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      long begin = System.nanoTime();
      for (int batch = from; batch < to; batch += INTAKE_BATCH) {
        parameters.set(
            connection,
            statement,
            LongStream.range(batch, Math.min(to, batch + INTAKE_BATCH)).toArray());
        try (ResultSet rows = statement.executeQuery()) {
          while (rows.next()) {
            rows.getLong(1);
          }
        }
      }
      return (to - from) * 1e9 / (System.nanoTime() - begin);
    }
  }

  /**
   * Orders per second that are cancelled, whose events are in Kafka, and for which that is
   * recorded. While Kafka stores the events of a batch, the next one is decided.
   */
  double cancelled() throws SQLException {
    long[] rows =
        shop
            .database()
            .admin()
            .sql("select id from bare_order where state = 'PENDING' order by id limit ?")
            .param(orders)
            .query(Long.class)
            .list()
            .stream()
            .mapToLong(Long::longValue)
            .toArray();
    try (HikariDataSource source = shop.database().open(1);
        Connection connection = source.getConnection();
        PreparedStatement decide = connection.prepareStatement(DECIDE);
        PreparedStatement record = connection.prepareStatement(RECORD);
        KafkaProducer<String, byte[]> producer = producer()) {
      long begin = System.nanoTime();
      List<Sent> sent = List.of();
      for (int batch = 0; batch < rows.length; batch += DECISION_BATCH) {
        List<Sent> before = sent;
        decide.setArray(
            1,
            array(
                connection,
                "int8",
                Arrays.copyOfRange(rows, batch, Math.min(rows.length, batch + DECISION_BATCH)),
                row -> row));
        sent = send(decide, producer);
        record(connection, record, before);
      }
      record(connection, record, sent);
      return rows.length * 1e9 / (System.nanoTime() - begin);
    }
  }

  private KafkaProducer<String, byte[]> producer() {
    return new KafkaProducer<>(
        Map.of(
            ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, shop.servers().bootstrapServers(),
            ProducerConfig.ACKS_CONFIG, "all",
            ProducerConfig.LINGER_MS_CONFIG, "0"),
        new StringSerializer(),
        new ByteArraySerializer());
  }

  private List<Sent> send(PreparedStatement decide, KafkaProducer<String, byte[]> producer)
      throws SQLException {
    List<Sent> sent = new ArrayList<>();
    try (ResultSet decided = decide.executeQuery()) {
      while (decided.next()) {
        String id = decided.getString(2);
        String event =
            "{\"eventId\":\"%1$s\",\"orderId\":\"%1$s\",\"reason\":\"PAYMENT_TIMEOUT\",\"createdAt\":\"%2$s\",\"deadline\":\"%3$s\",\"cancelledAt\":\"%4$s\"}"
                .formatted(
                    id,
                    decided.getTimestamp(3).toInstant(),
                    decided.getTimestamp(4).toInstant(),
                    decided.getTimestamp(5).toInstant());
        sent.add(
            new Sent(
                decided.getLong(1),
                producer.send(
                    new ProducerRecord<>(
                        shop.topic(TOPIC), id, event.getBytes(StandardCharsets.UTF_8)))));
      }
    }
    return sent;
  }

  private static void record(Connection connection, PreparedStatement record, List<Sent> sent)
      throws SQLException {
    if (sent.isEmpty()) {
      return;
    }
    List<Integer> partitions = new ArrayList<>();
    List<Long> offsets = new ArrayList<>();
    for (Sent event : sent) {
      RecordMetadata stored = await(event.acknowledgement);
      partitions.add(stored.partition());
      offsets.add(stored.offset());
    }
    record.setArray(1, connection.createArrayOf("int8", sent.stream().map(Sent::row).toArray()));
    record.setArray(2, connection.createArrayOf("int4", partitions.toArray()));
    record.setArray(3, connection.createArrayOf("int8", offsets.toArray()));
    record.executeUpdate();
  }

  private static RecordMetadata await(Future<RecordMetadata> acknowledgement) {
    try {
      return acknowledgement.get();
    } catch (ExecutionException e) {
      throw new IllegalStateException("An event was not stored", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static int shard(long number) {
    return (int) (number % SHARDS);
  }

  private static java.sql.Array array(
      Connection connection, String type, long[] numbers, LongFunction<Object> value)
      throws SQLException {
    return connection.createArrayOf(type, LongStream.of(numbers).mapToObj(value).toArray());
  }
}
