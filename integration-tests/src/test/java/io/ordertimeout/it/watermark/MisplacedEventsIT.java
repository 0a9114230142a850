package io.ordertimeout.it.watermark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Database;
import io.ordertimeout.it.support.Instance;
import io.ordertimeout.it.support.KafkaAdmin;
import io.ordertimeout.it.support.LogCapture;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.TopicNames;
import io.ordertimeout.it.support.UnreadRecords;
import io.ordertimeout.it.traffic.Deadlines;
import io.ordertimeout.orders.order.DueOrderDecision;
import io.ordertimeout.orders.order.DueOrders;
import io.ordertimeout.orders.order.LostDecisions;
import io.ordertimeout.orders.order.LostDecisions.Decision;
import io.ordertimeout.orders.order.Publication;
import io.ordertimeout.orders.order.Watermark;
import io.ordertimeout.orders.position.ReadBackState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;

/**
 * Payments and closures in another partition than their order. The first one that is stored shows
 * that there are such events; from then on, no order is decided before the payments of all
 * partitions are read.
 */
@Order(40)
class MisplacedEventsIT {

  private static final int SHARD = 0;
  private static final int ELSEWHERE = 1;

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Database database = scenario.database();

  @Test
  @ExtendWith(LogCapture.class)
  void afterTheFirstMisplacedPaymentEveryPartitionIsReadBeforeAnOrderIsDecided(
      CapturedOutput output) {
    try (UnreadRecords unread = unread(ELSEWHERE);
        Service service = scenario.startService(List.of(unread.interceptor()))) {
      scenario.createPending("first", SHARD);
      scenario.createPending("second", SHARD);
      unread.block();
      scenario.pay("first", ELSEWHERE);
      Deadlines.passNow(database, "first");
      // Nothing has shown yet that payments may be there.
      scenario.outcomes().awaitCancelled("first");
      unread.unblock();
      scenario.outcomes().awaitConflicts("first", 1);

      assertWaitsForItsPayment("second", SHARD, ELSEWHERE, service, unread);

      assertThat(service.counter("order.timeout.misplaced.events")).isEqualTo(2);
      assertThat(output.getOut().split("another partition than their order", -1)).hasSize(2);
    }
  }

  @Test
  void afterAMisplacedClosingEveryPartitionIsReadBeforeAnOrderIsDecided() {
    try (UnreadRecords unread = unread(ELSEWHERE);
        Service service = scenario.startService(List.of(unread.interceptor()))) {
      scenario.createPending("closed", SHARD);
      scenario.createPending("paid", SHARD);
      scenario.closeOrder("closed", ELSEWHERE);
      scenario.awaitState("closed", "CLOSED");

      assertWaitsForItsPayment("paid", SHARD, ELSEWHERE, service, unread);
    }
  }

  @Test
  void anInstanceLearnsOfAMisplacedPaymentThatAnotherOneHasStored() {
    try (UnreadRecords unread = unread(ELSEWHERE);
        Service one = scenario.startService(List.of(unread.interceptor()));
        Service other = scenario.startService(List.of(unread.interceptor()))) {
      Instance.awaitShared(one, other);
      Service storing = owns(one, ELSEWHERE) ? one : other;
      Service deciding = storing == one ? other : one;
      int shard =
          IntStream.range(0, Scenario.PARTITIONS)
              .filter(number -> owns(deciding, number))
              .findFirst()
              .orElseThrow();
      scenario.createPending("first", shard);
      scenario.createPending("second", shard);
      scenario.pay("first", ELSEWHERE);
      scenario.awaitState("first", "PAID");

      assertWaitsForItsPayment("second", shard, ELSEWHERE, deciding, unread);

      assertThat(deciding.counter("order.timeout.misplaced.events")).isZero();
      assertThat(deciding.counter("order.timeout.consumer.replacements")).isZero();
    }
  }

