/** The service killed, stopped and started again. */
@NullMarked
package io.ordertimeout.it.crash;

import org.jspecify.annotations.NullMarked;
