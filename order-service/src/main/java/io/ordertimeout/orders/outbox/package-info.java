/** Publishes what was decided, at least once, under a stable event id. */
@NullMarked
package io.ordertimeout.orders.outbox;

import org.jspecify.annotations.NullMarked;
