package io.ordertimeout.local;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Script of one simulated order: all of its events with their send times, generated when the order
 * is created.
 *
 * <p>The same random numbers produce the same script. The send time may differ from the time in the
 * event: some events are sent twice, and some creations after their payment.
 */
record OrderScript(Outcome outcome, Instant deadline, List<TimedEvent> events) {

  /** An event and the time at which to send it. */
  record TimedEvent(Instant at, ShopEvent event) {}

  enum Outcome {
    PAID,
    /** Paid 20 to 300 ms before the deadline. */
    PAID_JUST_IN_TIME,
    /** A payment is under way at the deadline and succeeds after it. */
    PAID_SLOWLY,
    /** A payment is under way at the deadline and fails after it. */
    PAYMENT_FAILED,
    /** Gets more time to pay, and is paid after the first deadline. */
    PAID_AFTER_CHANGE,
    /** Paid after the deadline, which causes a payment conflict. */
    PAID_LATE,
    /** Closed by the customer. */
    CLOSED,
    /** Never paid, so the service has to cancel it. */
    ABANDONED
  }

  private static final double JUST_IN_TIME_OF_PAID = 0.05;
  private static final double SLOWLY_OF_PAID = 0.04;
  private static final double AFTER_CHANGE_OF_PAID = 0.02;
  private static final double FAILED_OF_UNPAID = 0.1;
  private static final double CLOSED_OF_UNPAID = 0.12;
  private static final double LATE_OF_UNPAID = 0.04;
  private static final double SENT_TWICE = 0.02;
  private static final double PAID_BEFORE_CREATED = 0.01;

  /**
   * Half of the payments arrive within a fifth of the timeout; the distribution has a long tail.
   */
  private static final double MEDIAN_OF_TIMEOUT = 0.2;

  private static final double SPREAD = 0.8;
  private static final double LATEST_OF_TIMEOUT = 0.95;

  /** The channel whose customers have more time, so that the next minutes are not empty. */
  private static final String STORE = "store";

  private static final List<String> CHANNELS = List.of("web", "web", "app", "app", "app", STORE);
  private static final List<String> METHODS = List.of("card", "card", "wallet", "transfer");

  static OrderScript generate(
      RandomGenerator random, LocalOptions.Traffic options, String orderId, Instant createdAt) {
    Instant created = createdAt.truncatedTo(ChronoUnit.MILLIS);
    String channel = CHANNELS.get(random.nextInt(CHANNELS.size()));
    Duration timeoutMax = channel.equals(STORE) ? options.longestTimeout() : options.timeoutMax();
    Duration timeout =
        Duration.ofMillis(
            random.nextLong(options.timeoutMin().toMillis(), timeoutMax.toMillis() + 1));
    Instant deadline = created.plus(timeout);
    Outcome outcome = outcome(random, options);
    List<TimedEvent> events = new ArrayList<>();
    Instant createdSent = created;
    switch (outcome) {
      case PAID -> {
        Instant paid = created.plus(share(timeout, paymentDelay(random)));
        if (random.nextDouble() < PAID_BEFORE_CREATED) {
          paid = created.plusMillis(random.nextLong(50, 300));
          createdSent = paid.plusMillis(random.nextLong(100, 700));
        }
        add(events, random, paid, new ShopEvent.Paid(orderId, "pay-" + orderId, paid));
      }
      case PAID_JUST_IN_TIME -> {
        Instant paid = deadline.minusMillis(random.nextLong(20, 300));
        add(events, random, paid, new ShopEvent.Paid(orderId, "pay-" + orderId, paid));
      }
      case PAID_SLOWLY, PAYMENT_FAILED -> {
        String attempt = "attempt-" + orderId;
        Instant started = deadline.minusMillis(random.nextLong(500, 5_000));
        Instant ended = deadline.plusMillis(random.nextLong(500, 8_000));
        add(events, random, started, ShopEvent.Attempt.started(orderId, attempt));
        if (outcome == Outcome.PAID_SLOWLY) {
          add(events, random, ended, new ShopEvent.Paid(orderId, "pay-" + orderId, ended));
        }
        events.add(new TimedEvent(ended.plusMillis(20), ShopEvent.Attempt.ended(orderId, attempt)));
      }
      case PAID_AFTER_CHANGE -> {
        Instant changed = created.plus(share(timeout, random.nextDouble(0.2, 0.8)));
        Instant paid = deadline.plusMillis(random.nextLong(500, 5_000));
        add(events, random, changed, new ShopEvent.Changed(orderId, changed, timeout));
        add(events, random, paid, new ShopEvent.Paid(orderId, "pay-" + orderId, paid));
      }
      case PAID_LATE -> {
        Instant paid = deadline.plusMillis(random.nextLong(500, 5_000));
        add(events, random, paid, new ShopEvent.Paid(orderId, "pay-" + orderId, paid));
      }
      case CLOSED -> {
        Instant closed = created.plus(share(timeout, random.nextDouble(0.05, LATEST_OF_TIMEOUT)));
        add(events, random, closed, new ShopEvent.Closed(orderId, closed, "CUSTOMER"));
      }
      case ABANDONED -> {}
    }
    add(
        events,
        random,
        createdSent,
        new ShopEvent.Created(
            orderId,
            created,
            timeout,
            channel,
            method(random, outcome),
            new ShopEvent.Amount(BigDecimal.valueOf(random.nextLong(500, 30_000), 2), "EUR")));
    return new OrderScript(outcome, deadline, List.copyOf(events));
  }

