package io.ordertimeout.orders.intake.decoding;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What a record contains, whatever its format.
 *
 * @param event the event, a JSON object
 * @param type the event's type, where the format has a place for it
 * @param isTyped whether a schema or the format tells that ids may be numbers, and times be counted
 *     from 1970
 * @param row where the event is a row of a table and no schema tells whether its times have a zone;
 *     null otherwise
 */
record ExtractedEvent(
    JsonNode event, @Nullable String type, boolean isTyped, @Nullable RowWithoutSchema row) {

  ExtractedEvent(JsonNode event, @Nullable String type, boolean isTyped) {
    this(event, type, isTyped, null);
  }

  /**
   * A row without a schema.
   *
   * @param insertedAt when it was inserted; null if it was not, or if nobody says when
   */
  record RowWithoutSchema(@Nullable Instant insertedAt) {}
}
