package io.ordertimeout.it.traffic;

import io.ordertimeout.it.traffic.ScheduledEvent.Delivery;
import io.ordertimeout.it.traffic.ScheduledEvent.Input;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/**
 * The events of one order, determined when it is created. The same random numbers result in the
 * same script, except for the time of day.
 */
final class OrderScript {

  private static final Duration FAR_TIMEOUT = Duration.ofHours(1);

  private final RandomGenerator random;
  private final TrafficProfile profile;
  private final String orderId;
  private final Instant createdAt;
  private final List<ScheduledEvent> events = new ArrayList<>();

  private OrderScript(
      RandomGenerator random, TrafficProfile profile, String orderId, Instant createdAt) {
    this.random = random;
    this.profile = profile;
    this.orderId = orderId;
    this.createdAt = createdAt;
  }

  static List<ScheduledEvent> write(
      RandomGenerator random, TrafficProfile profile, String orderId, Instant now) {
    OrderScript script =
        new OrderScript(random, profile, orderId, now.truncatedTo(ChronoUnit.MICROS));
    script.write(profile.draw(random));
    return script.events;
  }

  private void write(OrderFate fate) {
    Duration timeout =
        fate == OrderFate.FAR_DEADLINE
            ? FAR_TIMEOUT
            : between(profile.shortest(), profile.longest());
    Instant deadline = onGrid(createdAt.plus(timeout));
    switch (fate) {
      case PAID -> {
        created(createdAt, deadline);
        paid(within(deadline, 0.05, 0.9), "p1");
      }
      case PAID_AT_DEADLINE -> {
        created(createdAt, deadline);
        paid(closeTo(deadline), "p1");
      }
      case PAID_LATE -> {
        created(createdAt, deadline);
        paid(within(deadline, 1.05, 1.5), "p1");
      }
      case PAID_SLOWLY -> {
        created(createdAt, deadline);
        started(within(deadline, 0.3, 0.9), "a1", deadline.plusSeconds(4));
        Instant paidAt = deadline.plusMillis(random.nextInt(3_000));
        paid(paidAt, "p1");
        ended(paidAt.plusMillis(random.nextInt(100)), "a1");
      }
      case PAYMENT_FAILED -> {
        created(createdAt, deadline);
        started(within(deadline, 0.1, 0.8), "a1", deadline.plusSeconds(4));
        ended(within(deadline, 0.8, 1.4), random.nextBoolean() ? "a1" : "");
      }
      case PAYMENT_ABANDONED -> {
        created(createdAt, deadline);
        started(
            within(deadline, 0.1, 0.99), "a1", deadline.plusMillis(random.nextInt(-500, 3_000)));
      }
      case PAYMENTS_OVERLAP -> {
        created(createdAt, deadline);
        started(within(deadline, 0.1, 0.5), "a1", deadline.plusSeconds(2));
        started(within(deadline, 0.3, 0.7), "a2", deadline.plusSeconds(3));
        ended(within(deadline, 0.7, 1.1), "a1");
        started(within(deadline, 0.8, 0.99), "a2", deadline.plusMillis(random.nextInt(4_000)));
      }
      case ATTEMPTED_BEFORE_CREATED -> {
        started(createdAt, "a1", deadline.plusSeconds(2));
        created(createdAt.plusMillis(random.nextInt(50, 500)), deadline);
      }
      case POSTPONED -> {
        created(createdAt, deadline);
        Instant later = deadline.plusMillis(random.nextInt(500, 4_000));
        changed(within(deadline, 0.1, 0.9), later);
        if (random.nextBoolean()) {
          paid(deadline.plusMillis(random.nextInt(450)), "p1");
        }
      }
      case POSTPONED_AT_DEADLINE -> {
        created(createdAt, deadline);
        changed(closeTo(deadline), deadline.plusMillis(random.nextInt(100, 2_000)));
      }
      case BROUGHT_FORWARD -> {
        created(createdAt, deadline);
        Instant at = within(deadline, 0.1, 0.4);
        changed(at, within(deadline, 0.41, 0.9));
        if (random.nextBoolean()) {
          changed(at.plusMillis(random.nextInt(200)), deadline.plusMillis(random.nextInt(2_000)));
        }
      }
      case CHANGED_BEFORE_CREATED -> {
        changed(createdAt, deadline.plusMillis(random.nextInt(-500, 3_000)));
        created(createdAt.plusMillis(random.nextInt(50, 500)), deadline);
      }
      case NEVER_PAID, FAR_DEADLINE -> created(createdAt, deadline);
      case CLOSED -> {
        created(createdAt, deadline);
        closed(within(deadline, 0.05, 0.9));
      }
      case CLOSED_AT_DEADLINE -> {
        created(createdAt, deadline);
        closed(closeTo(deadline));
      }
      case PAID_TWICE -> {
        created(createdAt, deadline);
        paid(within(deadline, 0.1, 1.2), "p1");
        paid(within(deadline, 0.1, 1.2), "p2");
      }
      case PAID_AND_CLOSED -> {
        created(createdAt, deadline);
        Instant together = within(deadline, 0.1, 1.1);
        paid(together.plusMillis(random.nextInt(20)), "p1");
        closed(together.plusMillis(random.nextInt(20)));
      }
      case PAID_BEFORE_CREATED -> {
        paid(createdAt, "p1");
        created(createdAt.plusMillis(random.nextInt(50, 500)), deadline);
      }
      case PAID_ONLY -> paid(createdAt, "p1");
      case PAID_IN_TRANSACTION -> {
        created(createdAt, deadline);
        inTransaction(deadline, Delivery.COMMITTED);
      }
      case PAYMENT_ABORTED -> {
        created(createdAt, deadline);
        inTransaction(deadline, Delivery.ABORTED);
      }
    }
  }

