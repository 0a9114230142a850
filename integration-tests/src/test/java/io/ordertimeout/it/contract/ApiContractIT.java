package io.ordertimeout.it.contract;

import static io.ordertimeout.it.contract.DocumentedClient.problem;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.client.api.DefaultApi;
import io.ordertimeout.client.model.AdvanceRequest;
import io.ordertimeout.client.model.BulkExtensionRequest;
import io.ordertimeout.client.model.BulkOrderRequest;
import io.ordertimeout.client.model.BulkReplayRequest;
import io.ordertimeout.client.model.DeadLetter;
import io.ordertimeout.client.model.Entry;
import io.ordertimeout.client.model.ExtensionRequest;
import io.ordertimeout.client.model.Generation;
import io.ordertimeout.client.model.Hold;
import io.ordertimeout.client.model.LetterPosition;
import io.ordertimeout.client.model.LetterResult;
import io.ordertimeout.client.model.Now;
import io.ordertimeout.client.model.OperatorAction;
import io.ordertimeout.client.model.OrderConflict;
import io.ordertimeout.client.model.OrderDetails;
import io.ordertimeout.client.model.OrderPage;
import io.ordertimeout.client.model.OrderRequest;
import io.ordertimeout.client.model.OrderResult;
import io.ordertimeout.client.model.OrderView;
import io.ordertimeout.client.model.ParkedOrdersParked;
import io.ordertimeout.client.model.Pause;
import io.ordertimeout.client.model.PauseRequest;
import io.ordertimeout.client.model.Paused;
import io.ordertimeout.client.model.PaymentDeadline;
import io.ordertimeout.client.model.PlacedPause;
import io.ordertimeout.client.model.Policy;
import io.ordertimeout.client.model.Problem;
import io.ordertimeout.client.model.ProblemErrorsInner;
import io.ordertimeout.client.model.Reason;
import io.ordertimeout.client.model.ReplayRequest;
import io.ordertimeout.client.model.ResolutionRequest;
import io.ordertimeout.client.model.Stop;
import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.SuspensionRows;
import io.ordertimeout.it.support.TopicNames;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * The OpenAPI document is what the service's endpoints are, and what they answer. {@code
 * -Dcontracts.rewrite=true} rewrites it.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ApiContractIT {

  private static final String WHY = "a test of the client";

  @AutoClose private final Scenario scenario = Scenario.create();
  private final TopicNames topics = scenario.topics();
  private final Service service =
      scenario.startService(
          Scenario.API_DESCRIPTION,
          "true",
          "order-timeout.deadline.policies[0].name",
          "nowhere",
          "order-timeout.deadline.policies[0].channel",
          "nowhere",
          "order-timeout.deadline.policies[0].timeout",
          "1h",
          "springdoc.api-docs.path",
          "/api/v1/described",
          "springdoc.api-docs.version",
          "openapi_3_0",
          "springdoc.use-fqn",
          "true",
          // The components of a record are query parameters.
          "springdoc.default-flat-param-object",
          "true",
          "spring.main.sources",
          ApiDescription.class.getName());

  @Test
  void theDocumentIsWhatTheEndpointsAre() throws IOException {
    String raw = service.http().viewer().get("/api/v1/described").assertOk().response().body();
    Files.writeString(Path.of("target/openapi-raw.json"), raw);
    String generated = ApiDocument.from(raw);
    if (Boolean.getBoolean("contracts.rewrite")) {
      Files.writeString(ApiSchemas.DOCUMENT, generated);
    }
    assertThat(Files.readString(ApiSchemas.DOCUMENT))
        .as("rewrite it with -Dcontracts.rewrite=true")
        .isEqualTo(generated);
  }

  @Test
  void aGeneratedClientUsesEveryOperationAndReceivesWhatTheDocumentDescribes() {
    DocumentedClient client = new DocumentedClient(service.http().base());
    DefaultApi api = client.api();
    refuseStrangers(client);
    client.logIn("operator", Http.OPERATOR_PASSWORD);
    assertThat(api.getSession().getOperator()).isTrue();

    searchOrders(api);
    changeOrders(api);
    changeManyOrders(client);
    resolveConflicts(api);
    pauseAndResume(api);
    liftAndPermit(api);
    repairDeadLetters(api);
    observe(api);
    advanceGroup(api);
    refuseInvalidRequests(api);

    api.postSessionEnd();
    assertThat(problem(api::getOverview).getStatus()).isEqualTo(401);
    assertThat(client.faults()).isEmpty();
    assertThat(client.unused()).as("operations that this test does not use").isEmpty();
  }

  private void refuseStrangers(DocumentedClient client) {
    DefaultApi api = client.api();
    assertThat(problem(api::getOverview).getType()).hasToString(type("not-logged-in"));
    assertThat(problem(() -> client.logIn("operator", "guessed")).getStatus()).isEqualTo(401);
    client.authenticate("viewer", Http.VIEWER_PASSWORD);
    Problem denied =
        problem(() -> api.postOrderClose(new OrderRequest().orderId("a").reason(WHY), null));
    assertThat(denied.getType()).hasToString(type("not-permitted"));
    client.authenticate(null, null);
  }

  private static OffsetDateTime in(Duration duration) {
    return Scenario.in(duration).atOffset(ZoneOffset.UTC);
  }

  private static String type(String name) {
    return "urn:order-timeout:problem:" + name;
  }

  /** Of the orders, all but two differ from the criteria in one respect each. */
  private void searchOrders(DefaultApi api) {
    create("found-1", Map.of());
    create("found-2", Map.of());
    create("found-of-store", Map.of("channel", "store"));
    create("found-in-dollars", Map.of("amount", amount("12.50", "USD")));
    create("found-dear", Map.of("amount", amount("99", "EUR")));
    create("found-cheap", Map.of("amount", amount("1", "EUR")));
    create("found-soon", Map.of("timeout", "PT20M"));
    create("found-late", Map.of("timeout", "PT5H"));
    create("found-paid", Map.of());
    create("lost", Map.of());
    scenario.shop().paid("found-paid", "p-1");
    scenario.awaitQuiet();

    OrderPage first = find(api, false, null);
    assertThat(first.getData()).extracting(OrderView::getOrderId).containsExactly("found-1");
    assertThat(first.getTotal().getOrders()).isEqualTo(2);
    OrderPage second = find(api, false, first.getNext());
    assertThat(second.getData()).extracting(OrderView::getOrderId).containsExactly("found-2");
    assertThat(second.getNext()).isNull();
    assertThat(find(api, true, null).getData()).isEmpty();
    String csv =
        api.getOrdersCsv(
            Set.of("PENDING", "PAID"),
            null,
            null,
            null,
            "found-",
            "web",
            "EUR",
            BigDecimal.TEN,
            BigDecimal.valueOf(20),
            null,
            "-id",
            null);
    assertThat(csv.lines().skip(1).map(line -> line.replaceFirst(",.*", "")))
        .containsExactly("found-soon", "found-paid", "found-late", "found-2", "found-1");
    assertThat(api.getOrdersById("found-paid").getOrder().getPaymentId()).isEqualTo("p-1");
  }

  private static OrderPage find(DefaultApi api, boolean overdue, @Nullable String after) {
    return api.getOrders(
        Set.of("PENDING"),
        in(Duration.ofMinutes(30)),
        in(Duration.ofHours(2)),
        overdue,
        "found-",
        "web",
        "EUR",
        BigDecimal.TEN,
        BigDecimal.valueOf(20),
        null,
        "id",
        true,
        after,
        1);
  }

  private void create(String orderId, Map<String, ?> fields) {
    Map<String, Object> all =
        new HashMap<>(
            Map.of(
                "timeout",
                "PT1H",
                "channel",
                "web",
                "paymentMethod",
                "card",
                "amount",
                amount("12.50", "EUR")));
    all.putAll(fields);
    scenario.shop().created(orderId, all);
  }

  private static Map<String, String> amount(String value, String currency) {
    return Map.of("value", value, "currency", currency);
  }

  private void changeOrders(DefaultApi api) {
    OffsetDateTime later = in(Duration.ofHours(4));
    ExtensionRequest extension =
        new ExtensionRequest().orderId("found-1").deadline(later).reason(WHY);
    OrderDetails extended = api.postOrderExtend(extension, "extension");
    assertThat(extended.getOrder().getDeadline()).isEqualTo(later);
    assertThat(extended.getHistory()).extracting(Entry::getWhat).contains(Entry.WhatEnum.EXTENDED);
    assertThat(extended.getWaitsFor())
        .singleElement()
        .isInstanceOfSatisfying(
            PaymentDeadline.class, reason -> assertThat(reason.getDueAt()).isNotNull());
    assertThat(api.postOrderClose(change("found-2"), null).getOrder().getState())
        .hasToString("CLOSED");
    assertThat(api.postOrderCancel(change("found-of-store"), null).getOrder().getOrderId())
        .isEqualTo("found-of-store");
    scenario.outcomes().awaitCancelled("found-of-store");

    Problem decided = problem(() -> api.postOrderExtend(extension.orderId("found-paid"), null));
    assertThat(decided.getType()).hasToString(type("change-not-possible"));
    assertThat(decided.getDetail()).contains("PAID");
  }

  private static OrderRequest change(String orderId) {
    return new OrderRequest().orderId(orderId).reason(WHY);
  }

  private void changeManyOrders(DocumentedClient client) {
    DefaultApi api = client.api();
    BulkExtensionRequest extension =
        new BulkExtensionRequest()
            .orderIds(List.of("found-dear", "found-paid", "nobody's"))
            .deadline(in(Duration.ofHours(4)))
            .reason(WHY);
    assertThat(api.postOrdersExtend(extension, "many").getData())
        .extracting(result -> String.valueOf(result.getOutcome()))
        .containsExactly("CHANGED", "IMPOSSIBLE", "UNKNOWN");
    api.postOrdersExtend(extension, "many");
    assertThat(client.lastHeader("Idempotent-Replayed")).isEqualTo("true");
    List<OrderResult> closed = api.postOrdersClose(many("found-dear", "lost"), null).getData();
    assertThat(closed)
        .extracting(result -> String.valueOf(result.getOrder().getState()))
        .containsOnly("CLOSED");
    api.postOrdersCancel(many("found-cheap"), null);
    scenario.outcomes().awaitCancelled("found-cheap");
  }

  private static BulkOrderRequest many(String... orderIds) {
    return new BulkOrderRequest().orderIds(List.of(orderIds)).reason(WHY);
  }

  private void resolveConflicts(DefaultApi api) {
    scenario.shop().paid("found-cheap", "p-2");
    scenario.shop().paid("found-of-store", "p-3");
    await("the conflicts").until(() -> api.getConflicts(null, true, 1).getNext() != null);
    String next = api.getConflicts(null, true, 1).getNext();
    assertThat(api.getConflicts(next, true, 1).getData())
        .extracting(OrderConflict::getPaymentId)
        .containsAnyOf("p-2", "p-3");
    OrderConflict ended =
        api.postConflictsResolve(
            new ResolutionRequest()
                .orderId("found-cheap")
                .paymentId("p-2")
                .resolution(ResolutionRequest.ResolutionEnum.REFUNDED)
                .reason(WHY),
            null);
    assertThat(ended.getResolvedBy()).isEqualTo("operator");
  }

  private void pauseAndResume(DefaultApi api) {
    PauseRequest request =
        new PauseRequest()
            .channel("wbe")
            .moveDeadlines(true)
            .endsAt(in(Duration.ofHours(1)))
            .reason(WHY);
    PlacedPause misspelt = api.postPauses(request, null);
    assertThat(misspelt.getCovers().getOrders()).isZero();
    assertThat(misspelt.getCovers().getExact()).isTrue();
    PlacedPause pause = api.postPauses(request.channel("web").endsAt(null), null);
    assertThat(pause.getCovers().getOrders()).isPositive();
    assertThat(api.getOrder("found-soon").getWaitsFor())
        .hasAtLeastOneElementOfType(PaymentDeadline.class)
        .hasAtLeastOneElementOfType(Paused.class);
    assertThat(api.getPausesByIdEffect(pause.getId()).getCancelled().getOrders()).isZero();
    for (PlacedPause placed : List.of(misspelt, pause)) {
      Pause ended = api.postPausesByIdEnd(placed.getId(), new Reason().reason(WHY), null);
      assertThat(ended.getEndedBy()).isEqualTo("operator");
    }
    assertThat(problem(() -> api.getPausesByIdEffect(pause.getId())).getStatus()).isEqualTo(409);
    assertThat(api.getPauses(null, 500).getData())
        .extracting(Pause::getId)
        .containsExactly(pause.getId(), misspelt.getId());
  }

  private void liftAndPermit(DefaultApi api) {
    SuspensionRows.hold(scenario.database(), 8, "x");
    Hold hold = api.getHolds(null, null).getData().get(0);
    assertThat(api.postHoldsByIdLift(hold.getId(), new Reason().reason(WHY), null).getShard())
        .isEqualTo(8);
    scenario
        .database()
        .execute(
            """
            insert into intake_stop (
              topic, began_at, seen_at, unusable, records, first_position, first_fault)
            values ('planted', now(), now(), 9, 10, 'planted-0@7', 'not JSON')
            """);
    Stop stop = api.getStoppedTopics(null, null).getData().get(0);
    Stop permitted =
        api.postStoppedTopicsByTopicPermitDeadLetters(
            stop.getTopic(), new Reason().reason(WHY), null);
    assertThat(permitted.getDeadLettersUntil()).isAfter(in(Duration.ZERO));
    scenario.database().execute("delete from intake_stop");
  }

  /** A payment without an order parks the order that is its key. */
  private void repairDeadLetters(DefaultApi api) {
    String letters = TopicNames.deadLetters(topics.paid());
    assertThat(api.getDeadLetters(null, null).getData())
        .extracting(topic -> topic.getTopic())
        .contains(letters);
    for (String key : List.of("found-soon", "found-late")) {
      byte[] withoutOrder = Shop.json(Map.of("paymentId", "p-4"));
      Shop.await(
          scenario.shop().send(new ProducerRecord<>(topics.paid(), Shop.utf8(key), withoutOrder)));
    }
    await("the dead letters")
        .until(() -> api.getDeadLettersByTopic(letters, null, null, 1).getNext() != null);
    await("the parked orders").until(() -> api.getParked(null, null).getData().size() == 2);
    assertThat(api.getParked(null, null).getData())
        .extracting(ParkedOrdersParked::getOrderId)
        .containsExactly("found-late", "found-soon");
    assertThat(api.postOrderRelease(change("found-late"), null).getOrder().getOrderId())
        .isEqualTo("found-late");

    assertThat(api.getDeadLettersByTopicGroups(letters).getLetters()).isEqualTo(2);
    DeadLetter letter =
        api.getDeadLettersByTopic(letters, null, null, null).getData().stream()
            .filter(one -> "found-soon".equals(one.getKey()))
            .findFirst()
            .orElseThrow();
    assertThat(
            api.getDeadLettersByTopicByPartitionByOffset(
                    letters, letter.getPartition(), letter.getOffset())
                .getValue())
        .contains("p-4");
    ReplayRequest repaired =
        new ReplayRequest().value("{\"orderId\":\"found-soon\",\"paymentId\":\"p-4\"}").reason(WHY);
    assertThat(
            api.postDeadLettersByTopicByPartitionByOffsetReplay(
                    letters, letter.getPartition(), letter.getOffset(), repaired, null)
                .getTo())
        .startsWith(topics.paid() + "-");
    scenario.awaitState("found-soon", "PAID");
    List<LetterResult> again =
        api.postDeadLettersReplay(
                new BulkReplayRequest()
                    .positions(
                        List.of(
                            new LetterPosition()
                                .topic(letters)
                                .partition(letter.getPartition())
                                .offset(letter.getOffset())))
                    .reason(WHY),
                null)
            .getData();
    assertThat(again)
        .extracting(result -> String.valueOf(result.getOutcome()))
        .containsExactly("UNCHANGED");
    assertThat(
            api.postEventsCheck(
                    "{\"topic\":\"%s\",\"key\":\"a\",\"payload\":\"{\\\"orderId\\\":\\\"a\\\"}\"}"
                        .formatted(topics.created()))
                .getCounts())
        .containsEntry("CREATED", 1);
  }

  private static void observe(DefaultApi api) {
    assertThat(api.getPolicies(null, null).getData())
        .extracting(Policy::getName, Policy::getTimeout)
        .containsExactly(tuple("nowhere", "PT1H"));
    assertThat(
            api.getPoliciesPreview(in(Duration.ZERO), "nowhere", "card", BigDecimal.ONE, "EUR")
                .getPolicy())
        .isEqualTo("nowhere");
    assertThat(api.getPoliciesWhatIf("PT10M", "web", "card").getTimesToPay()).hasSize(15);
    assertThat(api.getAudit("found-1", null, null).getData())
        .extracting(OperatorAction::getReason)
        .containsExactly(WHY);
    Now now =
        await("a report of the instance")
            .until(api::getOverview, overview -> !overview.getInstances().isEmpty());
    assertThat(now.getPending()).isPositive();
    assertThat(api.getForecast().getOrdersByMinute()).hasSize(60);
    assertThat(api.getLive()).startsWith("event:overview");
  }

  private static void advanceGroup(DefaultApi api) {
    Generation group = api.getGroup();
    assertThat(
            api.postGroupAdvance(
                    new AdvanceRequest().generation(group.getNumber()).reason(WHY), null)
                .getNumber())
        .isEqualTo(group.getNumber() + 1);
  }

  private static void refuseInvalidRequests(DefaultApi api) {
    Problem invalid =
        problem(
            () ->
                api.getOrders(
                    null, null, null, null, null, null, null, null, null, null, "amount", null,
                    null, 0));
    assertThat(invalid.getType()).hasToString(type("invalid-request"));
    assertThat(invalid.getErrors())
        .extracting(ProblemErrorsInner::getField)
        .containsExactlyInAnyOrder("limit", "sort");
    assertThat(problem(() -> api.postOrdersClose(many(), null)).getErrors())
        .extracting(ProblemErrorsInner::getField)
        .containsExactly("orderIds");
    assertThat(problem(() -> api.getOrder("nobody's")).getType()).hasToString(type("not-found"));
  }
}
