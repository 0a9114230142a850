@NullMarked
package io.ordertimeout.orders.benchmarks;

import org.jspecify.annotations.NullMarked;
