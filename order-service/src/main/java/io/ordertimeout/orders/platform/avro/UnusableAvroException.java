package io.ordertimeout.orders.platform.avro;

/** Thrown for a value that is not Avro, or whose schema does not exist or is not one of Avro. */
public final class UnusableAvroException extends Exception {

  private static final long serialVersionUID = 1L;

  UnusableAvroException(String message) {
    super(message, null, false, false);
  }
}
