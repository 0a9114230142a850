package io.ordertimeout.orders.intake;

/** A record from which no event can be had; the message says why and with which value. */
final class UnusableRecordException extends Exception {

  private static final long serialVersionUID = 1L;

  UnusableRecordException(String message) {
    super(message, null, false, false);
  }
}
