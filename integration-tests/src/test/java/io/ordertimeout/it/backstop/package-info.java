/** Faults planted between wheel and Postgres, which nothing but the backstop can find. */
@NullMarked
package io.ordertimeout.it.backstop;

import org.jspecify.annotations.NullMarked;
