package io.ordertimeout.it.safeguard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.Verdict;
import io.ordertimeout.it.oracle.Violation.Kind;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.UnreadRecords;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Orders of which a payment is under way at their deadline, orders whose deadline is postponed, and
 * orders that were paid before their warning, which is not read yet.
 */
@Tag("faults")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BeingPaidSafeguardIT {

  private static final int ORDERS = 10;
  private static final int PARTITION = 0;
  private static final Duration LEAD = Duration.ofSeconds(5);

  private final Scenario scenario = Scenario.withAllTopics();
  private final UnreadRecords payments = new UnreadRecords(scenario.topics().paid());
  private final UnreadRecords changes = new UnreadRecords(scenario.topics().changed());
  private final SabotagedService sabotaged =
      SabotagedService.start(
          scenario,
          List.of(payments.interceptor(), changes.interceptor()),
          "order-timeout.deadline.policies[0].name",
          "all",
          "order-timeout.deadline.policies[0].timeout",
          "1h",
          "order-timeout.deadline.policies[0].warnings[0]",
          LEAD.toSeconds() + "s");

  @AfterEach
  void restore() {
    payments.unblock();
    changes.unblock();
    sabotaged.safeguards().restoreAll();
  }

  @AfterAll
  void close() {
    sabotaged.close();
  }

  @Test
  void withAllSafeguardsOrdersThatAreBeingPaidCanBePaidAfterTheirDeadline() {
    Verdict verdict = payAfterTheDeadline("held-");

    assertThat(verdict.brokenPromises()).isEmpty();
    assertThat(verdict.inState("PAID")).isEqualTo(ORDERS);
  }

  @Test
  void withoutTheHoldTheyAreCancelled() {
    Verdict verdict = payAfterTheDeadline("not-held-", Safeguard.HOLD_IN_DECISION);

    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .isEqualTo(Map.of(Kind.HELD_YET_CANCELLED, ORDERS));
  }

  private Verdict payAfterTheDeadline(String prefix, Safeguard... removed) {
    sabotaged.safeguards().remove(removed);
    Instant deadline = Scenario.in(Duration.ofSeconds(2));
    Map<String, String> started =
        Map.of(
            "attemptId", "a",
            "status", "STARTED",
            "until", deadline.plusSeconds(60).toString());
    send(prefix, scenario.topics().attempts(), started);
    sabotaged.create(prefix, ORDERS, deadline);
    scenario.passDeadline("behind-" + prefix, PARTITION);
    scenario.awaitPast(deadline.plusSeconds(1));
    sabotaged.pay(prefix, ORDERS);
    return sabotaged.judge(prefix);
  }

  @Test
  void withAllSafeguardsNobodyIsWarnedWhoHasPaid() {
    Verdict verdict = warnUnread("paid-");

    assertThat(verdict.brokenPromises()).isEmpty();
    assertThat(verdict.inState("PAID")).isEqualTo(ORDERS);
  }

  @Test
  void withoutTheWatermarkGateThoseAreWarnedWhoHavePaid() {
    Verdict verdict = warnUnread("warned-", Safeguard.WATERMARK_GATE);

    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .isEqualTo(Map.of(Kind.WARNED_AFTER_PAYMENT, ORDERS));
  }

  private Verdict warnUnread(String prefix, Safeguard... removed) {
    sabotaged.safeguards().remove(removed);
    payments.block();
    sabotaged.pay(prefix, ORDERS);
    Instant deadline = Scenario.in(LEAD.plusSeconds(2));
    sabotaged.create(prefix, ORDERS, deadline);
    scenario.awaitPast(deadline.minus(LEAD));
    if (removed.length > 0) {
      IntStream.range(0, ORDERS).forEach(i -> scenario.outcomes().awaitWarnings(prefix + i, 1));
    } else {
      await("a lag of the watermark")
          .until(
              () ->
                  sabotaged
                          .service()
                          .gauge("order.timeout.watermark.lag", "shard", String.valueOf(PARTITION))
                      > 0.2);
    }
    payments.unblock();
    return sabotaged.judge(prefix);
  }

  @Test
  void withoutTheWatermarkGateOrdersAreCancelledThatWerePostponed() {
    String prefix = "postponed-";
    sabotaged.safeguards().remove(Safeguard.WATERMARK_GATE);
    changes.block();
    Instant deadline = Scenario.in(Duration.ofSeconds(2));
    send(prefix, scenario.topics().changed(), Map.of("payBy", deadline.plusSeconds(9).toString()));
    sabotaged.create(prefix, ORDERS, deadline);
    sabotaged.awaitStates(prefix, "CANCELLED", ORDERS);
    changes.unblock();

    Verdict verdict = sabotaged.judge(prefix);
    assertThat(verdict.violationCounts())
        .as("%s", verdict)
        .isEqualTo(Map.of(Kind.CHANGE_OVERLOOKED, ORDERS));
  }

  private void send(String prefix, String topic, Map<String, String> fields) {
    for (int i = 0; i < ORDERS; i++) {
      Map<String, String> event = new HashMap<>(fields);
      event.put("orderId", prefix + i);
      Shop.await(
          scenario
              .shop()
              .send(
                  new ProducerRecord<>(topic, PARTITION, Shop.utf8(prefix + i), Shop.json(event))));
    }
  }
}
