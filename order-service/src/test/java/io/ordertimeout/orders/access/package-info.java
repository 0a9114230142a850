@NullMarked
package io.ordertimeout.orders.access;

import org.jspecify.annotations.NullMarked;
