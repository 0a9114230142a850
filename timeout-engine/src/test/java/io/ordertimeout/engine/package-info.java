/** Tests of the engine. */
@NullMarked
package io.ordertimeout.engine;

import org.jspecify.annotations.NullMarked;
