/** Tests of the decoding. */
@NullMarked
package io.ordertimeout.orders.intake.decoding;

import org.jspecify.annotations.NullMarked;
