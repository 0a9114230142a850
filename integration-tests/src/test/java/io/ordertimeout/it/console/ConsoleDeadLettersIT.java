package io.ordertimeout.it.console;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.microsoft.playwright.Locator;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.TopicNames;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Listing, inspecting, correcting and replaying dead letters. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("chromium")
class ConsoleDeadLettersIT {

  private final Console console = Console.open();
  private final Scenario scenario = console.scenario();

  @AfterAll
  void close() {
    console.close();
  }

  @Test
  void correctsAndReplaysAPayment() {
    scenario.shop().created("in doubt", Map.of("timeout", "PT1H"));
    scenario.awaitState("in doubt", "PENDING");
    String broken = "{\"order\":\"in doubt\",\n \"note\":\"<b>\"}";
    send(scenario.topics().paid(), "in doubt", broken);
    awaitLetters(scenario.topics().paid(), 1);
    try (Visit visit = console.visit()) {
      visit.openAsOperator(
          "dead-letters?topic=" + TopicNames.deadLetters(scenario.topics().paid()));
      Locator row = letters(visit);
      assertThat(row).containsText("orderId is missing");
      row.locator("a").first().click();
      assertThat(visit.page().locator("pre")).hasText(broken);

      visit.button("Replay").click();
      assertThat(visit.dialog().getByLabel("Value")).hasValue(broken);
      visit.dialog().getByLabel("Value").fill("{\"orderId\":\"in doubt\",\"paymentId\":\"p-7\"}");
      visit.because("the producer was wrong").confirm("Replay");
      scenario.awaitState("in doubt", "PAID");
      assertThat(visit.page().locator(".notice"))
          .containsText("with corrections, as " + scenario.topics().paid());

      visit.link("in doubt").click();
      assertThat(visit.page().locator(".summary")).containsText("p-7");
    }
  }

  @Test
  void showsABinaryDeadLetterAndReplaysItUnchanged() {
    byte[] garbage = {(byte) 0xff, 0, (byte) 0xfe};
    Shop.await(
        scenario
            .shop()
            .send(new ProducerRecord<>(scenario.topics().closed(), Shop.utf8("x"), garbage)));
    awaitLetters(scenario.topics().closed(), 1);
    try (Visit visit = console.visit()) {
      visit.openAsOperator(
          "dead-letters?topic=" + TopicNames.deadLetters(scenario.topics().closed()));
      letters(visit).locator("a").first().click();
      assertThat(visit.page().locator("pre")).hasText("/wD+");
      visit.button("Replay").click();
      visit.because("again").confirm("Replay");
      assertThat(visit.page().locator(".notice")).containsText("unchanged, as");
    }
    awaitLetters(scenario.topics().closed(), 2);
  }

  @Test
  void loadsMoreThanOnePage() {
    for (int i = 0; i < 60; i++) {
      // As many orders as nonsense, because the service stops at a topic of nonsense.
      scenario.createPending("order-" + i, 0);
      send(scenario.topics().created(), "key-" + i, "nonsense " + i);
    }
    awaitLetters(scenario.topics().created(), 60);
    try (Visit visit = console.visit()) {
      visit.openAsViewer(
          "dead-letters?topic=" + TopicNames.deadLetters(scenario.topics().created()));
      assertThat(letters(visit)).hasCount(50);
      visit.button("Show more").click();
      assertThat(letters(visit)).hasCount(60);
      assertThat(visit.button("Show more")).hasCount(0);
    }
  }

  @Test
  void replaysAllOfAnErrorAtOnce() {
    for (int i = 0; i < 3; i++) {
      send(scenario.topics().paid(), "<b>&" + i, "{\"orderId\": 7, \"n\": \"\u202Egnp\"}");
    }
    awaitLetters(scenario.topics().paid(), 3);
    try (Visit visit = console.visit()) {
      visit.openAsOperator(
          "dead-letters?topic=" + TopicNames.deadLetters(scenario.topics().paid()));
      Locator group =
          visit
              .page()
              .locator("[aria-labelledby=by-error] tbody tr")
              .filter(new Locator.FilterOptions().setHasText("orderId is not a string"));
      assertThat(group).containsText("3");
      group.locator("a").click();
      assertThat(letters(visit)).hasCount(3);
      assertThat(letters(visit).first()).containsText("Open");
      visit.page().getByLabel("Select all 3 dead letters").check();
      visit.button("Replay").click();
      visit.because("decodable now").confirm("Replay");
      assertThat(visit.page().locator(".notice[role=status]")).containsText("3 of 3 dead letters");
      // What was published again became dead letters again.
      awaitLetters(scenario.topics().paid(), 6);
      assertThat(letters(visit).filter(new Locator.FilterOptions().setHasText("Replayed")))
          .hasCount(3);
      assertThat(visit.page().locator("main b")).hasCount(0);
    }
  }

  private static Locator letters(Visit visit) {
    return visit.page().locator("section[aria-label='Dead letters'] tbody tr");
  }

  private void send(String topic, String key, String value) {
    Shop.await(scenario.shop().send(new ProducerRecord<>(topic, Shop.utf8(key), Shop.utf8(value))));
  }

  private void awaitLetters(String input, long count) {
    String letters = TopicNames.deadLetters(input);
    await("dead letters")
        .until(
            () ->
                scenario.kafka().ends(scenario.allPartitions()).entrySet().stream()
                    .filter(end -> end.getKey().topic().equals(letters))
                    .mapToLong(Map.Entry::getValue)
                    .sum(),
            sum -> sum >= count);
  }
}
