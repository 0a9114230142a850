package io.ordertimeout.local;

/** An option whose value cannot be used; the message names both. */
final class InvalidOptionException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  InvalidOptionException(String message) {
    super(message);
  }
}
