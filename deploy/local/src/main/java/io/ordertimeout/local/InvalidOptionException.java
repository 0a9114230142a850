package io.ordertimeout.local;

/** Signals an unknown option or an invalid value; the message names the option and the value. */
final class InvalidOptionException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  InvalidOptionException(String message) {
    super(message);
  }
}
