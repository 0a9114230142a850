package io.ordertimeout.it.failover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Interceptors;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.UnreadRecords;
import io.ordertimeout.it.traffic.Deadlines;
import io.ordertimeout.orders.position.ReadBackState;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.errors.UnknownServerException;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The former primary, which nobody has ended or restarted, becomes the primary again. It was read
 * back once, but lacks everything that was decided on the server in between.
 */
@Tag("faults")
@Order(20)
class FailbackIT extends FailoverFixture {

  /** Long enough for a decision that comes, and short for one that never will. */
  private static final Duration PATIENCE_FOR_SECOND_DECISION = Duration.ofSeconds(4);

  private final FailingPolls polls = new FailingPolls();

  @Test
  void decisionsOfTheServerInBetweenStayAsPublished() {
    assertDecisionsStayAsPublished(() -> pair().connectClients());
  }

  @Test
  void decisionsOfTheServerInBetweenStayAsPublishedIfTheConsumerIsReplacedMeanwhile() {
    assertDecisionsStayAsPublished(
        () -> {
          pair().clients().refuse();
          polls.failOnce();
          pair().connectClients();
          pair().clients().restore();
        });
  }

  /** Neither what was read back before the other server answered counts, nor what has begun. */
  @Test
  void aServerThatAnswersAgainIsReadBackAgain() {
    try (Service service = scenario().startService()) {
      service.awaitReady(true);
      ReadBackState readBack = service.bean(ReadBackState.class);
      ReadBackState.State begun =
          Objects.requireNonNull(
              service
                  .bean(TransactionTemplate.class)
                  .execute(status -> readBack.read(scenario().topics().outputs())));
      assertThat(begun.isComplete()).isTrue();

      assertThat(readBack.notice("another server", false)).isFalse();
      assertThat(readBack.notice(begun.server(), false)).isFalse();

      assertThat(readBack.complete(begun, List.of(), Map.of(), Map.of(), Map.of())).isFalse();
      scenario().passDeadline("order", 0);
      scenario().awaitQuiet();
      assertThat(readBack.reflected().identity()).isEqualTo(begun.server());
    }
  }

  /** Has a poll of the group's consumer fail, which has the consumer replaced. */
  private static final class FailingPolls {

    private volatile boolean failing;

    BeanPostProcessor interceptor() {
      return Interceptors.consumers(
          call -> {
            if (failing
                && call.getMethod().getName().equals("poll")
                && !((Consumer<?, ?>) Objects.requireNonNull(call.getThis()))
                    .subscription()
                    .isEmpty()) {
              failing = false;
              throw new UnknownServerException("by a test");
            }
            return call.proceed();
          });
    }

    void failOnce() {
      failing = true;
      await("the failure").until(() -> !failing);
    }
  }

  private void assertDecisionsStayAsPublished(Runnable failback) {
    UnreadRecords cancellations = new UnreadRecords(scenario().topics().cancelled());
    try (Service service =
        scenario().startService(List.of(cancellations.interceptor(), polls.interceptor()))) {
      createPending(List.of("order"));
      scenario().awaitQuiet();
      pair().cutReplication();
      pair().promoteBesidePrimary();
      pair().connectClients();
      scenario().passDeadline("lost", 1);
      Deadlines.passNow(database(), "order");
      PublishedEvent published = outcomes().awaitCancelled("order");
      PublishedEvent lost = outcomes().awaitCancelled("lost");
      scenario().awaitQuiet();

      // The follower of the output topics would restore the cancellation soon in any case.
      cancellations.block();
      pair().failBack();
      // The order is due there as well.
      database().makePendingDue();
      failback.run();

      try {
        await("a second decision")
            .atMost(PATIENCE_FOR_SECOND_DECISION)
            .until(() -> "CANCELLED".equals(database().state("order")));
      } catch (ConditionTimeoutException e) {
        // Everything that was published is read back first.
      }
      cancellations.unblock();
      scenario().awaitState("order", "CANCELLED");
      awaitStored();
      scenario().passDeadline("another", 0);
      scenario().awaitQuiet();
      assertCancelledAs(published);
      assertCancelledAs(lost);
      scenario().pay("order", 0);
      assertThat(assertOneConflict("order").text("cancelledAt"))
          .isEqualTo(published.text("cancelledAt"));
      service.awaitReady(true);
      assertNothingHeld();
    } finally {
      pair().crashFormerPrimary();
    }
  }
}
