package io.ordertimeout.it.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.rig.Load;
import io.ordertimeout.it.rig.PublishedEvent;
import io.ordertimeout.it.rig.ServiceProcess;
import io.ordertimeout.it.rig.Stage;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The service killed in the middle of its work, again and again. */
class CrashIT {

  private static final Logger log = LoggerFactory.getLogger(CrashIT.class);
  private static final int KILLS = 3;
  private static final int CANCELLATIONS_BETWEEN_KILLS = 150;
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  @Test
  void everyOrderIsAccountedForAfterThreeKills() {
    try (Stage stage = Stage.create();
        Load load = Load.start(stage)) {
      for (int i = 0; i < KILLS; i++) {
        try (ServiceProcess process = stage.startProcess()) {
          process.awaitReady();
          int before = stage.outcomes().cancelled().size();
          await("cancellations")
              .atMost(PATIENCE)
              .until(
                  () ->
                      stage.outcomes().cancelled().size() - before >= CANCELLATIONS_BETWEEN_KILLS);
          process.kill();
        }
      }
      try (ServiceProcess process = stage.startProcess()) {
        process.awaitReady();
        List<Load.Order> orders = load.finish();
        stage.awaitAllDecided();
        assertAccounted(stage, orders);
      }
    }
  }

  private static void assertAccounted(Stage stage, List<Load.Order> orders) {
    Map<String, String> states = stage.database().states();
    Map<String, List<PublishedEvent>> cancellations = byOrder(stage.outcomes().cancelled());
    Map<String, List<PublishedEvent>> conflicts = byOrder(stage.outcomes().conflicts());
    log.info(
        "{} orders, {} paid in time, {} cancelled, {} duplicates, {} conflicts",
        orders.size(),
        orders.stream().filter(Load.Order::paidInTime).count(),
        cancellations.size(),
        stage.outcomes().cancelled().size() - cancellations.size(),
        conflicts.size());

    assertThat(states.keySet())
        .containsExactlyInAnyOrderElementsOf(orders.stream().map(order -> order.id).toList());
    assertThat(states.values()).containsOnly("PAID", "CANCELLED");
    for (Load.Order order : orders) {
      String state = states.get(order.id);
      List<PublishedEvent> cancelled = cancellations.getOrDefault(order.id, List.of());
      if (!order.payment) {
        assertThat(state).as(order.id).isEqualTo("CANCELLED");
      }
      if (order.paidInTime()) {
        assertThat(state).as("%s, paid at %s", order.id, order.paidAcknowledged).isEqualTo("PAID");
      }
      assertThat(eventIds(cancelled)).as(order.id).hasSize("CANCELLED".equals(state) ? 1 : 0);
      // Late money, of which somebody has to be told.
      assertThat(eventIds(conflicts.getOrDefault(order.id, List.of())))
          .as(order.id)
          .hasSize("CANCELLED".equals(state) && order.payment ? 1 : 0);
      for (PublishedEvent event : cancelled) {
        Instant deadline = event.instant("deadline");
        assertThat(deadline).isEqualTo(order.deadline);
        assertThat(event.instant("cancelledAt")).isAfterOrEqualTo(deadline);
        assertThat(event.appendedAt()).isAfterOrEqualTo(deadline.minusMillis(1));
      }
    }
    assertThat(stage.outcomes().deadLetters()).isEmpty();
  }

  private static Map<String, List<PublishedEvent>> byOrder(List<PublishedEvent> events) {
    return events.stream().collect(Collectors.groupingBy(PublishedEvent::key));
  }

  private static Set<String> eventIds(List<PublishedEvent> events) {
    return events.stream().map(event -> event.text("eventId")).collect(Collectors.toSet());
  }
}
