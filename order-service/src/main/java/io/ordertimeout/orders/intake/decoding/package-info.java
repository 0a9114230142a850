/**
 * Turns Kafka records into order events, or into a fault that names the field and the offending
 * value.
 */
@NullMarked
package io.ordertimeout.orders.intake.decoding;

import org.jspecify.annotations.NullMarked;
