/** Benchmarks of the service, with everything it needs in processes of their own. */
@NullMarked
package io.ordertimeout.orders.benchmarks;

import org.jspecify.annotations.NullMarked;
