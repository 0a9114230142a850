/** Tests of the values from outside. */
@NullMarked
package io.ordertimeout.orders.platform.values;

import org.jspecify.annotations.NullMarked;
