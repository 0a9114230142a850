package io.ordertimeout.orders.intake;

import io.micrometer.core.instrument.MeterRegistry;
import io.ordertimeout.orders.LifecyclePhases;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.kafka.InputTopics;
import io.ordertimeout.orders.platform.kafka.KafkaConsumers;
import io.ordertimeout.orders.platform.loop.LoopThreads;
import io.ordertimeout.orders.platform.monitoring.StepHealth;
import io.ordertimeout.orders.platform.monitoring.StepHealthRegistry;
import io.ordertimeout.orders.platform.postgres.PostgresUnavailableException;
import io.ordertimeout.orders.shard.Shards;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.env.Environment;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;

/** The consumer threads of this instance. */
@Component
public class Intake implements SmartLifecycle, LoopThreads {

  private static final Logger log = LoggerFactory.getLogger(Intake.class);
  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(20);

  /** Several verifications may fail before the memberships count as unconfirmed. */
  private static final Duration CONFIRMED_WITHIN = Duration.ofSeconds(20);

  private final IntakePrerequisites prerequisites;
  private final String bootstrapServers;
  private final List<IntakeLoop> loops;
  private final List<Thread> threads;
  private volatile boolean running;

  Intake(
      IntakePrerequisites prerequisites,
      InputTopics inputTopics,
      KafkaConsumers consumers,
      StartingPositions startingPositions,
      GroupGenerations generations,
      PositionComparison comparison,
      BatchIntake intake,
      Shards shards,
      StepHealthRegistry steps,
      OrderTimeoutProperties properties,
      Environment environment,
      MeterRegistry meters) {
    this.prerequisites = prerequisites;
    this.bootstrapServers = environment.getProperty("spring.kafka.bootstrap-servers", "");
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
                        generations,
                        startingPositions,
                        comparison,
                        intake,
                        shards,
                        properties,
                        meters))
            .toList();
    this.threads =
        IntStream.range(0, loops.size())
            .mapToObj(number -> new Thread(loops.get(number), "intake-" + number))
            .toList();
  }

  /** Whether all consumers of this instance have joined their group and acquired their shards. */
  public boolean hasJoined() {
    return loops.stream().allMatch(IntakeLoop::hasJoined);
  }

  /** Whether the group has lately confirmed the memberships of all consumers. */
  boolean isConfirmed() {
    return loops.stream().allMatch(loop -> loop.membership().isConfirmedWithin(CONFIRMED_WITHIN));
  }

  /** The loops of the consumer threads. */
  List<IntakeLoop> loops() {
    return loops;
  }

  /**
   * Starts reading. Fails on errors that a retry cannot fix: topics that are missing or not
   * co-partitioned, a failed migration, a wrong password for Postgres. If Kafka or Postgres is
   * unavailable, the threads start and wait for it.
   */
  @Override
  public void start() {
    try {
      prerequisites.ensure();
    } catch (KafkaException | PostgresUnavailableException | DataAccessException e) {
      log.warn(
          "No order is read, stored or cancelled until Kafka ({}) and Postgres (spring.datasource.url)"
              + " can be used; this instance waits for them: {}",
          bootstrapServers,
          StepHealth.describe(e));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    threads.forEach(Thread::start);
    running = true;
  }

  @Override
  public void stop() {
    running = false;
    loops.forEach(IntakeLoop::stop);
    try {
      for (Thread thread : threads) {
        thread.join(STOP_TIMEOUT.toMillis());
        if (thread.isAlive()) {
          log.warn("{} did not stop within {}; interrupting it", thread.getName(), STOP_TIMEOUT);
          thread.interrupt();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public List<String> endedThreads() {
    return running
        ? threads.stream().filter(thread -> !thread.isAlive()).map(Thread::getName).toList()
        : List.of();
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  @Override
  public int getPhase() {
    return LifecyclePhases.INTAKE;
  }
}
