@NullMarked
package io.ordertimeout.orders.readback;

import org.jspecify.annotations.NullMarked;
