/** What operators see and do in a browser. */
@NullMarked
package io.ordertimeout.it.console;

import org.jspecify.annotations.NullMarked;
