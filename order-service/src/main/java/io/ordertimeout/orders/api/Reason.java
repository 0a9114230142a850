package io.ordertimeout.orders.api;

import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.Size;

/**
 * The body of a request for a change that needs only a reason.
 *
 * @param reason why the change is made; recorded in the audit log
 */
record Reason(@NotBlank @Size(max = Reason.MAX_LENGTH) String reason) {
  static final int MAX_LENGTH = 500;
}
