package io.ordertimeout.orders.operator;

/** A change that cannot be made in the present state; repeating the request does not help. */
public final class ImpossibleChangeException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** Creates the exception with the reason and what follows from it. */
  public ImpossibleChangeException(String message) {
    super(message);
  }
}
