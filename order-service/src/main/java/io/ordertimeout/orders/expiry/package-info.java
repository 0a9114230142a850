/** Step 5: decides due orders once the payment watermark has passed their deadlines. */
@NullMarked
package io.ordertimeout.orders.expiry;

import org.jspecify.annotations.NullMarked;
