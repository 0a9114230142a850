package io.ordertimeout.it.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.LogCapture;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.TestEnvironment;
import io.ordertimeout.it.support.TopicNames;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** Texts that pose as something else: a statement, a lookup, a log line, another order. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ExtendWith(LogCapture.class)
class HostileInputIT {

  private static final List<String> ORDER_IDS =
      List.of(
          "'; drop table order_deadline; --",
          "\"; delete from outbox; --",
          "$$; truncate outbox; $$",
          "{\"a\",NULL}",
          "NULL",
          "\\x00\\",
          "\\",
          "'",
          "\"",
          "${jndi:ldap://127.0.0.1/x}",
          "#{T(java.lang.Runtime).getRuntime().exit(1)}",
          "%s%n%1$s",
          "{}",
          "../../etc/passwd",
          "line one\nline two\r\nline three",
          "tab\tbell\u0007escape\u001B[2Jdelete\u007Fnext\u0085",
          " ",
          "  spaces around  ",
          "case",
          "CASE",
          // These look alike, but are different orders.
          "caf\u00E9",
          "cafe\u0301",
          "z\u200Bero\u200Dwidth\uFEFF",
          "right \u202Eot tfel\u202C",
          "\u05D0\u05D1\u05D2 \u0627\u0628\u062A",
          "line\u2028separator",
          "\uFFFF\uFDD0 noncharacters",
          "\uD83D\uDC68\u200D\uD83D\uDC69\u200D\uD83D\uDC67 family",
          "Z\u0351\u036B\u0343\u036A\u0302\u036B\u033D\u034F\u0334\u0319\u0324",
          "\uD83D\uDED2".repeat(128),
          "x".repeat(128));

  @AutoClose private final Scenario scenario = Scenario.create();
  // At INFO, as in operation, including loggers that the tests' configuration turns down.
  private final Service service =
      scenario.startService(
          "logging.level.org.springframework", "INFO",
          "logging.level.org.hibernate", "INFO",
          "logging.level.org.apache.kafka.clients", "INFO",
          "logging.level.com.zaxxer", "INFO");
  private final TopicNames topics = scenario.topics();
  private final Database database = scenario.database();
  private final JdbcTemplate jdbc =
      new JdbcTemplate(
          new DriverManagerDataSource(
              database.url(),
              TestEnvironment.shared().username(),
              TestEnvironment.shared().password()));

  @Test
  void anOrderIdMayContainAnyCharacters() {
    for (String orderId : ORDER_IDS) {
      scenario.shop().created(orderId, Map.of("timeout", "PT1S"));
      scenario.shop().created(paid(orderId), Map.of("timeout", "PT1H"));
      scenario.shop().paid(paid(orderId), orderId);
    }
    for (String orderId : ORDER_IDS) {
      PublishedEvent event = scenario.outcomes().awaitCancelled(orderId);
      assertThat(event.text("orderId")).isEqualTo(orderId);
      scenario.shop().paid(orderId, "late " + orderId);
    }
    for (String orderId : ORDER_IDS) {
      PublishedEvent event = scenario.outcomes().awaitConflicts(orderId, 1).get(0);
      assertThat(event.text("orderId")).isEqualTo(orderId);
      assertThat(event.text("paymentId")).isEqualTo("late " + orderId);
    }
    scenario.awaitQuiet();

    Map<String, String> states = database.states();
    for (String orderId : ORDER_IDS) {
      assertThat(states).containsEntry(orderId, "CANCELLED").containsEntry(paid(orderId), "PAID");
      assertThat(scenario.outcomes().cancelled(orderId)).hasSize(1);
      assertThat(scenario.outcomes().cancelled(paid(orderId))).isEmpty();
      assertThat(scenario.outcomes().conflicts(orderId)).hasSize(1);
    }
    assertThat(ids(scenario.outcomes().cancelled(), ORDER_IDS)).hasSize(ORDER_IDS.size());
    assertThat(ids(scenario.outcomes().conflicts(), ORDER_IDS)).hasSize(ORDER_IDS.size());
  }

  private static String paid(String orderId) {
    return "p"
        + orderId.substring(0, orderId.offsetByCodePoints(0, Math.min(127, length(orderId))));
  }

  private static int length(String text) {
    return text.codePointCount(0, text.length());
  }

  private static Collection<String> ids(List<PublishedEvent> events, List<String> orderIds) {
    return events.stream()
        .filter(event -> orderIds.contains(event.key()))
        .map(event -> event.text("eventId"))
        .collect(Collectors.toSet());
  }

