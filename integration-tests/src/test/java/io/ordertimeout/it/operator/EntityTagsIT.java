package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Http.Answer;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A client that has what it asks for does not get it again. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class EntityTagsIT {

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Service service = scenario.startService();
  private final Http viewer = service.http().viewer();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/contracts/openapi.json",
        "/console/main.js",
        "/",
        "/index.html",
        "/api/v1/orders?prefix=none",
        "/api/v1/policies"
      })
  void whatHasNotChangedIsNotSentAgain(String path) {
    Answer first = viewer.get(path).assertOk();
    assertThat(first.response().body()).isNotEmpty();

    Answer second = viewer.with("If-None-Match", first.header("ETag")).get(path);

    assertThat(second.status()).isEqualTo(304);
    assertThat(second.response().body()).isEmpty();
    // A jar that is built again has files of the same time, and of another content.
    assertThat(first.response().headers().firstValue("Last-Modified")).isEmpty();
    viewer.with("If-Modified-Since", "Fri, 01 Jan 2100 00:00:00 GMT").get(path).assertOk();
  }

  @Test
  void whatHasChangedIsSent() {
    String path = "/api/v1/orders?prefix=changed";
    scenario.create("changed-1", 0, Scenario.in(Duration.ofHours(1)));
    scenario.awaitState("changed-1", "PENDING");
    String tag = viewer.get(path).assertOk().header("ETag");
    scenario.create("changed-2", 0, Scenario.in(Duration.ofHours(1)));
    scenario.awaitState("changed-2", "PENDING");

    Answer changed = viewer.with("If-None-Match", tag).get(path).assertOk();

    assertThat(changed.json().path("data")).hasSize(2);
    assertThat(changed.header("ETag")).isNotEqualTo(tag);
  }

  @Test
  void whatIsStreamedHasNoTag() {
    Answer answer = viewer.get("/api/v1/orders.csv").assertOk();

    assertThat(answer.response().headers().firstValue("ETag")).isEmpty();
    assertThat(answer.response().body()).isNotEmpty();
  }
}
