package io.ordertimeout.it.failover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Interceptors;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.traffic.Deadlines;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.errors.TimeoutException;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * Cancellations that were on their way to Kafka when a failover lost them: each order is decided
 * once for the world.
 */
@Tag("faults")
@Order(20)
class UnsentCancellationsIT extends FailoverFixture {

  /** Long enough for a decision that comes, and short for one that never will. */
  private static final Duration PATIENCE_FOR_SECOND_DECISION = Duration.ofSeconds(4);

  /** The topic is unknown until the order is cancelled again, at another time. */
  @Test
  void aLostCancellationThatWasNotSentIsNeverPublished() {
    AtomicBoolean unknown = new AtomicBoolean(true);
    String topic = scenario().topics().cancelled();
    BeanPostProcessor hidden =
        Interceptors.beans(
            Admin.class,
            call -> {
              if (call.getMethod().getName().equals("describeTopics")
                  && call.getArguments()[0].equals(List.of(topic))
                  && unknown.get()) {
                call.getArguments()[0] = List.of(topic + ".hidden");
              }
              return call.proceed();
            });
    try (Service service = scenario().startService(List.of(hidden))) {
      createPending(List.of("order"));
      scenario().awaitQuiet();
      pair().cutReplication();
      Deadlines.passNow(database(), "order");
      scenario().awaitState("order", "CANCELLED");
      String lost = database().column("order", "decided_at");

      pair().failOver();
      Deadlines.passNow(database(), "order");
      scenario().awaitState("order", "CANCELLED");
      assertThat(database().column("order", "decided_at")).isNotEqualTo(lost);
      unknown.set(false);

      PublishedEvent published = outcomes().awaitCancelled("order");
      scenario().awaitQuiet();
      assertCancelledAs(published);
      assertThat(outcomes().cancelled("order")).hasSize(1);
      service.awaitReady(true);
    }
  }

  /** Its sending fails once the new primary answers, in which the order is due as well. */
  @Test
  void aLostCancellationThatKafkaDidNotAcceptIsNeverPublished() {
    SlowPublication publication = new SlowPublication(scenario().topics().cancelled());
    publication.fail();
    try (Service service = scenario().startService(List.of(publication.interceptor()))) {
      scenario().create("order", 0, Deadlines.afterCreation(scenario()));
      scenario().awaitState("order", "PENDING");
      pair().cutReplication();
      publication.awaitBegin();

      pair().failOver();
      // The intake tells the service of the new primary.
      scenario().create("another", 1, Scenario.in(Duration.ofHours(1)));
      scenario().awaitState("another", "PENDING");
      publication.release();

      scenario().awaitState("order", "CANCELLED");
      PublishedEvent published = outcomes().awaitCancelled("order");
      scenario().awaitQuiet();
      assertCancelledAs(published);
      assertThat(outcomes().cancelled("order")).hasSize(1);
      service.awaitReady(true);
      assertNothingHeld();
    } finally {
      publication.release();
    }
  }

  /** Kafka refuses it until the order is cancelled again, at another time. */
  @Test
  void aLostCancellationThatIsToBeSentAgainIsNeverPublished() {
    AtomicBoolean refusing = new AtomicBoolean(true);
    BeanPostProcessor refusal =
        Interceptors.sends(
            scenario().topics().cancelled(),
            call -> {
              if (refusing.get()) {
                throw new TimeoutException("not now");
              }
              return call.proceed();
            });
    try (Service service = scenario().startService(List.of(refusal))) {
      createPending(List.of("order"));
      scenario().awaitQuiet();
      pair().cutReplication();
      Deadlines.passNow(database(), "order");
      scenario().awaitState("order", "CANCELLED");
      String lost = database().column("order", "decided_at");
      await("the refusal")
          .until(() -> service.gauge("order.timeout.failing", "step", "outbox-relay") > 0);

      pair().failOver();
      Deadlines.passNow(database(), "order");
      scenario().awaitState("order", "CANCELLED");
      assertThat(database().column("order", "decided_at")).isNotEqualTo(lost);
      refusing.set(false);

      PublishedEvent published = outcomes().awaitCancelled("order");
      scenario().awaitQuiet();
      assertCancelledAs(published);
      assertThat(outcomes().cancelled("order")).hasSize(1);
      service.awaitReady(true);
    }
  }

