package io.ordertimeout.orders.intake;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.kafka.InputTopics;
import io.ordertimeout.orders.platform.kafka.KafkaConsumers;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.platform.postgres.PostgresUnavailableException;
import io.ordertimeout.orders.shard.Shards;
import io.ordertimeout.orders.watermark.PaymentWatermark;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;

/** The consumer threads of this instance, started last and stopped first. */
@Component
public class Intake implements SmartLifecycle {

  /** Phase of the life cycle: events flow only while all later steps run. */
  public static final int PHASE = Shards.PHASE + 100;

  private static final Logger log = LoggerFactory.getLogger(Intake.class);
  private static final Duration STOP_PATIENCE = Duration.ofSeconds(20);

  private final StartConditions prerequisites;
  private final List<IntakeLoop> loops;
  private final List<Thread> threads;
  private volatile boolean running;

  Intake(
      StartConditions prerequisites,
      InputTopics inputTopics,
      KafkaConsumers consumers,
      StartingPositions startingPositions,
      BatchIntake intake,
      Shards shards,
      PaymentWatermark watermark,
      StepHealthRegistry steps,
      OrderTimeoutProperties properties) {
    this.prerequisites = prerequisites;
    this.loops =
        IntStream.range(0, properties.intake().threads())
            .mapToObj(
                number ->
                    new IntakeLoop(
                        number,
                        steps,
                        prerequisites,
                        inputTopics,
                        consumers,
                        startingPositions,
                        intake,
                        shards,
                        watermark,
                        properties))
            .toList();
    this.threads =
        IntStream.range(0, loops.size())
            .mapToObj(number -> new Thread(loops.get(number), "intake-" + number))
            .toList();
  }

  /** Whether all consumers of this instance are members of their group. */
  public boolean hasJoined() {
    return loops.stream().allMatch(IntakeLoop::hasJoined);
  }

  /**
   * Starts reading. What waiting does not mend ends the start: missing or wrong topics, a schema or
   * a password that Postgres refuses. A Kafka or a Postgres that does not answer is waited for.
   */
  @Override
  public void start() {
    try {
      prerequisites.meet();
    } catch (KafkaException | PostgresUnavailableException | DataAccessException e) {
      log.warn("The intake starts as soon as Kafka and Postgres let it: {}", StepHealth.reason(e));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    running = true;
    threads.forEach(Thread::start);
  }

  @Override
  public void stop() {
    loops.forEach(IntakeLoop::stop);
    try {
      for (Thread thread : threads) {
        thread.join(STOP_PATIENCE.toMillis());
        if (thread.isAlive()) {
          log.warn("{} did not end in {}; interrupting it", thread.getName(), STOP_PATIENCE);
          thread.interrupt();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    running = false;
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  @Override
  public int getPhase() {
    return PHASE;
  }
}
