/** The previous version of the service is replaced by this one. */
@NullMarked
package io.ordertimeout.it.upgrade;

import org.jspecify.annotations.NullMarked;
