package io.ordertimeout.orders.intake.decoding;

import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.header.Headers;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Turns the bytes of a value into a tree. Thread-safe. */
@FunctionalInterface
interface ValueDecoder {

  /**
   * Decodes a value.
   *
   * @param value its bytes, of which there is one at least
   * @param json parses what is JSON
   * @throws RetriableException if it cannot be decoded at present, whatever its content
   */
  DecodedValue decode(String topic, Headers headers, byte[] value, JsonMapper json)
      throws UnusableRecordException;

  /** Parses JSON. */
  static JsonNode json(byte[] value, JsonMapper json) throws UnusableRecordException {
    try {
      return json.readTree(value);
    } catch (JacksonException e) {
      throw new UnusableRecordException("the value is not JSON: " + e.getOriginalMessage());
    } catch (NumberFormatException e) {
      // Jackson throws it unwrapped for an exponent beyond an int.
      throw new UnusableRecordException("the value has an unusable number: " + e.getMessage());
    }
  }
}
