package io.ordertimeout.local;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * All that will happen to one order, decided when it is created.
 *
 * <p>The same random numbers give the same script. Events are sent at their time, which is not
 * always the time they speak of: some come twice, some creations after their payment.
 */
record OrderScript(Outcome outcome, Instant deadline, List<Line> lines) {

  /** An event and the time to send it. */
  record Line(Instant at, ShopEvent event) {}

  enum Outcome {
    PAID,
    /** Within the last moments before the deadline. */
    PAID_JUST_IN_TIME,
    /** After the deadline, which is money for a cancelled order. */
    PAID_LATE,
    /** By the customer. */
    CLOSED,
    ABANDONED
  }

  private static final double JUST_IN_TIME_OF_PAID = 0.05;
  private static final double CLOSED_OF_UNPAID = 0.12;
  private static final double LATE_OF_UNPAID = 0.04;
  private static final double SENT_TWICE = 0.02;
  private static final double PAID_BEFORE_CREATED = 0.01;

  /** Half of the payments come within a fifth of the timeout, with a long tail. */
  private static final double MEDIAN_OF_TIMEOUT = 0.2;

  private static final double SPREAD = 0.8;
  private static final double LATEST_OF_TIMEOUT = 0.95;

  private static final List<String> CHANNELS = List.of("web", "web", "app", "app", "app", "store");
  private static final List<String> METHODS = List.of("card", "card", "wallet", "transfer");

  static OrderScript write(
      RandomGenerator random, LocalOptions.Traffic options, String orderId, Instant createdAt) {
    Instant created = createdAt.truncatedTo(ChronoUnit.MILLIS);
    Duration timeout =
        Duration.ofMillis(
            random.nextLong(options.timeoutMin().toMillis(), options.timeoutMax().toMillis() + 1));
    Instant deadline = created.plus(timeout);
    Outcome outcome = outcome(random, options.paidRatio());
    List<Line> lines = new ArrayList<>();
    Instant createdSent = created;
    switch (outcome) {
      case PAID -> {
        Instant paid = created.plus(share(timeout, payment(random)));
        if (random.nextDouble() < PAID_BEFORE_CREATED) {
          paid = created.plusMillis(random.nextLong(50, 300));
          createdSent = paid.plusMillis(random.nextLong(100, 700));
        }
        add(lines, random, paid, new ShopEvent.Paid(orderId, "pay-" + orderId, paid));
      }
      case PAID_JUST_IN_TIME -> {
        Instant paid = deadline.minusMillis(random.nextLong(20, 300));
        add(lines, random, paid, new ShopEvent.Paid(orderId, "pay-" + orderId, paid));
      }
      case PAID_LATE -> {
        Instant paid = deadline.plusMillis(random.nextLong(500, 5_000));
        add(lines, random, paid, new ShopEvent.Paid(orderId, "pay-" + orderId, paid));
      }
      case CLOSED -> {
        Instant closed = created.plus(share(timeout, random.nextDouble(0.05, LATEST_OF_TIMEOUT)));
        add(lines, random, closed, new ShopEvent.Closed(orderId, closed, "CUSTOMER"));
      }
      case ABANDONED -> {}
    }
    add(
        lines,
        random,
        createdSent,
        new ShopEvent.Created(
            orderId,
            created,
            timeout,
            CHANNELS.get(random.nextInt(CHANNELS.size())),
            METHODS.get(random.nextInt(METHODS.size())),
            new ShopEvent.Amount(BigDecimal.valueOf(random.nextLong(500, 30_000), 2), "EUR")));
    return new OrderScript(outcome, deadline, List.copyOf(lines));
  }

  private static Outcome outcome(RandomGenerator random, double paidRatio) {
    boolean paid = random.nextDouble() < paidRatio;
    double choice = random.nextDouble();
    if (paid) {
      return choice < JUST_IN_TIME_OF_PAID ? Outcome.PAID_JUST_IN_TIME : Outcome.PAID;
    }
    if (choice < CLOSED_OF_UNPAID) {
      return Outcome.CLOSED;
    }
    return choice < CLOSED_OF_UNPAID + LATE_OF_UNPAID ? Outcome.PAID_LATE : Outcome.ABANDONED;
  }

  /** Log-normal, as a share of the timeout. */
  private static double payment(RandomGenerator random) {
    return Math.min(
        LATEST_OF_TIMEOUT, MEDIAN_OF_TIMEOUT * Math.exp(SPREAD * random.nextGaussian()));
  }

  private static Duration share(Duration timeout, double share) {
    return Duration.ofMillis(Math.round(timeout.toMillis() * share));
  }

  private static void add(List<Line> lines, RandomGenerator random, Instant at, ShopEvent event) {
    lines.add(new Line(at, event));
    if (random.nextDouble() < SENT_TWICE) {
      lines.add(new Line(at.plusMillis(random.nextLong(3_000)), event));
    }
  }
}
