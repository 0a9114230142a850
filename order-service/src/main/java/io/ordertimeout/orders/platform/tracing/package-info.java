/** Traces of orders, from the created record to the published cancellation. */
@NullMarked
package io.ordertimeout.orders.platform.tracing;

import org.jspecify.annotations.NullMarked;
