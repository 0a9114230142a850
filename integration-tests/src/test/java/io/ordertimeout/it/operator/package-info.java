/** The HTTP API for operators. */
@NullMarked
package io.ordertimeout.it.operator;

import org.jspecify.annotations.NullMarked;
