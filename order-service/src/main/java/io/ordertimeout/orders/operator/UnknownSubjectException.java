package io.ordertimeout.orders.operator;

/** What is asked for does not exist. */
public final class UnknownSubjectException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** Says what does not exist. */
  public UnknownSubjectException(String message) {
    super(message);
  }
}
