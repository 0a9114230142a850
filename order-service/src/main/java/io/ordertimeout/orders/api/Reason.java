package io.ordertimeout.orders.api;

import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.Size;

/**
 * A request that needs nothing but its reason.
 *
 * @param reason why it is done; stands in the audit
 */
record Reason(@NotBlank @Size(max = Reason.LONGEST) String reason) {
  static final int LONGEST = 500;
}
