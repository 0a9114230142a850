package io.ordertimeout.it.support;

import java.util.List;
import java.util.Map;

/** The topics of one scenario, which no other scenario uses. */
public record TopicNames(
    String created, String paid, String closed, String cancelled, String conflict) {

  public static TopicNames of(String prefix) {
    return new TopicNames(
        prefix + "-created",
        prefix + "-paid",
        prefix + "-closed",
        prefix + "-cancelled",
        prefix + "-conflict");
  }

  public static String deadLetters(String input) {
    return input + ".dlt";
  }

  public List<String> inputs() {
    return List.of(created, paid, closed);
  }

  public List<String> outputs() {
    return List.of(cancelled, conflict);
  }

  public List<String> deadLetters() {
    return inputs().stream().map(TopicNames::deadLetters).toList();
  }

  public Map<String, String> settings() {
    return Map.of(
        "order-timeout.topics.created", created,
        "order-timeout.topics.paid", paid,
        "order-timeout.topics.closed", closed,
        "order-timeout.topics.cancelled", cancelled,
        "order-timeout.topics.conflict", conflict);
  }
}
