package io.ordertimeout.it.safeguard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.oracle.Verdict;
import io.ordertimeout.it.oracle.Violation.Kind;
import io.ordertimeout.it.support.Interceptors;
import io.ordertimeout.it.support.PostgresPair;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.TestEnvironment;
import io.ordertimeout.it.support.UnreadRecords;
import io.ordertimeout.orders.position.ReadBackState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.dao.DataAccessException;

/**
 * A failover that loses commits while the service is in the middle of its work. Each shard depends
 * on another safeguard:
 *
 * <ul>
 *   <li>In shard 0, the service is about to decide orders. Their payments, which it had waited for,
 *       are lost.
 *   <li>In shard 1, it is about to store payments. Those before them are lost.
 *   <li>In shard 2, it has published cancellations, which are lost. Then the orders are paid.
 * </ul>
 *
 * <p>The failover takes place once with all safeguards, and once without: each is removed only for
 * the moment in which its shard depends on it.
 */
@Tag("faults")
@Order(20)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FailoverSafeguardIT {

  private static final int ORDERS = 5;
  private static final int DECIDING = 0;
  private static final int STORING = 1;
  private static final int PUBLISHED = 2;

  private final PostgresPair pair = PostgresPair.start();
  private final String kafka = TestEnvironment.shared().bootstrapServers();
  private final Scenario scenario = Scenario.on(pair.direct(kafka), pair.proxied(kafka));
  private final UnreadRecords paymentsOfDeciding = payments(DECIDING);
  private final UnreadRecords paymentsOfStoring = payments(STORING);
  private final Barrier beforeDecision = new Barrier();
  private final Barrier beforeStore = new Barrier();
  private final AtomicInteger decisions = new AtomicInteger();
  private final SabotagedService sabotaged =
      SabotagedService.start(
          scenario,
          List.of(
              paymentsOfDeciding.interceptor(),
              paymentsOfStoring.interceptor(),
              beforeDecision.ofConnections("expiry-"),
              batchesInterceptor(),
              StatementInterceptor.counting(SafeguardRemover.DECISION, decisions)),
          "spring.datasource.hikari.connection-timeout",
          "1000");

  private boolean used;

  private UnreadRecords payments(int partition) {
    return new UnreadRecords(new TopicPartition(scenario.topics().paid(), partition));
  }

  /** Stops the intake between reading and storing. */
  private BeanPostProcessor batchesInterceptor() {
    return Interceptors.consumers(
        call -> {
          Object result = call.proceed();
          if (result instanceof ConsumerRecords<?, ?> records
              && !records.isEmpty()
              && !((Consumer<?, ?>) Objects.requireNonNull(call.getThis()))
                  .subscription()
                  .isEmpty()) {
            beforeStore.pass();
          }
          return result;
        });
  }

  @AfterEach
  void restore() {
    paymentsOfDeciding.unblock();
    paymentsOfStoring.unblock();
    beforeDecision.open();
    beforeStore.open();
    sabotaged.safeguards().restoreAll();
  }

  @AfterAll
  void close() {
    sabotaged.close();
    pair.close();
  }

  @Test
  void withAllSafeguardsNoPromiseIsBroken() {
    failOver("all-");

    for (String group : List.of("all-deciding-", "all-storing-")) {
      Verdict verdict = sabotaged.judge(group);
      assertThat(verdict.brokenPromises()).isEmpty();
      assertThat(verdict.inState("PAID")).isEqualTo(ORDERS);
    }
    Verdict verdict = sabotaged.judge("all-published-");
    assertThat(verdict.brokenPromises()).isEmpty();
    assertThat(verdict.inState("CANCELLED")).isEqualTo(ORDERS);
    assertThat(verdict.conflicts()).isEqualTo(ORDERS);
  }

  @Test
  void withoutOneOfThemThePromiseOfItsShardIsBroken() {
    failOver(
        "without-",
        Safeguard.POSITIONS_IN_DECISION,
        Safeguard.SERVER_IN_DECISION,
        Safeguard.POSITIONS_IN_STORING,
        Safeguard.SERVER_IN_STORING,
        Safeguard.READ_BACK);

    // The lost payments are read again, and meet cancelled orders.
    assertBroken("without-deciding-", "CANCELLED", Map.of(Kind.PAID_YET_CANCELLED, ORDERS));
    // The lost payments are never read again.
    assertBroken(
        "without-storing-",
        "CANCELLED",
        Map.of(Kind.PAID_YET_CANCELLED, ORDERS, Kind.CONFLICT_MISSING, ORDERS));
    // PAID without a conflict, although the cancellation was published.
    assertBroken("without-published-", "PAID", Map.of(Kind.DECIDED_TWICE, ORDERS));
  }

  private void assertBroken(String prefix, String state, Map<Kind, Integer> violations) {
    Verdict verdict = sabotaged.judge(prefix);
    assertThat(verdict.violationCounts()).as("%s", verdict).isEqualTo(violations);
    assertThat(verdict.inState(state)).isEqualTo(ORDERS);
  }

  private void failOver(String prefix, Safeguard... removed) {
    String deciding = prefix + "deciding-";
    String storing = prefix + "storing-";
    String published = prefix + "published-";
    if (used) {
      pair.addStandby();
    }
    used = true;
    pair.connectClients();

    // Paid before the deadline is chosen, so in time on a machine of any speed.
    paymentsOfDeciding.block();
    paymentsOfStoring.block();
    sabotaged.pay(deciding, DECIDING, ORDERS);
    sabotaged.pay(storing, STORING, ORDERS);
    Instant deadline = Scenario.in(Duration.ofSeconds(1));
    // Nothing is decided that the failover would not lose.
    beforeDecision.close();
    sabotaged.create(deciding, DECIDING, ORDERS, deadline);
    sabotaged.create(storing, STORING, ORDERS, deadline);
    sabotaged.create(published, PUBLISHED, ORDERS, deadline);
    sabotaged.awaitStates(prefix, "PENDING", 3 * ORDERS);
    pair.cutReplication();
    beforeDecision.open();

    paymentsOfStoring.unblock();
    sabotaged.awaitStates(storing, "PAID", ORDERS);
    IntStream.range(0, ORDERS).forEach(i -> scenario.outcomes().awaitCancelled(published + i));
    await("the other orders to wait for their payments").until(() -> lag() > 0.5);
    beforeDecision.close();
    paymentsOfDeciding.unblock();
    sabotaged.awaitStates(deciding, "PAID", ORDERS);
    awaitReached("a decision", beforeDecision);
    beforeStore.close();
    sabotaged.pay(prefix + "further-", STORING, ORDERS);
    awaitReached("a batch", beforeStore);

    pair.crashPrimary();
    sabotaged.pay(published, PUBLISHED, ORDERS);
    // The intake requests the read-back, but it is stopped. The read-back itself has to notice.
    await("the read-back to miss Postgres")
        .until(() -> sabotaged.service().gauge("order.timeout.failing", "step", "read-back") > 0);
    pair.promote();
    without(
        Set.of(Safeguard.READ_BACK),
        removed,
        () -> {
          pair.connectClients();
          await("the read-back").until(this::isReadBack);
        });
    int before = decisions.get();
    without(
        Set.of(Safeguard.POSITIONS_IN_DECISION, Safeguard.SERVER_IN_DECISION),
        removed,
        () -> {
          beforeDecision.open();
          await("the decision").until(() -> decisions.get() > before);
        });
    without(
        Set.of(Safeguard.POSITIONS_IN_STORING, Safeguard.SERVER_IN_STORING),
        removed,
        () -> {
          beforeStore.open();
          sabotaged.awaitStates(prefix + "further-", "PAID", ORDERS);
        });
  }

  private void without(Set<Safeguard> safeguards, Safeguard[] removed, Runnable step) {
    List<Safeguard> now = Stream.of(removed).filter(safeguards::contains).toList();
    now.forEach(sabotaged.safeguards()::remove);
    step.run();
    now.forEach(sabotaged.safeguards()::restore);
  }

  private static void awaitReached(String what, Barrier barrier) {
    await(what).until(barrier::isReached);
  }

  private double lag() {
    return sabotaged
        .service()
        .gauge("order.timeout.watermark.lag", "shard", String.valueOf(DECIDING));
  }

  private boolean isReadBack() {
    try {
      return sabotaged.service().bean(ReadBackState.class).isReflected("any order");
    } catch (DataAccessException e) {
      return false; // Postgres is away
    }
  }
}
