/** Kafka clients, the layout of the input topics, and the positions up to which they are stored. */
@NullMarked
package io.ordertimeout.orders.platform.kafka;

import org.jspecify.annotations.NullMarked;
