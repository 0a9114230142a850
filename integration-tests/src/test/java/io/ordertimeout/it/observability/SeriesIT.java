package io.ordertimeout.it.observability;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.ServiceProcess;
import io.ordertimeout.it.support.TopicNames;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Which series a service has before anything happens: no more and no less than can have a value.
 */
class SeriesIT {

  private static final Pattern EVENTS =
      Pattern.compile("(?m)^order_timeout_events_total\\{.*event=\"(\\w+)\",outcome=\"(\\w+)\"");

  @Test
  void eventsHaveThePairsOfLabelsThatArePossible() throws IOException {
    try (Scenario scenario = Scenario.create()) {
      assertThat(pairs(scenario)).isEqualTo(possible());
    }
    try (Scenario scenario = Scenario.withAllTopics()) {
      Set<String> all = possible();
      for (String outcome : "ahead_of_creation dead_letter exempt too_late".split(" ", -1)) {
        all.add("attempt " + outcome);
        all.add("changed " + outcome);
      }
      all.addAll(Set.of("attempt under_way", "attempt ended", "changed changed"));
      assertThat(pairs(scenario)).isEqualTo(all);
    }
  }

  private static Set<String> possible() {
    return new TreeSet<>(
        Set.of(
            "created registered",
            "created duplicate",
            "created settled_before",
            "created stale",
            "created exempt",
            "created dead_letter",
            "paid settled",
            "paid ahead_of_creation",
            "paid duplicate",
            "paid second_payment",
            "paid conflict",
            "paid exempt",
            "paid too_late",
            "paid dead_letter",
            "closed settled",
            "closed ahead_of_creation",
            "closed duplicate",
            "closed too_late",
            "closed dead_letter"));
  }

  private static Set<String> pairs(Scenario scenario) throws IOException {
    return EVENTS
        .matcher(exposition(scenario))
        .results()
        .map((MatchResult series) -> series.group(1) + " " + series.group(2))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void theVersionIsALabel() throws IOException {
    try (Scenario scenario = Scenario.create()) {
      assertThat(exposition(scenario))
          .containsPattern(
              "order_timeout_build_info\\{.*java=\"%s\",version=\"\\d+\\.\\d+\\.\\d+.*\"} 1"
                  .formatted(Pattern.quote(Runtime.version().toString())));
    }
  }

  @Test
  void aTopicWithADotIsCountedOnce() throws IOException {
    try (Scenario scenario = Scenario.withTopics(name -> TopicNames.ofAShop(name + ".of.a.shop"));
        ServiceProcess service = scenario.startProcess()) {
      scenario.create("read", 0, Scenario.in(Duration.ofSeconds(1)));
      scenario.outcomes().awaitCancelled("read");
      for (String topic : List.of(scenario.topics().created(), scenario.topics().cancelled())) {
        // Micrometer looks for new metrics of a client once a minute.
        await()
            .until(
                () -> service.exposition(),
                exposition -> exposition.contains("topic=\"" + topic + "\""));
      }
      assertThat(service.exposition())
          .doesNotContain(
              "topic=\"" + scenario.topics().created().replace('.', '_') + "\"",
              "topic=\"" + scenario.topics().cancelled().replace('.', '_') + "\"");
    }
  }

  private static String exposition(Scenario scenario) throws IOException {
    try (ServiceProcess service = scenario.startProcess()) {
      service.awaitReady();
      return service.exposition();
    }
  }
}
