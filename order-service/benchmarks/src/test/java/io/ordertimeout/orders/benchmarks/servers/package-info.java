@NullMarked
package io.ordertimeout.orders.benchmarks.servers;

import org.jspecify.annotations.NullMarked;
