/**
 * The dead-letter topics: publishes records that cannot be used, and reads them back for operators.
 */
@NullMarked
package io.ordertimeout.orders.intake.deadletter;

import org.jspecify.annotations.NullMarked;
