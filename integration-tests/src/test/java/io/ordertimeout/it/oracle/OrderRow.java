package io.ordertimeout.it.oracle;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The final row of an order in the table {@code order_deadline}. */
record OrderRow(
    String state,
    @Nullable Instant createdAt,
    @Nullable Instant deadline,
    @Nullable Instant decidedAt,
    @Nullable String paymentId) {}
