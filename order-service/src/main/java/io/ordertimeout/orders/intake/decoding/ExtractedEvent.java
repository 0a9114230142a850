package io.ordertimeout.orders.intake.decoding;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What a record contains, whatever its format.
 *
 * @param event the event, a JSON object
 * @param type the event's type, where the format has a place for it
 * @param isRow whether the event is a row of a table, whose ids may be numbers and whose times may
 *     be counted from 1970
 */
record ExtractedEvent(JsonNode event, @Nullable String type, boolean isRow) {}
