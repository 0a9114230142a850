/** The service beside many orders. */
@NullMarked
package io.ordertimeout.it.size;

import org.jspecify.annotations.NullMarked;
