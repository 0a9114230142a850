/**
 * What the tests stand on: the test environment, scenarios, a shop, and the service in this or in
 * another process.
 */
@NullMarked
package io.ordertimeout.it.support;

import org.jspecify.annotations.NullMarked;
