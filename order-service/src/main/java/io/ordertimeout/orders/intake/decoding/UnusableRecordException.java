package io.ordertimeout.orders.intake.decoding;

/** A record from which no event can be had; the message says why, with which value, printably. */
final class UnusableRecordException extends Exception {

  private static final long serialVersionUID = 1L;

  UnusableRecordException(String message) {
    super(Printable.of(message), null, false, false);
  }
}
