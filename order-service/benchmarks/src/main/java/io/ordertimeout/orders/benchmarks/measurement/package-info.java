/** The measurements. */
@NullMarked
package io.ordertimeout.orders.benchmarks.measurement;

import org.jspecify.annotations.NullMarked;