  @Test
  @Tag("faults")
  void aMisplacedPaymentIsRememberedAcrossARestart() {
    try (Service service = scenario.startService()) {
      scenario.createPending("first", SHARD);
      scenario.createPending("second", SHARD);
      scenario.pay("first", ELSEWHERE);
      scenario.awaitState("first", "PAID");
      assertThat(service.counter("order.timeout.cancelled")).isZero();
    }
    try (UnreadRecords unread = unread(ELSEWHERE);
        Service service = scenario.startService(List.of(unread.interceptor()))) {
      service.awaitOwnedShards(Scenario.PARTITIONS);

      assertWaitsForItsPayment("second", SHARD, ELSEWHERE, service, unread);
    }
  }

  @Test
  void withAMisplacedPaymentAStaleInstanceThatAskedForItsShardAloneDecidesNothing() {
    try (Service service = scenario.startService()) {
      scenario.createPending("first", SHARD);
      assertTheStatementRequiresAllEnds(
          service,
          () -> {
            scenario.pay("first", ELSEWHERE);
            scenario.awaitState("first", "PAID");
          });
    }
  }

  @Test
  void withAnotherPartitionCountAStaleInstanceThatAskedForItsShardAloneDecidesNothing() {
    try (Service service = scenario.startService()) {
      assertTheStatementRequiresAllEnds(
          service, () -> database.execute("insert into partition_count (partitions) values (2)"));
    }
  }

  private void assertTheStatementRequiresAllEnds(Service service, Runnable change) {
    scenario.createPending("before", SHARD);
    scenario.createPending("after", SHARD);
    scenario.awaitQuiet();
    // The service does not notice that they are due, so nobody but the test decides.
    database.makePendingDue();
    assertThat(decide(service, "before", false)).isEqualTo(1);

    change.run();

    assertThat(decide(service, "after", false)).isZero();
    assertThat(database.state("after")).isEqualTo("PENDING");
    assertThat(decide(service, "after", true)).isEqualTo(1);
  }

  /** Has the deciding statement cancel an order by a watermark of all payments up to now. */
  private int decide(Service service, String orderId, boolean allPartitions) {
    TopicNames topics = scenario.topics();
    List<TopicPartition> partitions =
        Scenario.partitions(List.of(topics.paid(), topics.closed())).stream()
            .filter(partition -> allPartitions || partition.partition() == SHARD)
            .toList();
    Map<String, Uuid> topicIds =
        KafkaAdmin.get(
                scenario
                    .kafka()
                    .client()
                    .describeTopics(List.of(topics.paid(), topics.closed()))
                    .allTopicNames())
            .values()
            .stream()
            .collect(Collectors.toMap(TopicDescription::name, TopicDescription::topicId));
    long id = database.count("select id from order_deadline where order_id = ?", orderId);
    return service
        .bean(DueOrderDecision.class)
        .cancel(
            DueOrders.of(
                SHARD,
                new long[] {id},
                new Watermark(
                    database.now(), scenario.kafka().ends(partitions), topicIds, allPartitions)),
            service.bean(ReadBackState.class).reflected())
        .size();
  }

  @Test
  void aMisplacedPaymentIsRecordedInTheTransactionThatStoresIt() {
    try (Service service = scenario.startService()) {
      scenario.createPending("order", SHARD);
      scenario.awaitQuiet();
      database.execute(
          """
          create sequence attempt;
          create function refuse() returns trigger language plpgsql as $$
          begin
            perform nextval('attempt');
            raise exception 'not now' using errcode = 'serialization_failure';
          end $$;
          create trigger refuse before update on intake_position
            for each row execute function refuse();
          """);
      scenario.pay("order", ELSEWHERE);
      await("an attempt")
          .until(() -> database.count("select count(*) from attempt where is_called") == 1);
      assertThat(misplacedCounts()).isZero();
      database.execute("drop trigger refuse on intake_position");

      scenario.awaitState("order", "PAID");
      assertThat(misplacedCounts()).isEqualTo(1);
      awaitMisplaced(service, 1);
    }
  }

