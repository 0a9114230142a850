/**
 * Step 1: polls the input topics, has each batch stored together with its positions, notifies the
 * wheels, and commits the offsets.
 */
@NullMarked
package io.ordertimeout.orders.intake;

import org.jspecify.annotations.NullMarked;
