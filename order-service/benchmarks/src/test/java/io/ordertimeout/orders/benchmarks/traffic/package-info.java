@NullMarked
package io.ordertimeout.orders.benchmarks.traffic;

import org.jspecify.annotations.NullMarked;
