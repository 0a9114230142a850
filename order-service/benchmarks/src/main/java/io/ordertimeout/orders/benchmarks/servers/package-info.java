/** The servers of a benchmark, and what they consume. */
@NullMarked
package io.ordertimeout.orders.benchmarks.servers;

import org.jspecify.annotations.NullMarked;
