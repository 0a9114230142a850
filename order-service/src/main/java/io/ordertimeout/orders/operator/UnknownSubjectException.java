package io.ordertimeout.orders.operator;

/** The subject of a request does not exist. */
public final class UnknownSubjectException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** Creates the exception with the name of what does not exist. */
  public UnknownSubjectException(String message) {
    super(message);
  }
}
