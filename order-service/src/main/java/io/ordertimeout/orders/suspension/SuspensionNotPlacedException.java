package io.ordertimeout.orders.suspension;

/** A suspension is not placed, because decisions that it would not hold back are still running. */
public class SuspensionNotPlacedException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  SuspensionNotPlacedException(String message, Throwable cause) {
    super(message, cause);
  }
}
