/** The console in a real browser. */
@NullMarked
package io.ordertimeout.it.console;

import org.jspecify.annotations.NullMarked;
