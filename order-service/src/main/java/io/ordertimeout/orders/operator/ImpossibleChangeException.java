package io.ordertimeout.orders.operator;

/** What is asked for cannot be done to what is there now; asking again does not help. */
public final class ImpossibleChangeException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** Says why, and what that means. */
  public ImpossibleChangeException(String message) {
    super(message);
  }
}
