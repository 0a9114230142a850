package io.ordertimeout.orders.intake.decoding;

import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.header.Headers;

/** Turns the bytes of a value into a tree. Thread-safe. */
@FunctionalInterface
interface ValueDecoder {

  /**
   * Decodes a value.
   *
   * @param value its bytes, of which there is one at least
   * @throws RetriableException if it cannot be decoded at present, whatever its content
   */
  DecodedValue decode(String topic, Headers headers, byte[] value) throws UnusableRecordException;
}
