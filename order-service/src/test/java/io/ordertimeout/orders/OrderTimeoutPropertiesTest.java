package io.ordertimeout.orders;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.validation.autoconfigure.ValidationAutoConfiguration;
import org.springframework.context.annotation.Configuration;

class OrderTimeoutPropertiesTest {

  @Configuration(proxyBeanMethods = false)
  @EnableConfigurationProperties(OrderTimeoutProperties.class)
  static class PropertiesConfiguration {}

  private final ApplicationContextRunner context =
      new ApplicationContextRunner()
          .withConfiguration(AutoConfigurations.of(ValidationAutoConfiguration.class))
          .withUserConfiguration(PropertiesConfiguration.class);

  @Test
  void everyPropertyHasADefault() {
    context.run(
        started -> {
          OrderTimeoutProperties properties = started.getBean(OrderTimeoutProperties.class);
          assertThat(properties.deadline().defaultTimeout()).isEqualTo(Duration.ofMinutes(15));
          assertThat(properties.deadline().staleAfter()).isEqualTo(Duration.ofHours(24));
          assertThat(properties.deadline().retention()).isEqualTo(Duration.ofDays(7));
          assertThat(properties.topics().inputs())
              .containsExactlyInAnyOrder("order-created", "order-paid", "order-closed");
          assertThat(properties.topics().deadLetters("order-paid")).isEqualTo("order-paid.dlt");
        });
  }

  @ParameterizedTest
  @CsvSource({
    "order-timeout.topics.partitions, 0",
    "order-timeout.intake.threads, 65",
    "order-timeout.intake.batch-size, -1",
    "order-timeout.deadline.default-timeout, 0s",
    "order-timeout.deadline.stale-after, -1h",
    "order-timeout.wheel.tick, 2h",
    "order-timeout.outbox.source, ' '",
  })
  void invalidValueIsReportedWithItsProperty(String property, String value) {
    assertRefused(List.of(property + "=" + value), fieldPath(property), "rejected value");
  }

  @Test
  void misspeltPropertyFailsTheStart() {
    assertRefused(List.of("order-timeout.expirry.max-rate=5"), "order-timeout.expirry.max-rate");
  }

  @Test
  void topicsWithSeveralEventsRequireTypes() {
    assertRefused(
        List.of("order-timeout.topics.paid=order-created"),
        "are order-created, order-created and order-closed, so they must differ");
    context
        .withPropertyValues(
            "order-timeout.topics.paid=order-created",
            "order-timeout.intake.types.created=a",
            "order-timeout.intake.types.paid=b")
        .run(started -> assertThat(started).hasNotFailed());
    assertRefused(
        List.of("order-timeout.intake.types.created=a", "order-timeout.intake.types.paid=a"),
        "order-timeout.intake.types lists a for more than one event");
  }

  @Test
  void avroRequiresARegistryThatCanBeAsked() {
    assertRefused(
        List.of("order-timeout.intake.encodings.paid=avro"),
        "order-timeout.schema-registry.url has to be set");
    assertRefused(
        List.of("order-timeout.outbox.format=avro"),
        "order-timeout.schema-registry.url has to be set");
    for (String url :
        List.of("registry:8081", "ftp://registry", "http://u:secret@registry", "a b")) {
      context
          .withPropertyValues("order-timeout.schema-registry.url=" + url)
          .run(
              failed ->
                  assertThat(failed)
                      .getFailure()
                      .rootCause()
                      .message()
                      .startsWith("order-timeout.schema-registry.url is not an http or https URL")
                      .doesNotContain("secret"));
    }
    assertRefused(
        List.of("order-timeout.schema-registry.username=u"),
        "order-timeout.schema-registry.username and .password have to be set together");
    context
        .withPropertyValues(
            "order-timeout.intake.encodings.paid=avro",
            "order-timeout.schema-registry.url=https://registry:8081/apis/ccompat/v7/",
            "order-timeout.schema-registry.username=u",
            "order-timeout.schema-registry.password=secret",
            "order-timeout.intake.deserializer.properties.sasl.password=secret")
        .run(
            started ->
                assertThat(started.getBean(OrderTimeoutProperties.class).toString())
                    .contains("https://registry:8081")
                    .doesNotContain("secret"));
  }

  @Test
  void policyRequiresNameAndTimeout() {
    context
        .withPropertyValues("order-timeout.deadline.policies[0].channel=web")
        .run(failed -> assertThat(failed).hasFailed());
  }

  private void assertRefused(List<String> settings, String... explained) {
    context
        .withPropertyValues(settings.toArray(String[]::new))
        .run(failed -> assertThat(failed).getFailure().rootCause().message().contains(explained));
  }

  private static String fieldPath(String property) {
    StringBuilder camel = new StringBuilder();
    boolean upperCase = false;
    for (char c : property.substring("order-timeout.".length()).toCharArray()) {
      if (c == '-') {
        upperCase = true;
      } else {
        camel.append(upperCase ? Character.toUpperCase(c) : c);
        upperCase = false;
      }
    }
    return camel.toString();
  }
}
