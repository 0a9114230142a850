package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.platform.monitoring.StepHealth;
import org.apache.kafka.common.errors.RetriableException;

/** Thrown while what a Deserializer needs does not answer. */
public final class DeserializerOutageException extends RetriableException {

  private static final long serialVersionUID = 1L;

  DeserializerOutageException(Throwable failure) {
    super(
        "the Deserializer cannot decode at present: "
            + LogSanitizer.of(StepHealth.describe(failure)));
  }
}
