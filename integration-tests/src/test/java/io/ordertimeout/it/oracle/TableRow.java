package io.ordertimeout.it.oracle;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** An order as the table has it in the end. */
record TableRow(
    String state,
    @Nullable Instant createdAt,
    @Nullable Instant deadline,
    @Nullable Instant decidedAt,
    @Nullable String paymentId) {}
