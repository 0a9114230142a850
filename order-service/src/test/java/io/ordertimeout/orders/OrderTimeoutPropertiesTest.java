package io.ordertimeout.orders;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.hibernate.validator.constraints.time.DurationMax;
import org.hibernate.validator.constraints.time.DurationMin;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.validation.autoconfigure.ValidationAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.ResolvableType;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SimpleCommandLinePropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;

class OrderTimeoutPropertiesTest {

  @Configuration(proxyBeanMethods = false)
  @EnableConfigurationProperties({OrderTimeoutProperties.class, Foreign.class})
  @Import(DurationUnits.class)
  static class PropertiesConfiguration {}

  /** Properties of another library, such as Spring Boot. */
  @ConfigurationProperties("foreign")
  record Foreign(@DefaultValue("1s") Duration timeout) {}

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
  void everyDurationHasBounds() {
    List<RecordComponent> durations =
        Stream.concat(
                Stream.of(PaymentPolicy.class),
                Stream.of(OrderTimeoutProperties.class.getDeclaredClasses()))
            .filter(Class::isRecord)
            .flatMap(type -> Stream.of(type.getRecordComponents()))
            .filter(component -> component.getType() == Duration.class)
            .toList();

    assertThat(durations)
        .hasSizeGreaterThan(15)
        .allMatch(duration -> duration.getAccessor().isAnnotationPresent(DurationMin.class))
        .allMatch(duration -> duration.getAccessor().isAnnotationPresent(DurationMax.class));
    assertRefused(
        List.of("order-timeout.expiry.retry-delay=106751991167300d"),
        fieldPath("order-timeout.expiry.retry-delay"),
        "rejected value");
  }

  @Test
  void misspeltPropertyFailsTheStart() {
    assertRefused(List.of("order-timeout.expirry.max-rate=5"), "order-timeout.expirry.max-rate");
  }

