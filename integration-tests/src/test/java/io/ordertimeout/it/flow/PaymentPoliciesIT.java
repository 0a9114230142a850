package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import tools.jackson.databind.JsonNode;

/** What shops ask for: another time to pay by payment method and amount, business days, or none. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PaymentPoliciesIT {

  private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
  private static final LocalTime UNTIL = LocalTime.parse("23:59");

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Instant createdAt = Instant.now().truncatedTo(ChronoUnit.MICROS);
  private final LocalDate today = createdAt.atZone(BERLIN).toLocalDate();

  /** The next day that is no weekend is a holiday of this shop. */
  private final LocalDate holiday = nextWeekday(today);

  private final Service service;

  PaymentPoliciesIT() {
    service =
        scenario.startService(
            "order-timeout.deadline.holidays[0]", holiday.toString(),
            "order-timeout.deadline.policies[0].name", "card",
            "order-timeout.deadline.policies[0].payment-method", "card",
            "order-timeout.deadline.policies[0].timeout", "30m",
            "order-timeout.deadline.policies[1].name", "small-transfer",
            "order-timeout.deadline.policies[1].payment-method", "transfer",
            "order-timeout.deadline.policies[1].amount.up-to", "5000",
            "order-timeout.deadline.policies[1].amount.currency", "EUR",
            "order-timeout.deadline.policies[1].business-days", "1",
            "order-timeout.deadline.policies[1].until", "23:59",
            "order-timeout.deadline.policies[1].zone", "Europe/Berlin",
            "order-timeout.deadline.policies[2].name", "transfer",
            "order-timeout.deadline.policies[2].payment-method", "transfer",
            "order-timeout.deadline.policies[2].timeout", "7d",
            "order-timeout.deadline.policies[2].until", "23:59",
            "order-timeout.deadline.policies[2].zone", "Europe/Berlin",
            "order-timeout.deadline.policies[3].name", "invoice",
            "order-timeout.deadline.policies[3].payment-method", "invoice",
            "order-timeout.deadline.policies[3].exempt", "true");
  }

  private static LocalDate nextWeekday(LocalDate day) {
    LocalDate next = day.plusDays(1);
    return next.getDayOfWeek() == DayOfWeek.SATURDAY || next.getDayOfWeek() == DayOfWeek.SUNDAY
        ? nextWeekday(next)
        : next;
  }

  @BeforeAll
  void create() {
    create("by card", "card", "20.00", "EUR");
    create("small transfer", "transfer", "5000.00", "EUR");
    create("large transfer", "transfer", "5000.01", "EUR");
    create("transfer of dollars", "transfer", "20", "USD");
    create("transfer without amount", "transfer", null, null);
    create("transfer of something", "transfer", "a lot", "EUR");
    create("on account", "invoice", "99.00", "EUR");
    scenario.shop().paid("paid on account before", Map.of("paymentId", "early"));
    scenario.awaitQuiet();
    create("paid on account before", "invoice", "99.00", "EUR");
    scenario.awaitQuiet();
  }

  private void create(
      String orderId, String method, @Nullable String amount, @Nullable String currency) {
    Map<String, Object> fields = new HashMap<>();
    fields.put("createdAt", createdAt.toString());
    fields.put("paymentMethod", method);
    if (amount != null && currency != null) {
      fields.put("amount", Map.of("value", amount, "currency", currency));
    }
    scenario.shop().created(orderId, fields);
  }

  @Test
  void anOrderToBePaidByCardHasMinutesAndOneToBePaidByTransferDays() {
    assertThat(policy("by card")).isEqualTo("card");
    assertThat(deadline("by card")).isEqualTo(createdAt.plus(Duration.ofMinutes(30)));
    assertThat(policy("large transfer")).isEqualTo("transfer");
    assertThat(deadline("large transfer"))
        .isBetween(createdAt.plus(Duration.ofDays(7)), createdAt.plus(Duration.ofDays(9)));
  }

  @Test
  void aTransferOfASmallAmountHasABusinessDayInTheZoneOfTheShop() {
    assertThat(policy("small transfer")).isEqualTo("small-transfer");
    assertThat(deadline("small transfer"))
        .isEqualTo(ZonedDateTime.of(nextWeekday(holiday), UNTIL, BERLIN).toInstant());
  }

  @Test
  void anAmountThatIsInNoRangeDoesNotSelectAPolicy() {
    assertThat(policy("transfer of dollars")).isEqualTo("transfer");
    assertThat(policy("transfer without amount")).isEqualTo("transfer");
    assertThat(policy("transfer of something")).isEqualTo("transfer");
  }

  @Test
  void aTimeoutIsProlongedToTheEndOfTheDayThatTheCustomerWasTold() {
    ZonedDateTime deadline = deadline("large transfer").atZone(BERLIN);

    assertThat(deadline.toLocalTime()).isEqualTo(UNTIL);
    assertThat(deadline.minusDays(1).toInstant()).isBefore(createdAt.plus(Duration.ofDays(7)));
  }

  @Test
  void anOrderOnAccountHasNoDeadlineAndItsPaymentConflictsWithNothing() {
    scenario.shop().paid("on account", Map.of("paymentId", "weeks later"));
    scenario.shop().closed("on account");
    create("on account", "invoice", "99.00", "EUR");
    scenario.awaitQuiet();

    assertThat(policy("on account")).isEqualTo("invoice");
    assertThat(scenario.database().state("on account")).isEqualTo("CLOSED");
    assertThat(scenario.database().deadline("on account")).isNull();
    assertThat(service.counter("order.timeout.conflicts")).isZero();
    assertThat(service.counter("order.timeout.events", "event", "created", "outcome", "exempt"))
        .isPositive();
    assertThat(service.counter("order.timeout.events", "event", "paid", "outcome", "exempt"))
        .isPositive();
    JsonNode details = service.http().operator().get("/api/v1/order", "id", "on account").json();
    assertThat(details.at("/order/decidedBy").isNull()).isTrue();
    assertThat(details.path("explanation").stringValue())
        .matches(
            "Exempt by policy “invoice”: it has no deadline and is not cancelled; registered at .*;"
                + " payment “weeks later” made at .*");
    assertThat(details.path("history").toString()).contains("exempt by policy invoice");
  }

  @Test
  void anOrderOnAccountThatIsPaidBeforeItsCreationIsReadIsPaid() {
    assertThat(scenario.database().state("paid on account before")).isEqualTo("PAID");
    assertThat(policy("paid on account before")).isEqualTo("invoice");
    assertThat(scenario.database().deadline("paid on account before")).isNull();
  }

  @Test
  void theApiShowsThePoliciesInForceAndPreviewsADeadline() {
    Http viewer = service.http().viewer();
    JsonNode policies = viewer.get("/api/v1/policies", "limit", "2").assertOk().json();
    assertThat(policies.at("/data/1/name").asString()).isEqualTo("small-transfer");
    assertThat(policies.at("/data/1/upTo").asString()).isEqualTo("5000");
    assertThat(policies.at("/data/1/zone").asString()).isEqualTo("Europe/Berlin");
    JsonNode rest =
        viewer.get("/api/v1/policies", "after", policies.path("next").asString()).assertOk().json();
    assertThat(rest.path("data").values())
        .extracting(policy -> policy.path("name").asString())
        .containsExactly("transfer", "invoice");
    assertThat(rest.path("next").isNull()).isTrue();

    String created = createdAt.toString();
    JsonNode preview =
        viewer
            .get(
                "/api/v1/policies/preview",
                "createdAt",
                created,
                "paymentMethod",
                "transfer",
                "amount",
                "5000.00",
                "currency",
                "EUR")
            .assertOk()
            .json();
    assertThat(preview.path("policy").asString()).isEqualTo("small-transfer");
    assertThat(Instant.parse(preview.path("deadline").asString()))
        .isEqualTo(deadline("small transfer"));
    assertThat(preview.path("dueAt")).isEqualTo(preview.path("deadline"));
    JsonNode exempt =
        viewer.get("/api/v1/policies/preview", "paymentMethod", "Invoice").assertOk().json();
    assertThat(exempt.path("policy").asString()).isEqualTo("invoice");
    assertThat(exempt.path("deadline").isNull()).isTrue();
    assertThat(viewer.get("/api/v1/policies/preview", "amount", "5").status()).isEqualTo(400);
    assertThat(
            viewer.get("/api/v1/policies/preview", "createdAt", "+12000-01-01T00:00:00Z").status())
        .isEqualTo(400);
  }

  private String policy(String orderId) {
    return scenario
        .database()
        .text("select policy from order_deadline where order_id = ?", orderId);
  }

  private Instant deadline(String orderId) {
    return Objects.requireNonNull(scenario.database().deadline(orderId));
  }
}
