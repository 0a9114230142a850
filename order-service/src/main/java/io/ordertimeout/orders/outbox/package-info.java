/** Step 6: the events that were decided and committed but not yet acknowledged by Kafka. */
@NullMarked
package io.ordertimeout.orders.outbox;

import org.jspecify.annotations.NullMarked;
