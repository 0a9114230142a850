package io.ordertimeout.orders.platform.avro;

import org.apache.kafka.common.errors.RetriableException;

/** Thrown while the schema registry does not answer, or rejects the log-in. */
public final class SchemaRegistryUnavailableException extends RetriableException {

  private static final long serialVersionUID = 1L;

  SchemaRegistryUnavailableException(String message) {
    super(message);
  }
}
