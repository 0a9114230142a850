/** Health of the steps, and metrics that belong to no single step. */
@NullMarked
package io.ordertimeout.orders.platform.monitoring;

import org.jspecify.annotations.NullMarked;
