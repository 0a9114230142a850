package io.ordertimeout.orders.suspension;

/** A pause is not placed, because decisions that it would not hold back are still running. */
public class PauseNotPlacedException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  PauseNotPlacedException(String message, Throwable cause) {
    super(message, cause);
  }
}
