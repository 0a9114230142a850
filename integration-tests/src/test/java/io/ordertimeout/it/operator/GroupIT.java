package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Http.Answer;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** An operator moves the instances to the next generation of their consumer group. */
class GroupIT {

  private static final String ADVANCE = "/api/v1/group/advance";

  @Test
  void theInstancesMoveToTheNextGenerationOnceAndReadOnWhereTheyStopped() {
    try (Scenario scenario = Scenario.create();
        Service service = scenario.startService()) {
      service.awaitReady(true);
      scenario.createPending("paid", 0);
      Http operator = service.http().operator();
      Map<String, ?> request = Map.of("generation", 1, "reason", "the coordinator does not load");

      assertThat(operator.post(ADVANCE, request).status()).isEqualTo(200);

      await("a consumer in the next generation")
          .until(
              () ->
                  service.counter("order.timeout.consumer.replacements", "reason", "generation")
                      == 1);
      scenario.pay("paid", 0);
      scenario.awaitState("paid", "PAID");
      scenario.passDeadline("due", 1);
      service.awaitReady(true);
      JsonNode group = service.http().viewer().get("/api/v1/group").json();
      assertThat(group.path("number").asInt()).isEqualTo(2);
      assertThat(group.path("groupId").asString()).isEqualTo(scenario.name() + ".g2");
      Answer repeated = operator.post(ADVANCE, request);
      assertThat(repeated.status()).isEqualTo(200);
      assertThat(repeated.header("Idempotent-Replayed")).isEqualTo("true");
      assertThat(operator.post(ADVANCE, Map.of("generation", 7, "reason", "x")).status())
          .isEqualTo(404);
      assertThat(service.gauge("order.timeout.group.generation")).isEqualTo(2);
      JsonNode entry =
          operator.get("/api/v1/audit", "subject", scenario.name()).json().at("/data/0");
      assertThat(entry.path("kind").asString()).isEqualTo("ADVANCE_GROUP");
      assertThat(service.counter("order.timeout.repaired")).isZero();
    }
  }
}