  @Test
  void topicsWithSeveralEventsRequireTypes() {
    assertRefused(
        List.of("order-timeout.topics.paid=order-created"),
        "topics.created is order-created, .paid is order-created, .closed is order-closed: they must");
    assertRefused(
        List.of("order-timeout.topics.attempts=order-paid"),
        ".closed is order-closed, .attempts is order-paid: they must differ");
    assertRefused(
        List.of("order-timeout.topics.changed=order-created"),
        ".closed is order-closed, .changed is order-created: they must differ");
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
  void typesOfAttemptsRequireATopicAndTheOtherWayRound() {
    assertRefused(
        List.of("order-timeout.intake.types.attempts=a", "order-timeout.intake.types.paid=b"),
        "order-timeout.topics.attempts is not set, and order-timeout.intake.types.attempts lists [a]");
    assertRefused(
        List.of("order-timeout.topics.attempts=order-paid", "order-timeout.intake.types.paid=b"),
        "order-timeout.topics.attempts is order-paid, and order-timeout.intake.types.attempts lists none");
    assertRefused(
        List.of("order-timeout.intake.types.changed=c", "order-timeout.intake.types.paid=b"),
        "order-timeout.topics.changed is not set, and order-timeout.intake.types.changed lists [c]");
  }

  @Test
  void aConfirmationRequiresATopicOfAttempts() {
    assertRefused(
        List.of(
            "order-timeout.topics.expiring=order-expiring",
            "order-timeout.deadline.policies[0].name=p",
            "order-timeout.deadline.policies[0].timeout=1h",
            "order-timeout.deadline.policies[0].warnings[0]=2m",
            "order-timeout.deadline.policies[0].confirm=30m"),
        "the policy 'p' states confirm, so order-timeout.topics.attempts has to be set");
  }

  @Test
  void warningsAreAtLeastASecondBeforeTheDeadline() {
    assertRefused(
        List.of(
            "order-timeout.topics.expiring=order-expiring",
            "order-timeout.deadline.policies[0].name=p",
            "order-timeout.deadline.policies[0].timeout=1h",
            "order-timeout.deadline.policies[0].warnings[0]=0s"),
        "deadline.policies[0].warnings[0]");
  }

  @ParameterizedTest
  @CsvSource({
    "hold, 0s, attempts.hold",
    "hold, 366d, attempts.hold",
    "cap, -1s, attempts.cap",
    "cap, 366d, attempts.cap",
    "cap, 3600, has no unit",
  })
  void lengthsOfAttemptsHaveBounds(String property, String value, String explained) {
    assertRefused(List.of("order-timeout.attempts." + property + "=" + value), explained);
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

  static Stream<String> durations() {
    return durationsOf("order-timeout", OrderTimeoutProperties.class);
  }

  /** Returns the names of all durations of a record, of its records and of its lists of records. */
  private static Stream<String> durationsOf(String prefix, Class<?> type) {
    return Stream.of(type.getRecordComponents())
        .flatMap(
            component -> {
              String name = prefix + "." + DataObjectPropertyName.toDashedForm(component.getName());
              ResolvableType componentType = ResolvableType.forType(component.getGenericType());
              if (componentType.resolve() == Duration.class) {
                return Stream.of(name);
              }
              ResolvableType element = componentType.asCollection().getGeneric(0);
              return ResolvableType.NONE.equals(element)
                  ? durationsOfRecord(name, componentType)
                  : durationsOfRecord(name + "[0]", element);
            });
  }

  private static Stream<String> durationsOfRecord(String name, ResolvableType type) {
    Class<?> resolved = type.toClass();
    return resolved.isRecord() ? durationsOf(name, resolved) : Stream.empty();
  }

  @Test
  void everyDurationIsTested() {
    assertThat(durations())
        .contains(
            "order-timeout.deadline.default-timeout",
            "order-timeout.deadline.policies[0].timeout",
            "order-timeout.access.body-timeout")
        .hasSizeGreaterThan(20);
  }

  @ParameterizedTest
  @MethodSource("durations")
  void durationWithoutUnitIsRefused(String property) {
    for (String value : List.of("1800", "0", "-1", "+30")) {
      context
          .withPropertyValues(property + "=" + value)
          .run(failed -> assertHasNoUnit(failed, property, value));
    }
  }

  @Test
  void durationWithoutUnitIsRefusedFromEverySource() {
    String property = "order-timeout.deadline.policies[0].timeout";
    List<PropertySource<?>> sources =
        List.of(
            new MapPropertySource("yaml", Map.of(property, 1800)),
            new MapPropertySource(
                "placeholder", Map.of(property, "${pay.within}", "pay.within", 1800)),
            new SystemEnvironmentPropertySource(
                "test-systemEnvironment",
                Map.of("ORDERTIMEOUT_DEADLINE_POLICIES_0_TIMEOUT", "1800")),
            new SimpleCommandLinePropertySource("--" + property + "=1800"));
    for (PropertySource<?> source : sources) {
      context
          .withInitializer(
              started -> started.getEnvironment().getPropertySources().addFirst(source))
          .run(failed -> assertHasNoUnit(failed, property, "1800"));
    }
  }

  private static void assertHasNoUnit(
      AssertableApplicationContext failed, String property, String value) {
    Throwable failure = Objects.requireNonNull(failed.getStartupFailure());
    assertThat(failure).hasRootCauseMessage("'" + value + "', which has no unit");
    assertThat(new DurationFailureAnalyzer().analyze(failure))
        .extracting(FailureAnalysis::getDescription, as(STRING))
        .startsWith(property + " is '" + value + "', which has no unit (from ");
  }

  @ParameterizedTest
  @CsvSource({"500ms, PT0.5S", "0s, PT0S", "30m, PT30M", "7d, PT168H", "PT1M, PT1M"})
  void durationWithUnitIsAccepted(String value, Duration expected) {
    context
        .withPropertyValues("order-timeout.deadline.stale-after=" + value)
        .run(
            started ->
                assertThat(started.getBean(OrderTimeoutProperties.class).deadline().staleAfter())
                    .isEqualTo(expected));
  }

  @Test
  void durationsOfOthersKeepTheirUnits() {
    context
        .withPropertyValues("foreign.timeout=5000")
        .run(
            started ->
                assertThat(started.getBean(Foreign.class).timeout())
                    .isEqualTo(Duration.ofSeconds(5)));
  }

  @Test
  void policyRequiresName() {
    assertPolicyRefused("name", "channel=web", "timeout=1m");
    assertPolicyRefused("channel", "channel=", "name=web", "timeout=1m");
    assertPolicyRefused("paymentMethod", "payment-method=", "name=card", "timeout=1m");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "channel=web | the policy 'p' has to state either a timeout or business-days, or exempt",
        "exempt=true;timeout=1h | the policy 'p' is exempt, so it must not state a time",
        "exempt=true;grace=1h | the policy 'p' is exempt, so it must not state a time",
        "exempt=sometimes | sometimes",
        "timeout=1h;grace=1500ms | grace of the policy 'p' is PT1.5S, which is not in whole seconds",
        "timeout=1h;grace=366d | policies[0].grace",
        "timeout=1h;warnings[0]=10m | the policy 'p' states warnings, so order-timeout.topics.expiring has to be set",
        "timeout=1h;warnings[0]=1h | warnings of the policy 'p' has PT1H, which is not shorter than its timeout, PT1H",
        "timeout=1h;warnings[0]=2m;warnings[1]=10m | are [PT2M, PT10M]: the longest time before the deadline has to be the first",
        "timeout=1h;warnings[0]=2m;warnings[1]=2m | are [PT2M, PT2M]: the longest",
        "timeout=1h;warnings[0]=90 | which has no unit",
        "timeout=1h;confirm=30m | the policy 'p' states confirm, so it has to state warnings: the last",
        "timeout=1h;warnings[0]=2m;confirm=1500ms | confirm of the policy 'p' is PT1.5S, which is not in",
        "timeout=1h;unconfirmed=keep | keep",
        "exempt=true;confirm=30m | the policy 'p' is exempt, so it must not state a time",
        "timeout=1h;warnings[0]=1500ms | warnings of the policy 'p' is PT1.5S, which is not in whole",
        "exempt=true;warnings[0]=2m | the policy 'p' is exempt, so it must not state a time",
        "timeout=1h;business-days=1;until=12:00;zone=UTC | either a timeout or business-days",
        "business-days=1 | the policy 'p' states business-days, so it has to state until",
        "business-days=1;until=12:00 | has to state both until and zone, or neither",
        "timeout=1h;zone=UTC | has to state both until and zone, or neither",
        "timeout=1h;until=1439;zone=UTC | until of the policy 'p' is '1439', which is not a time of day",
        "timeout=1h;until=24:00;zone=UTC | until of the policy 'p' is '24:00', which is not a time",
        "timeout=1h;until=12:00;zone=Berlin | Unknown time-zone ID: Berlin",
        "timeout=1h;amount.currency=EUR | amount states neither above nor up-to",
        "timeout=1h;amount.above=5;amount.up-to=5;amount.currency=EUR | amount contains nothing: it is above 5 and up to 5",
        "timeout=1h;amount.above=5,000;amount.currency=EUR | Character , is neither",
        "timeout=401d | policies[0] ('p') gives more time to pay than max-timeout, PT9600H",
        "business-days=250;until=12:00;zone=UTC | policies[0] ('p') gives more time to pay",
      })
  void policyThatDoesNotSayWhenAnOrderIsDueIsRefused(String settings, String explained) {
    List<String> all =
        Stream.concat(
                Stream.of(
                    "order-timeout.deadline.policies[0].name=p",
                    settings.startsWith("business-days=250")
                        ? "order-timeout.deadline.max-timeout=90d"
                        : "order-timeout.deadline.max-timeout=400d"),
                Stream.of(settings.split(";")).map("order-timeout.deadline.policies[0]."::concat))
            .toList();
    assertRefused(all, explained);
  }

  @Test
  void rangeOfAmountsRequiresACurrency() {
    assertPolicyRefused("amount.currency", "name=p", "timeout=1h", "amount.up-to=5");
    // No order has such a currency, so no order would get the policy.
    assertPolicyRefused(
        "amount.currency", "name=p", "timeout=1h", "amount.up-to=5", "amount.currency=€");
  }

  @Test
  void defaultTimeoutIsNotLongerThanTheLongest() {
    assertRefused(
        List.of("order-timeout.deadline.default-timeout=500d"),
        "order-timeout.deadline.default-timeout, PT12000H, is longer than max-timeout, PT9600H");
  }

  @Test
  void holidaysAreDates() {
    context
        .withPropertyValues(
            "order-timeout.deadline.holidays[0]=2026-12-25",
            "order-timeout.deadline.holidays[1]=2026-12-26")
        .run(
            started ->
                assertThat(started.getBean(OrderTimeoutProperties.class).deadline().holidays())
                    .containsExactlyInAnyOrder(
                        LocalDate.parse("2026-12-25"), LocalDate.parse("2026-12-26")));
    assertRefused(List.of("order-timeout.deadline.holidays[0]=25.12."), "25.12.");
  }

  private void assertPolicyRefused(String field, String... settings) {
    assertRefused(
        Stream.of(settings).map("order-timeout.deadline.policies[0]."::concat).toList(),
        "deadline.policies[0]." + field,
        "rejected value");
  }

  @ParameterizedTest
  @CsvSource({
    "payment-method=Transfer, payment-method=transfer",
    "payment-method=transfer, payment-method=transfer",
    "channel=web, channel=WEB",
    "payment-method=card, channel=web;payment-method=Card",
    "amount.up-to=50;amount.currency=EUR, amount.up-to=20;amount.currency=eur",
    "channel=web, channel=web;amount.above=50;amount.currency=EUR",
    "'', channel=web"
  })
  void policyBehindOneThatMatchesTheSameOrdersIsRefused(String first, String second) {
    assertRefused(policies(first, second), "policies[1] ('second') never applies", "'first'");
  }

  @ParameterizedTest
  @CsvSource({
    "payment-method=transfer, payment-method=card",
    "channel=web, payment-method=web",
    "channel=web;payment-method=card, payment-method=card",
    "amount.up-to=50;amount.currency=EUR, amount.up-to=50;amount.currency=USD",
    "amount.up-to=50;amount.currency=EUR, amount.up-to=60;amount.currency=EUR",
    "amount.up-to=50;amount.currency=EUR, ''",
    "channel=web, ''"
  })
  void policiesForDifferentOrdersAreAccepted(String first, String second) {
    context
        .withPropertyValues(policies(first, second).toArray(String[]::new))
        .run(started -> assertThat(started).hasNotFailed());
  }

  private static List<String> policies(String first, String second) {
    return Stream.concat(policy(0, "first", first), policy(1, "second", second)).toList();
  }

  private static Stream<String> policy(int index, String name, String criteria) {
    String prefix = "order-timeout.deadline.policies[" + index + "].";
    return Stream.concat(
        Stream.of(prefix + "name=" + name, prefix + "timeout=1m"),
        Stream.of(criteria.split(";")).filter(text -> !text.isEmpty()).map(prefix::concat));
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
