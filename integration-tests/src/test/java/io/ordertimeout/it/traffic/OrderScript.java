package io.ordertimeout.it.traffic;

import io.ordertimeout.it.traffic.Message.Delivery;
import io.ordertimeout.it.traffic.Message.Input;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/**
 * All that the shop will say about one order, decided when it is created: the same random numbers
 * give the same script, but for the time of day.
 */
final class OrderScript {

  private static final Duration FAR_AWAY = Duration.ofHours(1);

  private final RandomGenerator random;
  private final Mix mix;
  private final String orderId;
  private final Instant createdAt;
  private final List<Message> messages = new ArrayList<>();

  private OrderScript(RandomGenerator random, Mix mix, String orderId, Instant createdAt) {
    this.random = random;
    this.mix = mix;
    this.orderId = orderId;
    this.createdAt = createdAt;
  }

  static List<Message> write(RandomGenerator random, Mix mix, String orderId, Instant now) {
    OrderScript script = new OrderScript(random, mix, orderId, now.truncatedTo(ChronoUnit.MICROS));
    script.write(mix.draw(random));
    return script.messages;
  }

  private void write(Fate fate) {
    Duration timeout = fate == Fate.FAR ? FAR_AWAY : between(mix.shortest(), mix.longest());
    Instant deadline = onGrid(createdAt.plus(timeout));
    switch (fate) {
      case PAID -> {
        created(createdAt, deadline);
        paid(share(deadline, 0.05, 0.9), "p1");
      }
      case PAID_AT_DEADLINE -> {
        created(createdAt, deadline);
        paid(aimedAt(deadline), "p1");
      }
      case PAID_LATE -> {
        created(createdAt, deadline);
        paid(share(deadline, 1.05, 1.5), "p1");
      }
      case NEVER_PAID, FAR -> created(createdAt, deadline);
      case CLOSED -> {
        created(createdAt, deadline);
        closed(share(deadline, 0.05, 0.9));
      }
      case CLOSED_AT_DEADLINE -> {
        created(createdAt, deadline);
        closed(aimedAt(deadline));
      }
      case PAID_TWICE -> {
        created(createdAt, deadline);
        paid(share(deadline, 0.1, 1.2), "p1");
        paid(share(deadline, 0.1, 1.2), "p2");
      }
      case PAID_AND_CLOSED -> {
        created(createdAt, deadline);
        Instant together = share(deadline, 0.1, 1.1);
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

  /** The deadline is said in one of three ways; whoever repeats the event may say another. */
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
    Message created = Message.plain(at, Input.CREATED, orderId, fields);
    messages.add(created);
    if (random.nextDouble() < mix.repeated()) {
      Duration other =
          random.nextBoolean() ? Duration.ZERO : between(mix.shortest(), mix.longest());
      messages.add(
          Message.plain(
              at.plusMillis(random.nextInt(3_000)),
              Input.CREATED,
              orderId,
              other.isZero()
                  ? fields
                  : Map.of("createdAt", createdAt.toString(), "timeout", other.toString())));
    }
  }

  private void paid(Instant at, String paymentId) {
    Message paid =
        Message.plain(
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
    messages.add(paid);
    repeat(paid);
  }

  private void closed(Instant at) {
    Message closed = Message.plain(at, Input.CLOSED, orderId, Map.of("reason", "CUSTOMER"));
    messages.add(closed);
    repeat(closed);
  }

  private void repeat(Message message) {
    if (random.nextDouble() < mix.repeated()) {
      messages.add(message.at(message.at().plusMillis(random.nextInt(3_000))));
    }
  }

  /** Half of the transactions are open when the deadline passes. */
  private void inTransaction(Instant deadline, Delivery delivery) {
    Instant at = random.nextBoolean() ? deadline.minusMillis(150) : share(deadline, 0.1, 0.9);
    messages.add(
        Message.plain(at, Input.PAID, orderId, Map.of("paymentId", "p1"))
            .inTransaction(delivery, at.plusMillis(random.nextInt(20, 400))));
  }

  private Instant aimedAt(Instant deadline) {
    return deadline.plusNanos(between(mix.aim().negated(), mix.aim()).toNanos());
  }

  private Instant share(Instant deadline, double from, double to) {
    long timeout = Duration.between(createdAt, deadline).toMillis();
    return createdAt.plusMillis((long) (timeout * random.nextDouble(from, to)));
  }

  private Duration between(Duration from, Duration to) {
    return Duration.ofMillis(random.nextLong(from.toMillis(), to.toMillis() + 1));
  }

  private Instant onGrid(Instant time) {
    long grid = mix.grid().toMillis();
    return grid == 0 ? time : Instant.ofEpochMilli((time.toEpochMilli() / grid + 1) * grid);
  }
}
