/**
 * Reads the events of the shop from Kafka and has them stored, or puts them aside as dead letters.
 */
@NullMarked
package io.ordertimeout.orders.intake;

import org.jspecify.annotations.NullMarked;
