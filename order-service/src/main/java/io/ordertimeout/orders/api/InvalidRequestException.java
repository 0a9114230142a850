package io.ordertimeout.orders.api;

import java.io.Serial;
import java.util.List;

/** Parts of a request are invalid. */
final class InvalidRequestException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  private final transient List<Problems.FieldError> errors;

  InvalidRequestException(List<Problems.FieldError> errors) {
    super(errors.toString());
    this.errors = List.copyOf(errors);
  }

  List<Problems.FieldError> errors() {
    return errors;
  }
}
