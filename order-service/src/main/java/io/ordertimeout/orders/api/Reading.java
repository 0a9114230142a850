package io.ordertimeout.orders.api;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.transaction.annotation.Transactional;

/**
 * A request that only reads from Postgres. All of its statements together have {@link #SECONDS};
 * then Postgres ends the one that is under way. Nobody knows whether the client of a request that
 * waits for Postgres is still there, so this is what ends the work for one that is gone.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Transactional(readOnly = true, timeout = Reading.SECONDS)
@interface Reading {

  /** How long the statements of a reading may take. */
  int SECONDS = 20;
}
