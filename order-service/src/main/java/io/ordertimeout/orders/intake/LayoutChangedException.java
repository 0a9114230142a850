package io.ordertimeout.orders.intake;

/** The input topics are not what they were when they were checked. */
final class LayoutChangedException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  LayoutChangedException() {
    super("the input topics have changed and are checked anew");
  }
}
