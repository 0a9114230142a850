/** Console sessions, which all instances share. */
@NullMarked
package io.ordertimeout.orders.access.session;

import org.jspecify.annotations.NullMarked;
