/** What is compared: the service, and general schedulers behind the same topics. */
@NullMarked
package io.ordertimeout.orders.benchmarks.contender;

import org.jspecify.annotations.NullMarked;
