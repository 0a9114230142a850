package io.ordertimeout.it.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.oracle.RowChange.PublishedDecisions;
import io.ordertimeout.it.oracle.Violation.Kind;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class RowChangeTest {

  private static final String TIME = "2026-01-01T00:00:00.5+00:00";
  private static final Instant INSTANT = Instant.parse("2026-01-01T00:00:00.5Z");
  private static final PublishedDecisions CANCELLED =
      new PublishedDecisions(RowChangeTest::isOfOrder, (orderId, time) -> false);
  private static final PublishedDecisions CLOSED =
      new PublishedDecisions((orderId, time) -> false, RowChangeTest::isOfOrder);

  private static boolean isOfOrder(String orderId, Instant time) {
    return orderId.equals("a") && time.equals(INSTANT);
  }

  @Test
  void aRowMayBeWrittenAsItIs() {
    assertAllowed(PublishedDecisions.NONE);
  }

  @Test
  void noColumnOfASettledRowMayChange() {
    for (String column : paid().keySet()) {
      if (!column.equals("state")) {
        assertForbidden(Kind.ROW_CHANGED, PublishedDecisions.NONE, column, TIME);
      }
    }
    assertForbidden(Kind.DECIDED_TWICE, PublishedDecisions.NONE, "state", "CLOSED");
  }

  @Test
  void theCreationMayCompleteARowOnce() {
    Map<String, @Nullable String> begun = paid();
    begun.put("created_at", null);
    begun.put("deadline", null);
    Map<String, @Nullable String> complete = paid();
    complete.put("policy", "TIMEOUT");
    complete.put("channel", "web");
    complete.put("amount", "3");
    complete.put("shard", "2");
    assertThat(change(begun, complete).violation(PublishedDecisions.NONE)).isEmpty();
    complete.put("payment_id", "other");
    assertThat(kind(change(begun, complete))).contains(Kind.ROW_CHANGED);
    complete.put("payment_id", "p1");
    complete.put("created_at", null);
    assertThat(kind(change(begun, complete))).contains(Kind.ROW_CHANGED);
  }

  @Test
  void theCreationMayNotMoveADeadlineThatARestoredDecisionStates() {
    Map<String, @Nullable String> restored = paid();
    restored.put("created_at", null);
    Map<String, @Nullable String> moved = paid();
    assertThat(change(restored, moved).violation(PublishedDecisions.NONE)).isEmpty();
    moved.put("deadline", "later");
    assertThat(kind(change(restored, moved))).contains(Kind.ROW_CHANGED);
  }

  @Test
  void aPublishedCancellationMayBeRestored() {
    String[] restored = restored("CANCELLED");
    assertAllowed(CANCELLED, restored);
    assertForbidden(Kind.DECIDED_TWICE, CLOSED, restored);
    assertForbidden(Kind.DECIDED_TWICE, PublishedDecisions.NONE, restored);
  }

  @Test
  void aClosingThatAPublishedConflictStatesMayBeRestored() {
    String[] restored = restored("CLOSED");
    assertAllowed(CLOSED, restored);
    assertForbidden(Kind.DECIDED_TWICE, CANCELLED, restored);
  }

  @Test
  void noOtherDecisionIsRestored() {
    assertForbidden(Kind.DECIDED_TWICE, CANCELLED, restored("PENDING"));
    String[] undecided = restored("CANCELLED");
    undecided[3] = null;
    assertForbidden(Kind.DECIDED_TWICE, CANCELLED, undecided);
  }

  @Test
  void aRestorationChangesNothingElse() {
    for (String column : new String[] {"policy", "created_at", "shard"}) {
      String[] restored = restored("CANCELLED");
      restored[4] = column;
      restored[5] = "other";
      assertForbidden(Kind.DECIDED_TWICE, CANCELLED, restored);
    }
  }

  @Test
  void aRowMayNotBeDeleted() {
    assertThat(
            new RowChange("a", "now", json(paid()), null)
                .violation(CANCELLED)
                .map(Violation::toString))
        .get()
        .asString()
        .startsWith("ROW_CHANGED: a changed at now: was deleted\n    {")
        .endsWith("}\n    deleted");
  }

  @Test
  void aViolationNamesTheColumns() {
    Map<String, @Nullable String> after = paid();
    after.put("shard", "2");
    assertThat(change(paid(), after).violation(PublishedDecisions.NONE).map(Violation::explanation))
        .contains("a changed at now: shard \"1\" -> \"2\"");
  }

  private static String[] restored(String state) {
    return new String[] {"state", state, "decided_at", TIME, "payment_id", null};
  }

  private static void assertAllowed(
      PublishedDecisions restorable, @Nullable String... changedColumns) {
    assertThat(changed(changedColumns).violation(restorable)).isEmpty();
  }

  private static void assertForbidden(
      Kind kind, PublishedDecisions restorable, @Nullable String... changedColumns) {
    assertThat(changed(changedColumns).violation(restorable).map(Violation::kind)).contains(kind);
  }

  private static RowChange changed(@Nullable String... columns) {
    Map<String, @Nullable String> after = paid();
    for (int i = 0; i < columns.length; i += 2) {
      after.put(String.valueOf(columns[i]), columns[i + 1]);
    }
    return change(paid(), after);
  }

  private static Optional<Kind> kind(RowChange change) {
    return change.violation(PublishedDecisions.NONE).map(Violation::kind);
  }

  private static RowChange change(
      Map<String, @Nullable String> before, Map<String, @Nullable String> after) {
    return new RowChange("a", "now", json(before), json(after));
  }

  private static JsonNode json(Map<String, @Nullable String> columns) {
    return JsonMapper.shared().valueToTree(columns);
  }

  private static Map<String, @Nullable String> paid() {
    Map<String, @Nullable String> columns = new LinkedHashMap<>();
    columns.put("shard", "1");
    columns.put("state", "PAID");
    columns.put("created_at", "created");
    columns.put("deadline", "deadline");
    columns.put("policy", null);
    columns.put("channel", null);
    columns.put("amount", null);
    columns.put("decided_at", "2025-12-31T23:59:59+00:00");
    columns.put("payment_id", "p1");
    return columns;
  }
}