  @Test
  void aTextThatContainsSqlIsStoredAsText() {
    String injection = "x'); drop table order_deadline cascade; delete from outbox; -- $1 ? {\"}";
    scenario
        .shop()
        .created(
            "injected",
            Map.of("channel", injection, "paymentMethod", injection, "timeout", "PT1H"));
    scenario.shop().created("injected-reason", Map.of("timeout", "PT1H"));
    scenario
        .shop()
        .created(
            "injected-currency",
            Map.of("amount", Map.of("value", 1, "currency", injection), "timeout", "PT1H"));
    scenario
        .shop()
        .created(
            "injected-value",
            Map.of("amount", Map.of("value", "1); --", "currency", "EUR"), "timeout", "PT1H"));
    scenario.shop().paid("injected", injection);
    Shop.await(
        scenario.shop().send(topics.closed(), "injected-reason", Map.of("reason", injection)));
    // Conflicts are written by a statement of their own.
    scenario.shop().paid("injected-reason", injection);
    scenario.outcomes().awaitConflicts("injected-reason", 1);
    scenario.awaitQuiet();

    assertThat(database.column("injected", "channel")).isEqualTo(injection);
    assertThat(database.column("injected", "payment_method")).isEqualTo(injection);
    assertThat(database.column("injected", "payment_id")).isEqualTo(injection);
    assertThat(database.column("injected-reason", "close_reason")).isEqualTo(injection);
    assertThat(scenario.outcomes().conflicts("injected-reason"))
        .singleElement()
        .extracting(event -> event.text("paymentId"))
        .isEqualTo(injection);
    for (String orderId : new String[] {"injected-currency", "injected-value"}) {
      assertThat(database.state(orderId)).isEqualTo("PENDING");
      assertThat(database.column(orderId, "amount")).isNull();
      assertThat(database.column(orderId, "currency")).isNull();
    }
  }

  @Test
  void logsContainNoOrderDataAndNoForgedLines(CapturedOutput output) {
    String forged = "FORGED ERROR [main] all is lost";
    String secret = "zqx-";
    String amount = "98761234.5";
    Map<String, ?> fields =
        Map.of(
            "timeout",
            "PT1S",
            "channel",
            secret + "channel\n" + forged,
            "amount",
            Map.of("value", amount, "currency", "EUR"));
    String cancelled = secret + "cancelled\n" + forged;
    String paid = secret + "paid\r\n" + forged;
    String rejected = secret + "rejected\n" + forged;
    String failing = secret + "failing\n" + forged;

    scenario.shop().created(cancelled, fields);
    scenario.outcomes().awaitCancelled(cancelled);
    scenario.shop().paid(cancelled, secret + "late\n" + forged);
    scenario.outcomes().awaitConflicts(cancelled, 1);
    scenario.shop().paid(paid, secret + "one\n" + forged);
    scenario.shop().paid(paid, secret + "two\n" + forged);
    garbage("{\"orderId\":\"" + secret + "\\n" + forged + "\",\"timeout\":\"\\n" + forged + "\"}");
    garbage("\u0085" + forged);
    garbage(secret + "\n" + forged);
    reject(rejected, failing);
    scenario.shop().created(rejected, fields);
    // In one batch with the other order, it would wait until everything is accepted again.
    await("the dead letter")
        .until(
            () ->
                scenario.outcomes().deadLetters(topics.created()).stream()
                    .anyMatch(letter -> letter.key().equals(rejected)));
    scenario.shop().created(failing, fields);
    await("failures").until(() -> failures() > 1);
    acceptAgain();
    scenario.outcomes().awaitCancelled(failing);
    scenario.awaitQuiet();

    assertThat(output.getAll())
        .contains("were dead-lettered", "for orders that are already paid", "ERROR: not now")
        .doesNotContain(secret, amount);
    assertThat(output.getAll().lines()).noneMatch(line -> line.contains(forged));
    List<PublishedEvent> letters = scenario.outcomes().deadLetters(topics.created());
    assertThat(letters)
        .allSatisfy(
            letter ->
                assertThat(letter.header("x-error"))
                    .isNotBlank()
                    .hasSizeLessThan(512)
                    .doesNotContainPattern("\\p{Cc}"));
    assertThat(letters)
        .filteredOn(letter -> letter.key().equals(rejected))
        .singleElement()
        .extracting(letter -> letter.header("x-error"))
        .asString()
        .contains("violates check constraint")
        .doesNotContain(secret, amount);
  }

  private void garbage(String value) {
    Shop.await(
        scenario
            .shop()
            .send(new ProducerRecord<>(topics.created(), Shop.utf8("key"), Shop.utf8(value))));
  }

