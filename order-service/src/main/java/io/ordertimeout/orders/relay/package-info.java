/** Step 7: publishes the outbox to Kafka, at least once, under stable event ids. */
@NullMarked
package io.ordertimeout.orders.relay;

import org.jspecify.annotations.NullMarked;
