/** Checks the specification of the protocol in {@code src/test/tla} with TLC. */
@NullMarked
package io.ordertimeout.it.model;

import org.jspecify.annotations.NullMarked;
