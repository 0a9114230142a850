/** The OpenAPI document, held to what the service does. */
@NullMarked
package io.ordertimeout.it.contract;

import org.jspecify.annotations.NullMarked;
