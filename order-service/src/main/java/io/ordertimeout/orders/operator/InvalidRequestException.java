package io.ordertimeout.orders.operator;

import java.io.Serial;
import java.util.List;

/** Parts of a request are invalid. */
public final class InvalidRequestException extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  /**
   * What is wrong with a part of a request.
   *
   * @param field the name of the parameter, or the path of the field in the body
   * @param message what is wrong with it
   */
  public record FieldError(String field, String message) {}

  private final transient List<FieldError> errors;

  /** Creates an exception with an error for each invalid part. */
  public InvalidRequestException(List<FieldError> errors) {
    super(errors.toString());
    this.errors = List.copyOf(errors);
  }

  /** Creates an exception because of one invalid part. */
  public InvalidRequestException(String field, String message) {
    this(List.of(new FieldError(field, message)));
  }

  /** Returns the errors, one for each invalid part. */
  public List<FieldError> errors() {
    return errors;
  }
}
