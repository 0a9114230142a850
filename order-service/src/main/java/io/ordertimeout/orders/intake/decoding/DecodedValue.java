package io.ordertimeout.orders.intake.decoding;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A value, whatever its encoding.
 *
 * @param tree its content
 * @param type the full name of its schema, if it is a record of Avro
 * @param isTyped whether its producer's schema tells what its numbers mean
 */
record DecodedValue(JsonNode tree, @Nullable String type, boolean isTyped) {}
