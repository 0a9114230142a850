package io.ordertimeout.it;

import java.util.List;
import java.util.Map;

/** The topics of one stage, which no other stage uses. */
record TopicNames(String created, String paid, String closed, String cancelled, String conflict) {

  static TopicNames of(String prefix) {
    return new TopicNames(
        prefix + "-created",
        prefix + "-paid",
        prefix + "-closed",
        prefix + "-cancelled",
        prefix + "-conflict");
  }

  static String deadLetters(String input) {
    return input + ".dlt";
  }

  List<String> inputs() {
    return List.of(created, paid, closed);
  }

  List<String> deadLetters() {
    return inputs().stream().map(TopicNames::deadLetters).toList();
  }

  Map<String, String> settings() {
    return Map.of(
        "order-timeout.topics.created", created,
        "order-timeout.topics.paid", paid,
        "order-timeout.topics.closed", closed,
        "order-timeout.topics.cancelled", cancelled,
        "order-timeout.topics.conflict", conflict);
  }
}
