package io.ordertimeout.it.console;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Shop;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A topic that is not read on, because most of its records are unusable. */
@Tag("chromium")
@Order(30)
class ConsoleStoppedTopicIT {

  private final Console console = Console.open();
  private final Scenario scenario = console.scenario();

  @AfterEach
  void close() {
    console.close();
  }

  @Test
  void anOperatorSeesWhyItIsNotReadAndPermitsTheDeadLetters() {
    String topic = scenario.topics().created();
    try (Visit visit = console.visit()) {
      visit.openAsOperator("overview");
      assertThat(visit.page().locator(".status")).containsText("Operating normally");
      IntStream.range(0, 200)
          .mapToObj(i -> Shop.utf8("<order id='" + i + "'/>"))
          .map(value -> scenario.shop().send(new ProducerRecord<>(topic, value)))
          .toList()
          .forEach(Shop::await);

      visit.link("Not read on: " + topic).click();
      Locator stop =
          visit
              .page()
              .locator(
                  "section", new Page.LocatorOptions().setHasText("Topics that are not read on"));
      assertThat(stop).containsText(topic);
      assertThat(stop).containsText("records at hand are unusable");
      visit.button("Permit dead letters of " + topic).click();
      visit.because("the test shop sent XML").confirm("Permit dead letters");
      assertThat(stop).hasCount(0);
      visit.go("overview");
      assertThat(visit.page().locator(".status")).containsText("Operating normally");
    }
  }
}
