/** Tests of the local demo. */
@NullMarked
package io.ordertimeout.local;

import org.jspecify.annotations.NullMarked;