  /** States the deadline in one of three ways; a repeated event may state another deadline. */
  private void created(Instant at, Instant deadline) {
    Map<String, String> fields =
        switch (random.nextInt(3)) {
          case 0 -> Map.of("createdAt", createdAt.toString(), "payBy", deadline.toString());
          case 1 -> Map.of("payBy", deadline.toString());
          default ->
              Map.of(
                  "createdAt",
                  createdAt.toString(),
                  "timeout",
                  Duration.between(createdAt, deadline).toString());
        };
    ScheduledEvent created = ScheduledEvent.plain(at, Input.CREATED, orderId, fields);
    events.add(created);
    if (random.nextDouble() < profile.repeated()) {
      Duration other =
          random.nextBoolean() ? Duration.ZERO : between(profile.shortest(), profile.longest());
      events.add(
          ScheduledEvent.plain(
              at.plusMillis(random.nextInt(3_000)),
              Input.CREATED,
              orderId,
              other.isZero()
                  ? fields
                  : Map.of("createdAt", createdAt.toString(), "timeout", other.toString())));
    }
  }

  private void paid(Instant at, String paymentId) {
    ScheduledEvent paid =
        ScheduledEvent.plain(
            at,
            Input.PAID,
            orderId,
            random.nextBoolean()
                ? Map.of("paymentId", paymentId)
                : Map.of(
                    "paymentId",
                    paymentId,
                    "paidAt",
                    at.minusMillis(random.nextInt(60)).truncatedTo(ChronoUnit.MICROS).toString()));
    events.add(paid);
    repeat(paid);
  }

  private void started(Instant at, String attemptId, Instant until) {
    events.add(
        ScheduledEvent.plain(
            at,
            Input.ATTEMPT,
            orderId,
            Map.of("attemptId", attemptId, "status", "STARTED", "until", until.toString())));
  }

  /**
   * @param attemptId empty for all attempts
   */
  private void ended(Instant at, String attemptId) {
    events.add(
        ScheduledEvent.plain(
            at,
            Input.ATTEMPT,
            orderId,
            attemptId.isEmpty()
                ? Map.of("status", "ENDED")
                : Map.of("attemptId", attemptId, "status", "ENDED")));
  }

  /** States when, because a record that is delayed must not appear to be behind its deadline. */
  private void changed(Instant at, Instant deadline) {
    ScheduledEvent changed =
        ScheduledEvent.plain(
            at,
            Input.CHANGED,
            orderId,
            Map.of(
                "changedAt",
                at.truncatedTo(ChronoUnit.MICROS).toString(),
                "payBy",
                deadline.truncatedTo(ChronoUnit.MICROS).toString()));
    events.add(changed);
    repeat(changed);
  }

  private void closed(Instant at) {
    ScheduledEvent closed =
        ScheduledEvent.plain(at, Input.CLOSED, orderId, Map.of("reason", "CUSTOMER"));
    events.add(closed);
    repeat(closed);
  }

  private void repeat(ScheduledEvent event) {
    if (random.nextDouble() < profile.repeated()) {
      events.add(event.at(event.at().plusMillis(random.nextInt(3_000))));
    }
  }

  /** Leaves half of the transactions open at the deadline. */
  private void inTransaction(Instant deadline, Delivery delivery) {
    Instant at = random.nextBoolean() ? deadline.minusMillis(150) : within(deadline, 0.1, 0.9);
    events.add(
        ScheduledEvent.plain(at, Input.PAID, orderId, Map.of("paymentId", "p1"))
            .inTransaction(delivery, at.plusMillis(random.nextInt(20, 400))));
  }

  private Instant closeTo(Instant deadline) {
    return deadline.plusNanos(between(profile.spread().negated(), profile.spread()).toNanos());
  }

  private Instant within(Instant deadline, double from, double to) {
    long timeout = Duration.between(createdAt, deadline).toMillis();
    return createdAt.plusMillis((long) (timeout * random.nextDouble(from, to)));
  }

  private Duration between(Duration from, Duration to) {
    return Duration.ofMillis(random.nextLong(from.toMillis(), to.toMillis() + 1));
  }

  private Instant onGrid(Instant time) {
    long grid = profile.grid().toMillis();
    return grid == 0 ? time : Instant.ofEpochMilli((time.toEpochMilli() / grid + 1) * grid);
  }
}
