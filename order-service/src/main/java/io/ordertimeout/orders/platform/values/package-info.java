/**
 * What values from outside mean: times, durations and the types of Kafka Connect, read the same way
 * wherever they enter. A value of doubtful meaning is refused.
 */
@NullMarked
package io.ordertimeout.orders.platform.values;

import org.jspecify.annotations.NullMarked;
