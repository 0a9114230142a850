/** Malicious and malformed input. */
@NullMarked
package io.ordertimeout.it.hostile;

import org.jspecify.annotations.NullMarked;