  private long misplacedCounts() {
    return database.count("select count(*) from partition_count where misplaced");
  }

  @Test
  void aPaymentBeforeItsCreationInAnotherPartitionIsMisplaced() {
    try (Service service = scenario.startService()) {
      scenario.pay("order", ELSEWHERE);
      scenario.awaitState("order", "PAID");
      assertThat(service.counter("order.timeout.misplaced.events")).isZero();
      scenario.create("order", SHARD, Scenario.in(Duration.ofHours(1)));
      awaitCreation("order");

      // The order belongs to the partition of its creation.
      assertThat(database.column("order", "shard")).isEqualTo(String.valueOf(SHARD));
      assertThat(database.column("order", "settled_in")).isEqualTo(String.valueOf(ELSEWHERE));
      awaitMisplaced(service, 1);
      // Delivered again, it is no other payment.
      scenario.pay("order", ELSEWHERE);
      awaitMisplaced(service, 2);
      scenario.pay("order", SHARD);
      scenario.awaitQuiet();
      assertThat(service.counter("order.timeout.misplaced.events")).isEqualTo(2);
    }
  }

  /** The partition of a restored order is not known before its creation is read again. */
  @Test
  void aPaymentOfARestoredOrderIsNotMisplacedBecauseItsPartitionWasGuessed() {
    try (Service service = scenario.startService()) {
      service.awaitReady(true);
      Instant deadline = Scenario.in(Duration.ofMinutes(-1));
      Publication published = new Publication(deadline, ELSEWHERE, 0L);
      service
          .bean(LostDecisions.class)
          .restore(List.of(new Decision("order", ELSEWHERE, deadline, deadline, published)));
      scenario.pay("order", SHARD);
      scenario.outcomes().awaitConflicts("order", 1);
      scenario.create("order", SHARD, deadline);
      awaitCreation("order");
      scenario.awaitQuiet();

      assertThat(database.column("order", "shard")).isEqualTo(String.valueOf(SHARD));
      assertThat(database.column("order", "settled_in")).isNull();
      assertThat(service.counter("order.timeout.misplaced.events")).isZero();
      // By now it is known.
      scenario.closeOrder("order", ELSEWHERE);
      awaitMisplaced(service, 1);
    }
  }

  /**
   * Has an order come due while its payment is in another partition and unread, and then be read.
   */
  private void assertWaitsForItsPayment(
      String orderId, int shard, int partition, Service deciding, UnreadRecords unread) {
    unread.block();
    scenario.pay(orderId, partition);
    Deadlines.passNow(database, orderId);
    await("a decision, or that the order waits")
        .until(() -> lag(deciding, shard) > 2 || !scenario.outcomes().cancelled(orderId).isEmpty());
    assertThat(database.state(orderId)).isEqualTo("PENDING");
    unread.unblock();
    scenario.awaitState(orderId, "PAID");
    scenario.passDeadline("after-" + orderId, shard);
    assertThat(scenario.outcomes().cancelled(orderId)).isEmpty();
    assertThat(deciding.counter("order.timeout.repaired")).isZero();
  }

  private static double lag(Service service, int shard) {
    return service.gauge("order.timeout.watermark.lag", "shard", String.valueOf(shard));
  }

  private void awaitCreation(String orderId) {
    await("the creation").until(() -> database.column(orderId, "created_at") != null);
  }

  /** Counted a moment after they were stored. */
  private static void awaitMisplaced(Service service, int events) {
    await(events + " misplaced events")
        .until(() -> service.counter("order.timeout.misplaced.events") == events);
  }

  private UnreadRecords unread(int partition) {
    return new UnreadRecords(new TopicPartition(scenario.topics().paid(), partition));
  }

  private static boolean owns(Service service, int shard) {
    return service.health().matches("(?s).*\"owned\":\\[[^]]*\\b" + shard + "\\b.*");
  }
}
