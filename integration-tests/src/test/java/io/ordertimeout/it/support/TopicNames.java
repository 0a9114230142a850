package io.ordertimeout.it.support;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The topics of one scenario, which no other scenario uses.
 *
 * @param attempts empty if the scenario has none
 * @param changed empty if the scenario has none
 * @param expiring empty if the scenario has none
 */
public record TopicNames(
    String created,
    String paid,
    String closed,
    String attempts,
    String changed,
    String cancelled,
    String conflict,
    String expiring) {

  /** The topics that the service uses by default. */
  public static TopicNames of(String prefix) {
    return new TopicNames(
        prefix + "-created",
        prefix + "-paid",
        prefix + "-closed",
        "",
        "",
        prefix + "-cancelled",
        prefix + "-conflict",
        "");
  }

  /** The same, with the names that the service has by default behind the prefix. */
  public static TopicNames ofAShop(String prefix) {
    return new TopicNames(
        prefix + "-order-created",
        prefix + "-order-paid",
        prefix + "-order-closed",
        "",
        "",
        prefix + "-order-cancelled",
        prefix + "-order-payment-conflict",
        "");
  }

  /** All topics that the service can use. */
  public static TopicNames all(String prefix) {
    TopicNames names = of(prefix);
    return new TopicNames(
        names.created,
        names.paid,
        names.closed,
        prefix + "-attempt",
        prefix + "-changed",
        names.cancelled,
        names.conflict,
        prefix + "-expiring");
  }

  public static String deadLetters(String input) {
    return input + ".dlt";
  }

  public List<String> inputs() {
    return Stream.of(created, paid, closed, attempts, changed)
        .filter(name -> !name.isEmpty())
        .toList();
  }

  public List<String> outputs() {
    return Stream.of(cancelled, conflict, expiring).filter(name -> !name.isEmpty()).toList();
  }

  public List<String> deadLetters() {
    return inputs().stream().map(TopicNames::deadLetters).toList();
  }

  /**
   * The settings of a service that uses them; versions without the optional topics accept theirs.
   */
  public Map<String, String> settings() {
    Map<String, String> settings = new LinkedHashMap<>();
    if (!attempts.isEmpty()) {
      settings.put("order-timeout.topics.attempts", attempts);
      settings.put("order-timeout.topics.changed", changed);
      settings.put("order-timeout.topics.expiring", expiring);
    }
    settings.putAll(
        Map.of(
            "order-timeout.topics.created", created,
            "order-timeout.topics.paid", paid,
            "order-timeout.topics.closed", closed,
            "order-timeout.topics.cancelled", cancelled,
            "order-timeout.topics.conflict", conflict));
    return settings;
  }
}
