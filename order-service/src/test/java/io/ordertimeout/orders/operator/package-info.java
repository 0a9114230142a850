@NullMarked
package io.ordertimeout.orders.operator;

import org.jspecify.annotations.NullMarked;