  private static Outcome outcome(RandomGenerator random, LocalOptions.Traffic options) {
    boolean paid = random.nextDouble() < options.paidRatio();
    double choice = random.nextDouble();
    double other = random.nextDouble();
    if (paid) {
      if (choice < JUST_IN_TIME_OF_PAID) {
        return Outcome.PAID_JUST_IN_TIME;
      }
      if (options.allTopics() && other < SLOWLY_OF_PAID) {
        return Outcome.PAID_SLOWLY;
      }
      return options.allTopics() && other < SLOWLY_OF_PAID + AFTER_CHANGE_OF_PAID
          ? Outcome.PAID_AFTER_CHANGE
          : Outcome.PAID;
    }
    if (options.allTopics() && other < FAILED_OF_UNPAID) {
      return Outcome.PAYMENT_FAILED;
    }
    if (choice < CLOSED_OF_UNPAID) {
      return Outcome.CLOSED;
    }
    return choice < CLOSED_OF_UNPAID + LATE_OF_UNPAID ? Outcome.PAID_LATE : Outcome.ABANDONED;
  }

  /** Payments by wallet are closed at the provider before their orders are cancelled. */
  private static String method(RandomGenerator random, Outcome outcome) {
    String method = METHODS.get(random.nextInt(METHODS.size()));
    return switch (outcome) {
      case PAID_JUST_IN_TIME, PAID_SLOWLY, PAYMENT_FAILED -> "card";
      case PAID_LATE -> "transfer";
      default -> method;
    };
  }

  /** Returns a log-normal payment delay as a share of the timeout. */
  private static double paymentDelay(RandomGenerator random) {
    return Math.min(
        LATEST_OF_TIMEOUT, MEDIAN_OF_TIMEOUT * Math.exp(SPREAD * random.nextGaussian()));
  }

  private static Duration share(Duration timeout, double share) {
    return Duration.ofMillis(Math.round(timeout.toMillis() * share));
  }

  private static void add(
      List<TimedEvent> events, RandomGenerator random, Instant at, ShopEvent event) {
    events.add(new TimedEvent(at, event));
    if (random.nextDouble() < SENT_TWICE) {
      events.add(new TimedEvent(at.plusMillis(random.nextLong(3_000)), event));
    }
  }
}
