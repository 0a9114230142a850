/** Tests of the embedded servers. */
@NullMarked
package io.ordertimeout.embedded;

import org.jspecify.annotations.NullMarked;
