/** The contracts with producers and consumers: schemas of all events, and an AsyncAPI document. */
@NullMarked
package io.ordertimeout.orders.contract;

import org.jspecify.annotations.NullMarked;
