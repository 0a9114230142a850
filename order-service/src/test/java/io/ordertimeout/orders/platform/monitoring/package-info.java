/** Tests of the monitoring support. */
@NullMarked
package io.ordertimeout.orders.platform.monitoring;

import org.jspecify.annotations.NullMarked;
