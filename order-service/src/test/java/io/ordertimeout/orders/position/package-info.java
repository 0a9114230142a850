@NullMarked
package io.ordertimeout.orders.position;

import org.jspecify.annotations.NullMarked;
