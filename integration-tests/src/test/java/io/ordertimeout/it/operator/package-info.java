/** What operators see and do, over HTTP. */
@NullMarked
package io.ordertimeout.it.operator;

import org.jspecify.annotations.NullMarked;
