package io.ordertimeout.orders.benchmarks.contender;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.slf4j.LoggerFactory;

/**
 * A shop's own service around a peer: it reads orders and payments in batches, keeps them in a
 * table and hands their timeouts to the peer.
 */
final class PeerMain {

  /** What is printed when it serves. */
  static final String READY = "The peer is ready";

  /** Connections, and threads of schedulers that have some. */
  static final int THREADS = 20;

  private static final Pattern PAY_BY = Pattern.compile("\"payBy\":\"([^\"]+)\"");
  private static final Duration POLL = Duration.ofMillis(500);

  private PeerMain() {}

  /**
   * Runs it until the process is ended.
   *
   * @param arguments the peer, the brokers, the group, the topics of created, paid and cancelled
   *     orders, the JDBC URL, the user and the password
   */
  public static void main(String[] arguments) throws Exception {
    Peer peer = Peer.valueOf(arguments[0]);
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(arguments[6]);
    config.setUsername(arguments[7]);
    config.setPassword(arguments[8]);
    config.setMaximumPoolSize(THREADS + 5);
    HikariDataSource dataSource = new HikariDataSource(config);
    KafkaProducer<String, byte[]> producer =
        new KafkaProducer<>(
            Map.of(
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                arguments[1],
                ProducerConfig.ACKS_CONFIG,
                "all"),
            new StringSerializer(),
            new ByteArraySerializer());
    ShopOrders orders = new ShopOrders(dataSource, producer, arguments[5]);
    orders.createTable();
    TimeoutScheduler scheduler =
        switch (peer) {
          case POLLING_JOB -> new PollingJob(orders);
          case DB_SCHEDULER -> new DbScheduler(dataSource, orders);
          case QUARTZ -> new Quartz(dataSource, orders);
          case JOB_RUNR -> new JobRunrScheduler(dataSource, orders);
        };
    scheduler.start();
    try {
      consume(arguments, orders, scheduler);
    } catch (RuntimeException e) {
      LoggerFactory.getLogger(PeerMain.class).error("The peer ends", e);
      System.exit(1);
    }
  }

  private static void consume(String[] arguments, ShopOrders orders, TimeoutScheduler scheduler) {
    String created = arguments[3];
    String paid = arguments[4];
    try (KafkaConsumer<String, byte[]> consumer =
        new KafkaConsumer<>(
            Map.of(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, arguments[1],
                ConsumerConfig.GROUP_ID_CONFIG, arguments[2],
                ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest",
                ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false",
                ConsumerConfig.MAX_POLL_RECORDS_CONFIG, "2000"),
            new StringDeserializer(),
            new ByteArrayDeserializer())) {
      consumer.subscribe(List.of(created, paid));
      consumer.poll(POLL);
      System.out.println(READY);
      while (true) {
        Map<String, Instant> deadlines = new LinkedHashMap<>();
        List<String> payments = new ArrayList<>();
        for (ConsumerRecord<String, byte[]> event : consumer.poll(POLL)) {
          if (event.topic().equals(created)) {
            deadlines.put(event.key(), payBy(event.value()));
          } else {
            payments.add(event.key());
          }
        }
        if (!deadlines.isEmpty()) {
          orders.add(deadlines);
          scheduler.schedule(deadlines);
        }
        if (!payments.isEmpty()) {
          orders.pay(payments);
          scheduler.withdraw(payments);
        }
        if (!deadlines.isEmpty() || !payments.isEmpty()) {
          consumer.commitSync();
        }
      }
    }
  }

  private static Instant payBy(byte[] event) {
    Matcher matcher = PAY_BY.matcher(new String(event, StandardCharsets.UTF_8));
    if (!matcher.find()) {
      throw new IllegalStateException("an order without a deadline");
    }
    return Instant.parse(matcher.group(1));
  }
}
