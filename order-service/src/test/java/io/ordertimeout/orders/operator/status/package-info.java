/** Tests of the status that instances report. */
@NullMarked
package io.ordertimeout.orders.operator.status;

import org.jspecify.annotations.NullMarked;
