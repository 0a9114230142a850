package io.ordertimeout.orders.intake.decoding;

/** Thrown for a record that cannot be decoded; the printable message names the offending value. */
final class UnusableRecordException extends Exception {

  private static final long serialVersionUID = 1L;

  UnusableRecordException(String message) {
    super(LogSanitizer.of(message), null, false, false);
  }
}
