package io.ordertimeout.orders.intake.decoding;

/** Thrown at startup for a class among the encodings that cannot be used. */
final class UnusableDeserializerException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  UnusableDeserializerException(String message, Throwable cause) {
    super(message, cause);
  }
}