  /**
   * Makes Postgres reject the row of one order, and fail with another error on the row of the
   * other, whose detail quotes the row. A sequence counts the failures, since rollbacks do not
   * affect it.
   */
  private void reject(String rejected, String failing) {
    jdbc.execute("create sequence failures");
    jdbc.execute("create table rejected_order (order_id text, fails boolean)");
    jdbc.update("insert into rejected_order values (?, false), (?, true)", rejected, failing);
    jdbc.execute(
        """
        create function accepted(id text) returns boolean language plpgsql as $$
        begin
          if exists (select from rejected_order where order_id = id and fails) then
            perform nextval('failures');
            raise exception 'not now' using errcode = '55000', detail = id;
          end if;
          return not exists (select from rejected_order where order_id = id);
        end $$
        """);
    jdbc.execute("alter table order_deadline add constraint accepted check (accepted(order_id))");
  }

  private long failures() {
    return Objects.requireNonNull(
        jdbc.queryForObject(
            "select case when is_called then last_value else 0 end from failures", Long.class));
  }

  private void acceptAgain() {
    jdbc.execute("alter table order_deadline drop constraint accepted");
  }

  @Test
  void aTimestampOutsideTheRangeOfPostgresStopsNothing()
      throws ExecutionException, InterruptedException {
    useProducerTimestamps();
    for (long timestampMillis : new long[] {0, 1, Long.MAX_VALUE}) {
      String orderId = "at-" + timestampMillis;
      scenario.shop().created(orderId + "-known", Map.of("timeout", "PT1H"));
      send(topics.created(), orderId, timestampMillis, Map.of("orderId", orderId));
      send(topics.paid(), orderId + "-known", timestampMillis, Map.of("paymentId", "p"));
      send(topics.closed(), orderId + "-unknown", timestampMillis, Map.of());
      send(
          topics.created(),
          orderId + "-stated",
          timestampMillis,
          Map.of("createdAt", Scenario.in(Duration.ZERO).toString(), "timeout", "PT1H"));
    }
    send(topics.created(), "late", 0, createdAndDue());
    scenario.outcomes().awaitCancelled("late");
    Instant beforePayment = database.now();
    send(topics.paid(), "late", 0, Map.of("paymentId", "p"));
    PublishedEvent conflict = scenario.outcomes().awaitConflicts("late", 1).get(0);
    assertThat(conflict.text("kind")).isEqualTo("PAID_LATE");
    assertThat(conflict.instant("paidAt")).isAfterOrEqualTo(beforePayment);
    assertThat(service.counter("order.timeout.replaced.fields")).isPositive();
    scenario.shop().created("after-timestamps", Map.of("timeout", "PT1H"));
    scenario.awaitState("after-timestamps", "PENDING");
    scenario.awaitQuiet();

    for (long timestampMillis : new long[] {0, 1, Long.MAX_VALUE}) {
      String orderId = "at-" + timestampMillis;
      assertThat(database.state(orderId + "-known")).isEqualTo("PAID");
      assertThat(database.state(orderId + "-unknown")).isEqualTo("CLOSED");
      assertThat(database.state(orderId + "-stated")).isEqualTo("PENDING");
      assertThat(database.state(orderId)).isNull();
      assertThat(scenario.outcomes().deadLetters(topics.created()))
          .extracting(PublishedEvent::key)
          .contains(orderId);
    }
  }

  private static Map<String, ?> createdAndDue() {
    Instant now = Scenario.in(Duration.ZERO);
    return Map.of("createdAt", now.minusSeconds(60).toString(), "payBy", now.toString());
  }

  private void useProducerTimestamps() throws ExecutionException, InterruptedException {
    List<AlterConfigOp> settings =
        List.of(
            set(TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, "CreateTime"),
            set(TopicConfig.MESSAGE_TIMESTAMP_AFTER_MAX_MS_CONFIG, String.valueOf(Long.MAX_VALUE)));
    try (Admin admin =
        Admin.create(
            Map.of(
                AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG,
                TestEnvironment.shared().bootstrapServers()))) {
      admin
          .incrementalAlterConfigs(
              topics.inputs().stream()
                  .collect(
                      Collectors.<String, ConfigResource, Collection<AlterConfigOp>>toMap(
                          topic -> new ConfigResource(ConfigResource.Type.TOPIC, topic),
                          topic -> settings)))
          .all()
          .get();
    }
    // The controller knows the setting; the broker learns of it a little later.
    for (String topic : topics.inputs()) {
      await("producer timestamps in " + topic)
          .until(() -> send(topic, "probe", 1, Map.of()).timestamp() == 1);
    }
  }

  private static AlterConfigOp set(String name, String value) {
    return new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET);
  }

  private RecordMetadata send(
      String topic, String orderId, long timestampMillis, Map<String, ?> fields) {
    Map<String, Object> event = new HashMap<>(fields);
    event.put("orderId", orderId);
    return Shop.await(
        scenario
            .shop()
            .send(
                new ProducerRecord<>(
                    topic, null, timestampMillis, Shop.utf8(orderId), Shop.json(event))));
  }
}
