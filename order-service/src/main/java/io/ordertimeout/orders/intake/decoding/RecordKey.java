package io.ordertimeout.orders.intake.decoding;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The keys of records, which are the ids of their orders: as text or, from Kafka Connect, as JSON
 * or Avro with the id as text, as a number, or as the only column of a row.
 */
final class RecordKey {

  // A character takes at most four bytes; a schema and the name of a column may come on top.
  private static final int MAX_TEXT = 4 * EventDecoder.MAX_ORDER_ID;
  private static final int MAX_JSON = MAX_TEXT + 4_096;

  private RecordKey() {}

  /**
   * Returns the order id in a key; null if it contains none.
   *
   * @param isConnect whether the key may be JSON of Kafka Connect
   */
  static @Nullable String orderId(byte @Nullable [] key, boolean isConnect) {
    if (key == null || key.length == 0) {
      return null;
    }
    String inJson = isConnect && key.length <= MAX_JSON ? inJson(key) : null;
    return inJson == null ? asText(key) : usable(inJson);
  }

  /** Returns the order id in a decoded key; null if it contains none. */
  static @Nullable String orderId(JsonNode key) {
    String id = text(key);
    return id == null ? null : usable(id);
  }

  /** Text or a number, by itself or as the only field of an object. */
  private static @Nullable String text(JsonNode key) {
    JsonNode node = key.isObject() && key.size() == 1 ? key.iterator().next() : key;
    return node.isString() || node.isIntegralNumber() ? node.asString() : null;
  }

  private static @Nullable String inJson(byte[] key) {
    if (key[0] != '"' && key[0] != '{') {
      return null;
    }
    try {
      return text(ConnectEnvelope.payload(JsonTree.parse(key)));
    } catch (UnusableRecordException e) {
      return null;
    }
  }

  private static @Nullable String asText(byte[] key) {
    if (key.length > MAX_TEXT) {
      return null;
    }
    try {
      return usable(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(key)).toString());
    } catch (CharacterCodingException e) {
      return null;
    }
  }

  private static @Nullable String usable(String text) {
    return isUsable(text) ? text : null;
  }

  /** Whether a text can be the id of an order. */
  static boolean isUsable(String text) {
    boolean fits =
        !text.isEmpty() && text.codePointCount(0, text.length()) <= EventDecoder.MAX_ORDER_ID;
    return fits && text.codePoints().noneMatch(c -> c == 0 || (c >= 0xD800 && c <= 0xDFFF));
  }
}