  /** It is committed, but the service learns so only after the order was decided again. */
  @Test
  void aLostCancellationOfWhichTheServiceLearnsTooLateIsNeverPublished() {
    SlowDecision decision = new SlowDecision();
    try (Service service = scenario().startService(List.of(decision.interceptor()))) {
      createPending(List.of("order"));
      scenario().awaitQuiet();
      pair().cutReplication();
      decision.delayNext();
      Deadlines.passNow(database(), "order");
      decision.awaitCommit();

      pair().failOver();
      Deadlines.passNow(database(), "order");
      PublishedEvent published = outcomes().awaitCancelled("order");
      decision.release();

      scenario().passDeadline("another", 0);
      scenario().awaitQuiet();
      assertCancelledAs(published);
      assertThat(outcomes().cancelled("order")).hasSize(1);
      service.awaitReady(true);
      assertNothingHeld();
    } finally {
      decision.release();
    }
  }

  @Test
  void aLostCancellationThatReachesKafkaAfterTheFailoverCounts() {
    SlowPublication publication = new SlowPublication(scenario().topics().cancelled());
    try (Service service = scenario().startService(List.of(publication.interceptor()))) {
      createPending(List.of("order"));
      scenario().awaitQuiet();
      pair().cutReplication();
      Deadlines.passNow(database(), "order");
      publication.awaitBegin();

      pair().failOver();
      scenario().pay("order", 0);
      awaitStored();
      publication.release();

      PublishedEvent published = outcomes().awaitCancelled("order");
      assertOneConflict("order");
      scenario().awaitState("order", "CANCELLED");
      assertCancelledAs(published);
      service.awaitReady(true);
      assertNothingHeld();
    } finally {
      publication.release();
    }
  }

  /** The order is due in the new primary as well, so it could be cancelled a second time. */
  @Test
  void aLostCancellationOnItsWayToKafkaIsNotDecidedAnew() {
    SlowPublication publication = new SlowPublication(scenario().topics().cancelled());
    try (Service service = scenario().startService(List.of(publication.interceptor()))) {
      scenario().create("order", 0, Deadlines.afterCreation(scenario()));
      scenario().awaitState("order", "PENDING");
      pair().cutReplication();
      publication.awaitBegin();

      pair().failOver();
      try {
        await("a second decision")
            .atMost(PATIENCE_FOR_SECOND_DECISION)
            .until(() -> "CANCELLED".equals(database().state("order")));
      } catch (ConditionTimeoutException e) {
        // It waits for the publication of the first one.
      }
      publication.release();

      PublishedEvent published = outcomes().awaitCancelled("order");
      scenario().awaitState("order", "CANCELLED");
      scenario().passDeadline("another", 0);
      scenario().awaitQuiet();
      assertCancelledAs(published);
      service.awaitReady(true);
      assertNothingHeld();
    } finally {
      publication.release();
    }
  }

  /** Delays the result of a decision that is committed. */
  private static final class SlowDecision {

    private final AtomicBoolean delaying = new AtomicBoolean();
    private final CountDownLatch committed = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    BeanPostProcessor interceptor() {
      return Interceptors.made(
          DataSource.class,
          Connection.class,
          call -> {
            Object made = call.proceed();
            return made instanceof PreparedStatement statement
                    && ((String) call.getArguments()[0]).contains("set state = 'CANCELLED'")
                ? Interceptors.around(PreparedStatement.class, statement, this::onStatement)
                : made;
          });
    }

    private @Nullable Object onStatement(MethodInvocation call) throws Throwable {
      Object result = call.proceed();
      if (call.getMethod().getName().startsWith("execute") && delaying.getAndSet(false)) {
        committed.countDown();
        released.await();
      }
      return result;
    }

    void delayNext() {
      delaying.set(true);
    }

    void awaitCommit() {
      await("a decision").until(() -> committed.getCount() == 0);
    }

    void release() {
      released.countDown();
    }
  }

  /** Delays what the service publishes to a topic. */
  private static final class SlowPublication {

    private final String topic;
    private final AtomicBoolean failing = new AtomicBoolean();
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    SlowPublication(String topic) {
      this.topic = topic;
    }

    BeanPostProcessor interceptor() {
      return Interceptors.sends(
          topic,
          call -> {
            begun.countDown();
            released.await();
            if (failing.getAndSet(false)) {
              throw new TimeoutException("not now");
            }
            return call.proceed();
          });
    }

    /** Has the first publication fail after its delay. */
    void fail() {
      failing.set(true);
    }

    void awaitBegin() {
      await("the publication to begin").until(() -> begun.getCount() == 0);
    }

    void release() {
      released.countDown();
    }
  }
}
