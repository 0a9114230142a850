@NullMarked
package io.ordertimeout.orders;

import org.jspecify.annotations.NullMarked;
