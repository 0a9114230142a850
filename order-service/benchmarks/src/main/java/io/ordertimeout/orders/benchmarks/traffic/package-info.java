/** A shop's traffic, its observation and its verdict. */
@NullMarked
package io.ordertimeout.orders.benchmarks.traffic;

import org.jspecify.annotations.NullMarked;
